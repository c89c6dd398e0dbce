// A map whose closure may fail temporarily. With `retryingFailures` a failed attempt is not remembered:
// the next demand calls the closure again, with the same element. Steps before it never run again.
// Other operators stand behind such a map: `map(retryingFailures: true) { … }.joined()`.

extension LazyList {
  /// Returns the results of a throwing closure for each element; the next request repeats a failed call.
  ///
  /// ```swift
  /// let pages = urls.map(retryingFailures: true) { url in try await load(url) }
  /// try await pages.element(at: 3)   // throws: page 3 was not there
  /// try await pages.element(at: 3)   // "page 3"; loaded again, and no other
  /// ```
  ///
  /// - Laziness: stepwise.
  /// - Failure: given to all waiting readers; with `retryingFailures`, not kept.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws -> T
  ) -> LazyList<T, any Error> {
    widened().transform((), retryingFailures: retryingFailures) { .element(try transform($1)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element; the next request
  /// repeats a failed call.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    retryingFailures: Bool,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().transformInTask((), retryingFailures: retryingFailures) {
      .element(try await transform($1))
    }
  }
}
