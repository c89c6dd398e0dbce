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
    var portraits: [Portrait<Key>] = []
    var place = 0
    // In slices: other callers come in between. Inputs are counted outside of the lock.
    while portraits.count < count, let slice = store.table.withLock({ $0.portraits(from: place) }) {
      for (place, key, state, inputs) in slice {
        let places = inputs.filter { !$0.sawNothing }.map { Int($0.place) }
        portraits.append(Portrait(place: place, key: key, state: state, inputs: places))
      }
      place += RecursiveTable<Key, Value, Failure>.slice
    }
    return Array(portraits.prefix(count))
  }
}

extension RecursiveTable {
  typealias Seen = (
    place: Int, key: Key, state: String, inputs: ContiguousArray<DependencyGraph.Input>
  )

  /// A slice of the keys; `nil` behind the last one.
  func portraits(from place: Int) -> [Seen]? {
    base.slots.places(from: place, atMost: Self.slice)?.compactMap { place in
      base.slots.slots[place].key.map { (place, $0, word(for: place), graph.inputs(of: place)) }
    }
  }

  /// The state of a key, unless it has a value.
  private func word(for place: Int) -> String {
    let isWithdrawn = base.ages.isWithdrawn(place)
    return switch base.slots[place] {
    case .none: "removed"
    case .computing: "computing"
    case .value: isWithdrawn ? "out of date" : ""
    case .failure: "failed"
    case .renewing: isWithdrawn ? "computing" : "computing again"
    }
  }
}
