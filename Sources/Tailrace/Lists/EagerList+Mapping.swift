// Closures come in four kinds, and run in the caller's isolation. An asynchronous kind is disfavored,
// so that in an asynchronous function `list.map(f)` needs no `await` where `f` is plain. Only a key path
// needs one there, because the compiler prefers to make an asynchronous closure of it.
extension EagerList {
  /// The results of a closure for each element.
  ///
  /// ```swift
  /// EagerList(1...3).map { $0 * 2 }   // [2, 4, 6]
  /// ```
  @inlinable
  public func map<T>(_ transform: (Element) -> T) -> EagerList<T> {
    EagerList<T>(slice.map(transform))
  }

  /// The results of a throwing closure for each element.
  @inlinable
  public func map<T>(_ transform: (Element) throws -> T) throws -> EagerList<T> {
    EagerList<T>(try slice.map(transform))
  }

  /// The results of an asynchronous closure for each element, one after the other.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func map<T>(
    _ transform: nonisolated(nonsending) (Element) async -> T
  ) async -> EagerList<T> {
    await mapping(transform)
  }

  /// The results of an asynchronous throwing closure for each element, one after the other.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func map<T>(
    _ transform: nonisolated(nonsending) (Element) async throws -> T
  ) async throws -> EagerList<T> {
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

  /// The results of a closure that are not `nil`.
  ///
  /// ```swift
  /// EagerList(["1", "x", "3"]).compactMap { Int($0) }   // [1, 3]
  /// ```
  @inlinable
  public func compactMap<T>(_ transform: (Element) -> T?) -> EagerList<T> {
    EagerList<T>(slice.compactMap(transform))
  }

  /// The results of a throwing closure that are not `nil`.
  @inlinable
  public func compactMap<T>(_ transform: (Element) throws -> T?) throws -> EagerList<T> {
    EagerList<T>(try slice.compactMap(transform))
  }

  /// The results of an asynchronous closure that are not `nil`.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func compactMap<T>(
    _ transform: nonisolated(nonsending) (Element) async -> T?
  ) async -> EagerList<T> {
    await compactMapping(transform)
  }

  /// The results of an asynchronous throwing closure that are not `nil`.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func compactMap<T>(
    _ transform: nonisolated(nonsending) (Element) async throws -> T?
  ) async throws -> EagerList<T> {
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

  /// The elements of the sequences that a closure makes of each element.
  ///
  /// ```swift
  /// EagerList([1, 2]).flatMap { [$0, $0] }   // [1, 1, 2, 2]
  /// ```
  ///
  /// Replaces `-flattenMap:`.
  @inlinable
  public func flatMap<S: Sequence>(_ transform: (Element) -> S) -> EagerList<S.Element> {
    EagerList<S.Element>(slice.flatMap(transform))
  }

  /// The elements of the sequences that a throwing closure makes of each element.
  @inlinable
  public func flatMap<S: Sequence>(
    _ transform: (Element) throws -> S
  ) throws -> EagerList<S.Element> {
    EagerList<S.Element>(try slice.flatMap(transform))
  }

  /// The elements of the sequences that an asynchronous closure makes of each element.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func flatMap<S: Sequence>(
    _ transform: nonisolated(nonsending) (Element) async -> S
  ) async -> EagerList<S.Element> {
    await flatMapping(transform)
  }

  /// The elements of the sequences that an asynchronous throwing closure makes of each element.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func flatMap<S: Sequence>(
    _ transform: nonisolated(nonsending) (Element) async throws -> S
  ) async throws -> EagerList<S.Element> {
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
