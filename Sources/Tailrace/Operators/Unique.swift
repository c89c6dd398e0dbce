extension LazyList {
  /// Returns the elements that are not `nil`.
  ///
  /// ```swift
  /// await LazyList([1, nil, 3]).compacted().array()   // [1, 3]
  /// ```
  ///
  /// - Laziness: searching.
  @inlinable @inline(__always)
  public consuming func compacted<Wrapped: Sendable>() -> LazyList<Wrapped, Failure>
  where Element == Wrapped? {
    transform(()) { (_, element) throws(Failure) in Verdict(element) }
  }

  /// Returns the elements without those that equal an earlier one.
  ///
  /// ```swift
  /// await LazyList([3, 1, 3, 2, 1]).uniqued().array()   // [3, 1, 2]
  /// ```
  /// ![Each element when it comes for the first time.](marbles-uniqued)
  ///
  /// - Laziness: searching.
  /// - Complexity: keeps the elements that it has given, for as long as there may be more.
  @inlinable
  public consuming func uniqued() -> LazyList where Element: Hashable { uniqued { $0 } }

  /// Returns the elements without those for which a closure gives what it gave for an earlier one.
  ///
  /// ```swift
  /// await LazyList(["ada", "bob", "alan"]).uniqued(on: \.first).array()   // ["ada", "bob"]
  /// ```
  ///
  /// - Laziness: searching.
  /// - Complexity: keeps what the closure gave, for as long as there may be more elements.
  @inlinable
  public consuming func uniqued<Subject: Hashable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) -> Subject
  ) -> LazyList {
    transform([], by: Verdict.unique) { subject($1) }
  }

  /// Returns the elements without those for which a throwing closure gives what it gave for an
  /// earlier one.
  @inlinable @_disfavoredOverload
  public consuming func uniqued<Subject: Hashable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) throws -> Subject
  ) -> LazyList<Element, any Error> {
    widened().transform([], by: Verdict.unique) { try subject($1) }
  }

  /// Returns the elements without those for which an asynchronous closure gives what it gave for an
  /// earlier one.
  @inlinable
  public consuming func uniqued<Subject: Hashable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async -> Subject
  ) -> LazyList {
    transformInTask([], by: Verdict.unique) { await subject($1) }
  }

  /// Returns the elements without those for which an asynchronous throwing closure gives what it
  /// gave for an earlier one.
  @inlinable
  public consuming func uniqued<Subject: Hashable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async throws -> Subject
  ) -> LazyList<Element, any Error> {
    widened().transformInTask([], by: Verdict.unique) { try await subject($1) }
  }
}

extension Verdict {
  /// The rule of `uniqued`.
  @inlinable
  static func unique<Subject>(
    _ seen: inout Set<Subject>, _ element: Output, _ subject: Subject
  ) -> Verdict {
    seen.insert(subject).inserted ? .emit(element) : .skip
  }
}
