// The asynchronous searches; those with plain and throwing closures are the standard library's.
extension EagerList {
  /// Returns the first element that satisfies an asynchronous predicate, `nil` if there is none.
  ///
  /// ```swift
  /// await EagerList(1...3).first { await isEven($0) }   // 2
  /// ```
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func first<Failure: Error>(
    @_CheckedAlone<Bool> where predicate:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Element? {
    for element in self where try await predicate(element) { return element }
    return nil
  }

  /// Returns whether an element satisfies an asynchronous predicate.
  ///
  /// ```swift
  /// await EagerList(1...3).contains { await isEven($0) }   // true
  /// ```
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func contains<Failure: Error>(
    @_CheckedAlone<Bool> where predicate:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Bool {
    for element in self where try await predicate(element) { return true }
    return false
  }

  /// Returns whether all elements satisfy an asynchronous predicate.
  ///
  /// ```swift
  /// await EagerList(1...3).allSatisfy { await isEven($0) }   // false
  /// ```
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func allSatisfy<Failure: Error>(
    @_CheckedAlone<Bool> _ predicate:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Bool {
    for element in self {
      guard try await predicate(element) else { return false }
    }
    return true
  }

  /// Returns the least element by an asynchronous order, the first of equals; `nil` if there is
  /// none.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func min<Failure: Error>(
    @_CheckedAlone<Bool> by areInIncreasingOrder:
      nonisolated(nonsending) (Element, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Element? {
    try await extreme { (result, element) async throws(Failure) in
      try await areInIncreasingOrder(element, result)
    }
  }

  /// Returns the greatest element by an asynchronous order, the first of equals; `nil` if there is
  /// none.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func max<Failure: Error>(
    @_CheckedAlone<Bool> by areInIncreasingOrder:
      nonisolated(nonsending) (Element, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Element? {
    try await extreme(areInIncreasingOrder)
  }

  /// The element that no later one replaces.
  @inlinable
  nonisolated(nonsending) func extreme<Failure: Error>(
    _ isReplaced: nonisolated(nonsending) (Element, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Element? {
    guard let (head, rest) = uncons() else { return nil }
    var result = head
    for element in rest where try await isReplaced(result, element) { result = element }
    return result
  }
}
