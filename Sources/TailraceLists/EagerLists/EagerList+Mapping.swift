// Closures run in the caller's isolation. The asynchronous kind is disfavored, so that in an
// asynchronous function `list.map(f)` needs no `await` if `f` is plain.
extension EagerList {
  /// Returns the results of a closure for each element.
  ///
  /// ```swift
  /// EagerList(1...3).map { $0 * 2 }   // [2, 4, 6]
  /// ```
  // Not `@_CheckedAlone`: it has one plain kind, so its closure can be solved with the chain, which needs the
  // result: a `reduce(0, +)` behind a map of doubles takes a two-hundredth of the attempts.
  @_alwaysEmitIntoClient
  public func map<T, Failure: Error>(_ transform: (Element) throws(Failure) -> T)
    throws(Failure) -> EagerList<T>
  {
    EagerList<T>(try slice.map(transform))
  }

  /// Returns the results of an asynchronous closure for each element, one after the other.
  @_alwaysEmitIntoClient @_disfavoredOverload
  nonisolated(nonsending) public func map<T, Failure: Error>(
    @_CheckedAlone<T> _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> T
  ) async throws(Failure) -> EagerList<T> {
    var results: [T] = []
    results.reserveCapacity(count)
    for element in self { results.append(try await transform(element)) }
    return EagerList<T>(results)
  }

  /// Returns the results of a closure that are not `nil`.
  ///
  /// ```swift
  /// EagerList(["1", "x", "3"]).compactMap { Int($0) }   // [1, 3]
  /// ```
  @_alwaysEmitIntoClient
  public func compactMap<T, Failure: Error>(
    @_CheckedAlone<T?> _ transform: (Element) throws(Failure) -> T?
  ) throws(Failure) -> EagerList<T> {
    var results: [T] = []
    for element in self {
      if let result = try transform(element) { results.append(result) }
    }
    return EagerList<T>(results)
  }

  /// Returns the results of an asynchronous closure that are not `nil`.
  @_alwaysEmitIntoClient @_disfavoredOverload
  nonisolated(nonsending) public func compactMap<T, Failure: Error>(
    @_CheckedAlone<T?> _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> T?
  ) async throws(Failure) -> EagerList<T> {
    var results: [T] = []
    for element in self {
      if let result = try await transform(element) { results.append(result) }
    }
    return EagerList<T>(results)
  }

  /// The elements that satisfy a predicate.
  ///
  /// ```swift
  /// EagerList(1...6).filter { $0 % 2 == 0 }   // [2, 4, 6]
  /// ```
  // Exactly as generic as the standard library's, which gives an array and would otherwise be
  // preferred.
  @_alwaysEmitIntoClient
  public func filter(
    @_CheckedAlone<Bool> _ isIncluded: (Element) throws -> Bool
  ) rethrows -> EagerList {
    EagerList(try slice.filter(isIncluded))
  }

  /// Returns the elements that satisfy an asynchronous predicate.
  @_alwaysEmitIntoClient @_disfavoredOverload
  nonisolated(nonsending) public func filter<Failure: Error>(
    @_CheckedAlone<Bool> _ isIncluded:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
    var results: [Element] = []
    for element in self where try await isIncluded(element) { results.append(element) }
    return EagerList(results)
  }

  /// Returns the elements of the sequences that a closure makes from each element.
  ///
  /// ```swift
  /// EagerList([1, 2]).flatMap { [$0, $0] }   // [1, 1, 2, 2]
  /// ```
  ///
  /// Replaces `-flattenMap:`.
  @_alwaysEmitIntoClient
  public func flatMap<S: Sequence, Failure: Error>(
    @_CheckedAlone<S> _ transform: (Element) throws(Failure) -> S
  ) throws(Failure) -> EagerList<S.Element> {
    var results: [S.Element] = []
    for element in self { results.append(contentsOf: try transform(element)) }
    return EagerList<S.Element>(results)
  }

  /// Returns the elements of the sequences that an asynchronous closure makes from each element.
  @_alwaysEmitIntoClient @_disfavoredOverload
  nonisolated(nonsending) public func flatMap<S: Sequence, Failure: Error>(
    @_CheckedAlone<S> _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> S
  ) async throws(Failure) -> EagerList<S.Element> {
    var results: [S.Element] = []
    for element in self { results.append(contentsOf: try await transform(element)) }
    return EagerList<S.Element>(results)
  }

  /// Returns the elements of the lists that a closure makes from each element, until it stops.
  ///
  /// Setting `stop` ends the result after the whole list that is returned with it. Returning `nil`
  /// ends it at once. The closure does not run again after either.
  ///
  /// ```swift
  /// let list = EagerList(1...9).bind { number, stop in
  ///   stop = number == 2
  ///   return [number, number]
  /// }
  /// list   // [1, 1, 2, 2]
  /// ```
  ///
  /// Replaces `-bind:`.
  @_alwaysEmitIntoClient
  public func bind<T, Failure: Error>(
    _ next: (Element, inout Bool) throws(Failure) -> EagerList<T>?
  ) throws(Failure) -> EagerList<T> {
    var results: [T] = []
    var stop = false
    for element in self {
      guard let list = try next(element, &stop) else { break }
      results.append(contentsOf: list)
      if stop { break }
    }
    return EagerList<T>(results)
  }
}
