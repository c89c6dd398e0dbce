import TailraceSupport

// Demands are methods, because a getter cannot throw a generic failure.
extension LazyList {
  /// Returns the first element, or `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(1...).head()   // 1
  /// ```
  ///
  /// - Laziness: computes one element.
  /// - Cancellation: as every query, it throws `CancellationError` if `Failure` is `any Error`,
  ///   `Failure.cancelled` if it is a ``CancellableFailure``, and waits for the true answer otherwise.
  ///
  /// Replaces `head`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func head() async throws(Failure) -> Element? {
    var reader = reader()
    return try await reader.next()
  }

  /// The list after the head. The tail of the empty list is empty.
  ///
  /// ```swift
  /// await LazyList(1...3).tail.array()   // [2, 3]
  /// ```
  ///
  /// - Laziness: deferred.
  ///
  /// Replaces `tail`.
  @_alwaysEmitIntoClient
  public var tail: LazyList { dropFirst() }

  /// Returns the head and the tail, or `nil` if there is no head.
  ///
  /// ```swift
  /// if let (head, tail) = await list.uncons() { print(head, tail) }
  /// // 1 […]
  /// ```
  ///
  /// - Laziness: computes one element.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func uncons() async throws(Failure) -> (
    head: Element, tail: LazyList
  )? {
    var reader = reader()
    guard let head = try await reader.next() else { return nil }
    return (head, LazyList(reader.cursor.rest))
  }

  /// Returns whether the list is empty.
  ///
  /// ```swift
  /// await LazyList(1...).isEmpty()   // false; after one element
  /// ```
  ///
  /// - Laziness: computes one element.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func isEmpty() async throws(Failure) -> Bool {
    try await head() == nil
  }

  /// Returns the element at a position, or `nil` after the end.
  ///
  /// ```swift
  /// await LazyList(1...).element(at: 2)   // 3
  /// ```
  ///
  /// - Laziness: computes the elements up to that position only.
  /// - Parameters:
  ///   - position: 0 or more; a negative position is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func element(
    at position: Int, file: StaticString = #fileID, line: UInt = #line
  ) async throws(Failure) -> Element? {
    require(
      position >= 0,
      "LazyList.element(at:) takes a position of 0 or more, not \(position); "
        + "positions count from the head", file: file, line: line)
    return try await dropFirst(position).head()
  }
}
