// Closures have four kinds, and run in the caller's isolation. The asynchronous kind is disfavored,
// so that in an asynchronous function `list.map(f)` needs no `await` if `f` is plain. Only a key
// path needs one there, because the compiler prefers to make it an asynchronous closure.
extension EagerList {
  /// Returns the results of a closure for each element.
  ///
  /// ```swift
  /// EagerList(1...3).map { $0 * 2 }   // [2, 4, 6]
  /// ```
  @inlinable
  public func map<T, Failure: Error>(@_CheckedAlone<T> _ transform: (Element) throws(Failure) -> T)
    throws(Failure) -> EagerList<T>
  {
    EagerList<T>(try slice.map(transform))
  }

  /// Returns the results of an asynchronous closure for each element, one after the other.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func map<T, Failure: Error>(
    @_CheckedAlone<T> _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> T
  ) async throws(Failure) -> EagerList<T> {
    try await mapping(transform)
  }

  @inlinable
  nonisolated(nonsending) func mapping<T, Failure: Error>(
    _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> T
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
  @inlinable
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
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func compactMap<T, Failure: Error>(
    @_CheckedAlone<T?> _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> T?
  ) async throws(Failure) -> EagerList<T> {
    try await compactMapping(transform)
  }

  @inlinable
  nonisolated(nonsending) func compactMapping<T, Failure: Error>(
    _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> T?
  ) async throws(Failure) -> EagerList<T> {
    var results: [T] = []
    for element in self {
      if let result = try await transform(element) { results.append(result) }
    }
    return EagerList<T>(results)
  }

  /// Returns the elements of the sequences that a closure makes from each element.
  ///
  /// ```swift
  /// EagerList([1, 2]).flatMap { [$0, $0] }   // [1, 1, 2, 2]
  /// ```
  ///
  /// Replaces `-flattenMap:`.
  @inlinable
  public func flatMap<S: Sequence, Failure: Error>(
    @_CheckedAlone<S> _ transform: (Element) throws(Failure) -> S
  ) throws(Failure) -> EagerList<S.Element> {
    var results: [S.Element] = []
    for element in self { results.append(contentsOf: try transform(element)) }
    return EagerList<S.Element>(results)
  }

  /// Returns the elements of the sequences that an asynchronous closure makes from each element.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func flatMap<S: Sequence, Failure: Error>(
    @_CheckedAlone<S> _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> S
  ) async throws(Failure) -> EagerList<S.Element> {
    try await flatMapping(transform)
  }

  @inlinable
  nonisolated(nonsending) func flatMapping<S: Sequence, Failure: Error>(
    _ transform: nonisolated(nonsending) (Element) async throws(Failure) -> S
  ) async throws(Failure) -> EagerList<S.Element> {
    var results: [S.Element] = []
    for element in self { results.append(contentsOf: try await transform(element)) }
    return EagerList<S.Element>(results)
  }
}
