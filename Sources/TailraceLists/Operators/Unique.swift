extension LazyList {
  /// Returns the elements that are not `nil`.
  ///
  /// ```swift
  /// await LazyList([1, nil, 3]).compacted().array()   // [1, 3]
  /// ```
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func compacted<Wrapped: Sendable>() -> LazyList<Wrapped, Failure>
  where Element == Wrapped? {
    transform(()) { (_, element) throws(Failure) in Step(unlessNil: element) }
  }

  /// Returns the elements that do not equal an earlier one.
  ///
  /// ```swift
  /// await LazyList([3, 1, 3, 2, 1]).uniqued().array()   // [3, 1, 2]
  /// ```
  /// ![Each element when it comes for the first time.](marbles-uniqued)
  ///
  /// - Laziness: searching.
  /// - Complexity: retains the elements that it has given until the list has ended.
  @_alwaysEmitIntoClient
  public consuming func uniqued() -> LazyList where Element: Hashable { uniqued { $0 } }

  /// Returns the elements for which a closure gives a result that no earlier one gave.
  ///
  /// ```swift
  /// await LazyList(["ada", "bob", "alan"]).uniqued(on: \.first).array()
  /// // ["ada", "bob"]
  /// ```
  ///
  /// - Laziness: searching.
  /// - Complexity: retains the closure's results until the list has ended.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func uniqued<Subject: Hashable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) -> Subject
  ) -> LazyList {
    transform(Set<Subject>()) { $0.insert(subject($1)).inserted ? .element($1) : .skip }
  }

  /// Returns the elements for which a throwing or asynchronous closure gives a result that no
  /// earlier one gave.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func uniqued<Subject: Hashable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async throws -> Subject
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(Set<Subject>()) {
      try await $0.insert(subject($1)).inserted ? .element($1) : .skip
    }
  }
}
