import TailraceSupport

// `prefix(_:)`, `dropFirst(_:)`, `suffix(_:)`, and `prefix(while:)` and `drop(while:)` with plain
// closures, are the standard library's. A slice of an eager list is one, so they return eager
// lists, and copy nothing.
extension EagerList {
  /// The list after the first element. The tail of the empty list is empty.
  ///
  /// ```swift
  /// EagerList(1...3).tail   // [2, 3]
  /// ```
  ///
  /// - Complexity: O(1). The storage is shared.
  @inlinable
  public var tail: EagerList { dropFirst() }

  /// Returns the first element and the list after it, `nil` if there is none.
  ///
  /// ```swift
  /// if let (head, tail) = list.uncons() { print(head, tail) }
  /// // 1 [2, 3]
  /// ```
  @inlinable
  public func uncons() -> (head: Element, tail: EagerList)? { first.map { ($0, tail) } }

  /// Returns the element at a position, counted from the front, `nil` after the end.
  ///
  /// ```swift
  /// EagerList([3, 1, 2]).dropFirst().element(at: 0)   // 1
  /// ```
  ///
  /// - Parameters:
  ///   - position: 0 or more; a negative position is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @inlinable
  public func element(at position: Int, file: StaticString = #fileID, line: UInt = #line)
    -> Element?
  {
    require(
      position >= 0,
      "EagerList.element(at:) takes a position of 0 or more, not \(position); "
        + "positions count from the front", file: file, line: line)
    return position < count ? slice[slice.startIndex + position] : nil
  }

  /// Returns the first elements while they satisfy an asynchronous predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func prefix<Failure: Error>(
    @_CheckedAlone<Bool> while predicate:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
    prefix(try await countOfFirst(predicate))
  }

  /// Returns the elements from the first one that does not satisfy an asynchronous predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func drop<Failure: Error>(
    @_CheckedAlone<Bool> while predicate:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
    dropFirst(try await countOfFirst(predicate))
  }

  @inlinable
  nonisolated(nonsending) func countOfFirst<Failure: Error>(
    _ predicate: nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Int {
    var count = 0
    for element in self {
      guard try await predicate(element) else { break }
      count += 1
    }
    return count
  }
}
