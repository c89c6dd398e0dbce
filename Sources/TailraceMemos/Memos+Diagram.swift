import TailraceLists

extension Memos {
  /// Returns a picture of the keys, as the text of a Mermaid flowchart. In recursive memos, an arrow
  /// leads from each key to those that were computed from it.
  ///
  /// ```swift
  /// let sums = Memos<Int, Int, Never>.recursive { sums, number async in
  ///   number == 0 ? 0 : await sums.value(for: number - 1) + number
  /// }
  /// _ = await sums.value(for: 1)
  /// print(sums.diagram())
  /// // flowchart TD
  /// //   subgraph list0["Memos"]
  /// //     stage0["1"]
  /// //     stage1["0"]
  /// //   end
  /// //   stage1 --> stage0
  /// ```
  ///
  /// A key says so if its value is being computed, failed, may be out of date, or was removed.
  ///
  /// - Laziness: computes nothing, and runs no closure except the `debugDescription` of the keys. At
  ///   most 400 keys are drawn.
  public func diagram() -> String {
    // The copy is looked at outside of the lock.
    let table = store.table.withLock { $0 }
    var sketch = Sketch()
    let layer = sketch.layer("Memos")
    var nodes: [Int: Int] = [:]
    for (place, slot) in table.slots.slots.enumerated() where !sketch.isCut {
      guard let key = slot.key else { continue }
      let state = table.word(for: place)
      let text = String(reflecting: key) + (state.isEmpty ? "" : "\n\(state)")
      nodes[place] = sketch.node(text, in: layer)
    }
    for (place, node) in nodes.sorted(by: { $0.key < $1.key }) {
      for input in table.graph?.inputs(of: place) ?? [] { sketch.connect(nodes[Int(input)], node) }
    }
    return sketch.mermaid
  }
}

extension MemoTable {
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
