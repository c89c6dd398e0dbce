extension LazyList {
  /// Returns this list, and calls a closure with each element.
  ///
  /// ```swift
  /// let pages = loaded.onEach { page in log("page \(page.number)") }
  /// ```
  ///
  /// The closure is called once for each element, when the returned list computes it, not when it
  /// is read again.
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `-doNext:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func onEach(
    _ action: @escaping @Sendable (Element) -> Void
  ) -> LazyList {
    let source = Owned(Cursor(self))
    return LazyList(
      upstream: source,
      producer: { (demand, sink) in
        source.state.push(demand) { element in
          action(element)
          return sink(element)
        }
      })
  }

  /// Returns this list, and calls a throwing or asynchronous closure with each element. Its error
  /// replaces the element.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func onEach(
    _ action: @escaping @Sendable (Element) async throws -> Void
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(()) { (_, element) in
      try await action(element)
      return .element(element)
    }
  }
}
