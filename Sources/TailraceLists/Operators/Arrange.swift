// Operators that reorder all elements.
extension LazyList {
  /// Returns all elements in order, the least one first.
  ///
  /// ```swift
  /// await LazyList([3, 1, 2]).sorted()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: exhaustive.
  /// - Complexity: O(*n* log *n*).
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func sorted() async throws(Failure) -> [Element]
  where Element: Comparable {
    try await array().sorted()
  }

  /// Returns all elements in the order of a predicate.
  ///
  /// ```swift
  /// await LazyList([3, 1, 2]).sorted { $0 > $1 }   // [3, 2, 1]
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func sorted(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> [Element] {
    try await array().sorted(by: areInIncreasingOrder)
  }

  /// Returns all elements in the order of a throwing predicate.
  @_alwaysEmitIntoClient @_disfavoredOverload
  nonisolated(nonsending) public consuming func sorted(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) throws -> Bool
  ) async throws -> [Element] {
    try await array().sorted(by: areInIncreasingOrder)
  }

  /// Returns all elements, grouped by the results of a closure.
  ///
  /// ```swift
  /// await LazyList(["ada", "bob", "al"]).grouped(by: \.first)["a"]   // ["ada", "al"]
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func grouped<Key: Hashable>(
    @_CheckedAlone<Key> by key: (Element) -> Key
  ) async throws(Failure) -> [Key: [Element]] {
    try await reduce(into: [Key: [Element]]()) { $0[key($1), default: []].append($1) }
  }

  /// Returns all elements, grouped by the results of a throwing or asynchronous closure.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func grouped<Key: Hashable & Sendable>(
    @_CheckedAlone<Key> by key: (Element) async throws -> Key
  ) async throws -> [Key: [Element]] {
    try await reduce(into: [Key: [Element]]()) { $0[try await key($1), default: []].append($1) }
  }
}
