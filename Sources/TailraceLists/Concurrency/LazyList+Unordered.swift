import TailraceSupport

// Several steps of one list at the same time, with results in any order.

extension LazyList {
  /// Returns the results of an asynchronous closure for each element, several at a time, as each
  /// one completes.
  ///
  /// ```swift
  /// let pages = urls.concurrentMapUnordered(limit: 4) { url in await load(url) }
  /// let first = await pages.head()   // four downloads begin; the one that is done first
  /// ```
  /// ![Two closures run at once; results come when they are there.](marbles-concurrentMapUnordered)
  ///
  /// The order of completion is kept: every reader gets the same order.
  ///
  /// A closure that waits for the result that it is to bring waits forever: any of the others could bring
  /// it, so no ``CyclicEvaluationError`` is found there.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of closures at once; 1 or more. With 1 it is `map`.
  ///   - transform: gives the result for an element; each call is a task of its own.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: deferred: nothing runs before the first request. Requesting element *i* then starts
  ///   the closure for elements up to *i* + `limit` - 1, and pulls only these from this list.
  /// - Isolation: each closure runs in a task of its own, with the priority and the task-locals of
  ///   the request that started it.
  /// - Failure: surfaces after the results that completed before it. The running closures are
  ///   cancelled at once. A failure of this list surfaces after all results.
  /// - Cancellation: ends only the cancelled reader. The running closures are cancelled when
  ///   nothing can read the list any more.
  ///
  /// Replaces `-flatten:` with its `maxConcurrent`.
  @_alwaysEmitIntoClient
  public consuming func concurrentMapUnordered<T: Sendable>(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async -> T
  ) -> LazyList<T, Failure> {
    mapInAnyOrder(limit, file, line) { .success(await transform($0)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// as each one completes.
  @_alwaysEmitIntoClient
  public consuming func concurrentMapUnordered<T: Sendable>(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().mapInAnyOrder(limit, file, line) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  @_alwaysEmitIntoClient @inline(__always)
  consuming func mapInAnyOrder<T: Sendable>(
    _ limit: Int, _ file: StaticString, _ line: UInt,
    _ transform: @escaping @Sendable (Element) async -> Result<T, Failure>
  ) -> LazyList<T, Failure> {
    require(
      limit >= 1,
      "LazyList.concurrentMapUnordered(limit:_:) runs 1 or more closures at once, not \(limit)",
      file: file, line: line)
    guard limit > 1 else {
      return transformInTask((), stage: "concurrentMapUnordered") {
        (_, element) async throws(Failure) in
        .element(try await transform(element).get())
      }
    }
    return running(limit, inOrder: false, false, stage: "concurrentMapUnordered") {
      await transform($0).mapError { $0 }
    }
  }
}
