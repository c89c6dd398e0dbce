extension LazyList {
  /// Returns a picture of what computes this list, as the text of a Mermaid flowchart.
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
  /// A frame is a list that remembers its elements, with its name, how many it has evaluated, and whether
  /// it has ended, failed, or is computing right now. In it are the stages that an element passes on the
  /// way there. A list that is read from several sides is drawn once. See <doc:LookingAtAList>.
  ///
  /// - Laziness: demands nothing, and runs no closure but the `description` of a failure. What somebody
  ///   is computing just now cannot be looked at: it is drawn as `computing`, without what lies behind it.
  /// - Complexity: O(*segments*) for each list in the picture, of which 400 stages are drawn at most.
  public func diagram() -> String { Sketch(of: self).mermaid }
}
