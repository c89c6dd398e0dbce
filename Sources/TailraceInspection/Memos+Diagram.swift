public import TailraceMemos

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
    // As many as are drawn, and one more; a copy of the table would make the next event copy it, too.
    let portraits = portraits(atMost: Sketch.limit + 1)
    var sketch = Sketch()
    let layer = sketch.layer("Memos")
    var nodes: [Int: Int] = [:]
    for portrait in portraits where !sketch.isCut {
      let state = portrait.state.isEmpty ? "" : "\n\(portrait.state)"
      nodes[portrait.place] = sketch.node(String(reflecting: portrait.key) + state, in: layer)
    }
    for portrait in portraits {
      guard let node = nodes[portrait.place] else { continue }
      for input in portrait.inputs { sketch.connect(nodes[input], node) }
    }
    return sketch.mermaid
  }
}
