// Operators whose closures may fail temporarily. With `retryingFailures` a failed attempt is not
// remembered: the next demand calls the closure again, with the same element. Steps before it never
// run again. To retry a predicate, put a `map(retryingFailures:)` before the operator.

// MARK: Each element by itself

extension LazyList {
  /// Returns the results of a throwing closure for each element; the next demand repeats a failed call.
  ///
  /// ```swift
  /// let pages = urls.map(retryingFailures: true) { url in try await load(url) }
  /// try await pages.element(at: 3)   // throws: page 3 was not there
  /// try await pages.element(at: 3)   // "page 3"; loaded again, and no other
  /// ```
  ///
  /// - Laziness: stepwise.
  /// - Failure: given to all waiting readers; with `retryingFailures`, not remembered.
  @inlinable @inline(__always)
  public consuming func map<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws -> T
  ) -> LazyList<T, any Error> {
    widened().transform((), retryingFailures: retryingFailures) { .element(try transform($1)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element; the next demand
  /// repeats a failed call.
  @inlinable @inline(__always)
  public consuming func map<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().transformInTask((), retryingFailures: retryingFailures) {
      .element(try await transform($1))
    }
  }

  /// Returns the results of a throwing closure that are not `nil`; the next demand repeats a failed call.
  ///
  /// - Laziness: searching.
  @inlinable @inline(__always)
  public consuming func compactMap<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) throws -> T?
  ) -> LazyList<T, any Error> {
    widened().transform((), retryingFailures: retryingFailures) {
      Step(unlessNil: try transform($1))
    }
  }

  /// Returns the results of an asynchronous throwing closure that are not `nil`; the next demand
  /// repeats a failed call.
  @inlinable @inline(__always)
  public consuming func compactMap<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async throws -> T?
  ) -> LazyList<T, any Error> {
    widened().transformInTask((), retryingFailures: retryingFailures) {
      Step(unlessNil: try await transform($1))
    }
  }
}

// MARK: Lists in lists

extension LazyList {
  /// Returns the elements of the lists that a throwing closure makes from each element; the
  /// next demand repeats a failed call.
  ///
  /// - Laziness: searching, through empty lists.
  /// - Failure: a list that the closure gives remembers or retries its own failures.
  @inlinable
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    retryingFailures: Bool,
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) throws -> LazyList<T, InnerFailure>
  ) -> LazyList<T, any Error> {
    map(retryingFailures: retryingFailures, transform).flattened()
  }

  /// Returns the elements of the lists that an asynchronous throwing closure makes from each
  /// element; the next demand repeats a failed call.
  @inlinable
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    retryingFailures: Bool,
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) async throws -> LazyList<T, InnerFailure>
  ) -> LazyList<T, any Error> {
    map(retryingFailures: retryingFailures, transform).flattened()
  }

  /// Returns the elements of the sequences that a throwing closure makes from each element; the
  /// next demand repeats a failed call.
  ///
  /// - Laziness: searching, through empty sequences.
  @inlinable
  public consuming func flatMap<S: Sequence & Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) throws -> S
  ) -> LazyList<S.Element, any Error> {
    map(retryingFailures: retryingFailures, transform).joined()
  }

  /// Returns the elements of the sequences that an asynchronous throwing closure makes from each
  /// element; the next demand repeats a failed call.
  @inlinable
  public consuming func flatMap<S: Sequence & Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) async throws -> S
  ) -> LazyList<S.Element, any Error> {
    map(retryingFailures: retryingFailures, transform).joined()
  }
}
