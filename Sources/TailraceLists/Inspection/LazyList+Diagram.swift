extension LazyList {
  /// Returns a picture of how this list is computed, as the text of a Mermaid flowchart.
  ///
  /// ```swift
  /// let list = LazyList(1...).map { $0 * $0 }.filter { $0 % 2 == 1 }.named("odd squares")
  /// _ = await list.prefix(2).array()
  /// print(list.diagram())
  /// // flowchart TD
  /// //   subgraph list0["odd squares<br/>2 evaluated, unresolved"]
  /// //     stage0["filter"]
  /// //     stage1["map"]
  /// //     stage2["LazyList"]
  /// //   end
  /// //   stage1 --> stage0
  /// //   stage2 --> stage1
  /// ```
  ///
  /// A frame is a memoized list, with its name, its number of evaluated elements, and whether it
  /// has ended, has failed, or is being computed. It contains the stages that an element passes. A
  /// list with several readers is drawn once. See <doc:LookingAtAList>.
  ///
  /// - Laziness: demands nothing, and runs no closure except the `description` of a failure. A
  ///   list that is being computed cannot be inspected: it is drawn as `computing`, without its
  ///   upstream.
  /// - Complexity: O(*segments*) for each list in the picture. At most 400 stages are drawn.
  public func diagram() -> String { Sketch(of: self).mermaid }
}
