extension LazyList {
  /// Calls an asynchronous closure for each element, several at a time.
  ///
  /// ```swift
  /// await urls.concurrentForEach(limit: 4) { url in await store(url) }
  /// ```
  ///
  /// It returns when all calls have returned.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of simultaneous calls; 1 or more.
  ///   - body: the closure for an element.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: exhaustive. An element is pulled when there is room for its call.
  /// - Isolation: each call is a child task of the caller's.
  /// - Failure: the running calls are cancelled; when they have returned, the list's failure is
  ///   thrown.
  @inlinable
  nonisolated(nonsending) public consuming func concurrentForEach(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Element) async -> Void
  ) async throws(Failure) {
    require(
      limit >= 1,
      "LazyList.concurrentForEach(limit:_:) makes 1 or more calls at once, not \(limit)",
      file: file, line: line)
    var reader = Reader(self)
    let fate: Result<Void, Failure> = await withTaskGroup(of: Void.self) { group in
      var running = 0
      do throws(Failure) {
        while let element = try await reader.next() {
          group.addTask { await body(element) }
          running += 1
          if running == limit {
            await group.next()
            running -= 1
          }
        }
        return .success(())
      } catch {
        group.cancelAll()
        return .failure(error)
      }
    }
    try fate.get()
  }

  /// Calls an asynchronous throwing closure for each element, several at a time.
  ///
  /// - Failure: the running calls are cancelled; when they have returned, the first failure, of a
  ///   call or of the list, is thrown.
  @inlinable
  nonisolated(nonsending) public consuming func concurrentForEach(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    require(
      limit >= 1,
      "LazyList.concurrentForEach(limit:_:) makes 1 or more calls at once, not \(limit)",
      file: file, line: line)
    var reader = Reader(self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      var running = 0
      while let element = try await reader.next() {
        group.addTask { try await body(element) }
        running += 1
        if running == limit {
          try await group.next()
          running -= 1
        }
      }
      try await group.waitForAll()
    }
  }
}
