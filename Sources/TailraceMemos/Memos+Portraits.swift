// What a diagram sees of memos: it is read, and nothing is computed.

/// A key, as it is drawn.
package struct Portrait<Key: Sendable>: Sendable {
  package let place: Int
  package let key: Key
  /// Empty for a key with a value.
  package let state: String
  /// The places of the keys whose values its own was computed from.
  package let inputs: [Int]
}

extension Memos {
  package func portraits(atMost count: Int) -> [Portrait<Key>] {
    store.table.withLock { $0.portraits(atMost: count) }
  }
}

extension MemoTable {
  func portraits(atMost count: Int) -> [Portrait<Key>] {
    var portraits: [Portrait<Key>] = []
    for (place, slot) in slots.slots.enumerated() {
      guard let key = slot.key else { continue }
      portraits.append(
        Portrait(
          place: place, key: key, state: word(for: place), inputs: graph?.inputs(of: place) ?? []))
      if portraits.count == count { break }
    }
    return portraits
  }

  /// The state of a key, unless it has a value.
  func word(for place: Int) -> String {
    switch slots[place] {
    case .none: "removed"
    case .computing, .replacing: "computing"
    case .value: graph?.freshness(of: place) == .fresh || graph == nil ? "" : "out of date"
    case .failure: "failed"
    case .renewing: "computing again"
    case .stale: "out of date"
    }
  }
}
