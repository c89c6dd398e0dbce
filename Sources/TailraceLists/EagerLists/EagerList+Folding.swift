// Asynchronous folds and searches: one call after the other, in the caller's isolation. Those with
// plain and throwing closures are the standard library's.
extension EagerList {
  /// The sum of the elements, or zero if there are none.
  ///
  /// ```swift
  /// EagerList(1...4).sum()   // 10
  /// ```
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public func sum() -> Element where Element: AdditiveArithmetic { slice.reduce(.zero, +) }

  /// Returns the elements combined, from the front on, by an asynchronous closure.
  ///
  /// ```swift
  /// await EagerList(1...3).reduce(0) { await sum($0, $1) }   // 6
  /// ```
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func reduce<Result, Failure: Error>(
    _ initial: Result,
    @_CheckedAlone<Result> _ combine:
      nonisolated(nonsending) (Result, Element) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    var result = initial
    for element in self { result = try await combine(result, element) }
    return result
  }

  /// Returns a value updated with each element, from the front on, by an asynchronous closure.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func reduce<Result, Failure: Error>(
    into initial: Result,
    _ update: nonisolated(nonsending) (inout Result, Element) async throws(Failure) -> Void
  ) async throws(Failure) -> Result {
    var result = initial
    for element in self { try await update(&result, element) }
    return result
  }

  /// Runs an asynchronous closure for each element.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func forEach<Failure: Error>(
    _ body: nonisolated(nonsending) (Element) async throws(Failure) -> Void
  ) async throws(Failure) {
    for element in self { try await body(element) }
  }

  /// Returns the elements combined from the end on: the closure gets an element and the fold of all
  /// elements after it.
  ///
  /// ```swift
  /// EagerList(1...3).foldRight(0) { first, rest in first - rest }   // 2
  /// ```
  ///
  /// It is a loop, without a frame per element.
  ///
  /// Replaces `-foldRightWithStart:reduce:`.
  @inlinable
  public func foldRight<Result, Failure: Error>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Element, Result) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var result = initial
    for element in reversed() { result = try combine(element, result) }
    return result
  }

  /// Returns the elements combined from the end on by an asynchronous closure.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func foldRight<Result, Failure: Error>(
    _ initial: Result,
    @_CheckedAlone<Result> _ combine:
      nonisolated(nonsending) (Element, Result) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    var result = initial
    for element in reversed() { result = try await combine(element, result) }
    return result
  }
}
