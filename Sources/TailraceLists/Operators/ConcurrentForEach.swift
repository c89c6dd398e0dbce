import TailraceSupport

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
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func concurrentForEach(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Element) async -> Void
  ) async throws(Failure) {
    try await reader().forEachAtOnce(limit, file, line, body)
  }

  /// Calls an asynchronous throwing closure for each element, several at a time.
  ///
  /// - Failure: no other call begins, and the running ones are cancelled; when they have returned,
  ///   the first failure, of a call or of the list, is thrown. So is the cancellation of
  ///   the task: as `Failure.cancelled` if the list's failure is a ``CancellableFailure``, as a
  ///   `CancellationError` otherwise, also if the list cannot fail.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func concurrentForEach(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Element) async throws -> Void
  ) async throws {
    let source = Owned(Optional(consume self))
    let (failures, failure) = AsyncStream.makeStream(
      of: (any Error).self, bufferingPolicy: .bufferingOldest(1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      // In a task of its own, so that a failed call can end the wait for the next element.
      group.addTask {
        defer { failure.finish() }
        let call: @Sendable (Element) async throws -> Void = { element in
          do { try await body(element) } catch {
            // A call that was cancelled for another failure has not failed first.
            if !Task.isCancelled { failure.yield(error) }
            throw error
          }
        }
        // A list whose failure cannot say that it was cancelled is read as one that can.
        if Failure.cancellation == nil {
          try await source.state.take()?.widened().reader().forEachAtOnce(limit, file, line, call)
        } else {
          try await source.state.take()?.throwingReader().forEachAtOnce(limit, file, line, call)
        }
      }
      // Others may follow, of calls that were not cancelled yet.
      let first = await failures.first { _ in true }
      if first != nil { group.cancelAll() }
      let fate = await group.nextResult()
      if let first { throw first }
      try fate?.get()
    }
  }
}

extension Reader {
  /// Calls a closure for each element, in child tasks. The first failure cancels the running calls.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) consuming func forEachAtOnce(
    _ limit: Int, _ file: StaticString, _ line: UInt,
    _ body: @escaping @Sendable (Element) async throws(Failure) -> Void
  ) async throws(Failure) {
    require(
      limit >= 1,
      "LazyList.concurrentForEach(limit:_:) makes 1 or more calls at once, not \(limit)",
      file: file, line: line)
    var reader = self
    let fate: Result<Void, Failure> = await withTaskGroup(of: Result<Void, Failure>.self) { group in
      var running = 0
      do throws(Failure) {
        while let element = try await reader.next() {
          group.addTask {
            do throws(Failure) { return .success(try await body(element)) } catch {
              return .failure(error)
            }
          }
          running += 1
          if running == limit {
            try await group.next()?.get()
            running -= 1
          }
        }
        while let call = await group.next() { try call.get() }
        return .success(())
      } catch {
        group.cancelAll()
        return .failure(error)
      }
    }
    try fate.get()
  }
}
