import TailraceSupport

// Several steps of one list at the same time.

extension LazyList {
  /// Returns the elements, pulled from this list ahead of its readers.
  ///
  /// ```swift
  /// // While a page is shown, the next two are loaded.
  /// for try await page in pages.prefetching(2) { await show(page) }
  /// ```
  /// ![The source stays two elements ahead of a slow reader.](marbles-prefetching)
  ///
  /// - Parameters:
  ///   - count: the maximum number of elements ahead of the furthest reader; 0 or more.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: deferred: nothing runs before the first request. Requesting element *i* then
  ///   computes up to element *i* + `count`, one after the other, beside the reader.
  /// - Isolation: a task with the priority and the task-locals of the request computes the elements
  ///   ahead. A reader that comes before this task has begun computes its element itself, if no step suspends.
  ///   To start the task costs about a microsecond, and to wait for it some: prefetching pays for steps that
  ///   take longer.
  /// - Failure: a failure ahead surfaces when a reader gets there. A step ahead that may be retried
  ///   runs again when its element is requested.
  /// - Cancellation: ends only the cancelled reader. Pulling stops, and its step in flight is
  ///   cancelled, when nothing can read the list any more.
  ///
  /// Replaces nothing of ReactiveObjC: there, a sequence is computed by its readers.
  @_alwaysEmitIntoClient
  public consuming func prefetching(_ count: Int, file: StaticString = #fileID, line: UInt = #line)
    -> LazyList
  {
    require(
      count >= 0, "LazyList.prefetching(_:) stays 0 or more elements ahead, not \(count)",
      file: file, line: line)
    guard count > 0 else { return self }
    let owner = LookaheadOwner(
      Lookahead<Element, Element>(
        self, distance: count, filling: { element, _ in element }, discarding: { _ in }))
    return LazyList(upstream: owner, stepping: { demand in owner.lookahead.next(demand) })
  }

  /// Returns the results of an asynchronous closure for each element, several at a time, in order.
  ///
  /// ```swift
  /// let sizes = urls.concurrentMap(limit: 4) { url in await size(of: url) }
  /// await sizes.head()   // 3; the first one's size, and four downloads have begun
  /// ```
  /// ![Two closures run at once; the results keep the order.](marbles-concurrentMap)
  ///
  /// - Parameters:
  ///   - limit: the maximum number of closures at once; 1 or more. With 1 it is `map`.
  ///   - transform: gives the result for an element; each call is a task of its own.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: deferred: nothing runs before the first request. Requesting element *i* then starts
  ///   the closure for elements up to *i* + `limit` - 1, and pulls only these from this list.
  /// - Isolation: each closure runs in a task of its own, with the priority and the task-locals of
  ///   the request that started it. It is raised to the priority of the readers that wait for its
  ///   result.
  /// - Failure: surfaces at its position, after the results before it. Closures for later elements
  ///   are cancelled at once.
  /// - Cancellation: ends only the cancelled reader. The running closures are cancelled when
  ///   nothing can read the list any more.
  ///
  /// Replaces `-flattenMap:` with `-flatten:` and its `maxConcurrent`; results keep the order.
  @_alwaysEmitIntoClient
  public consuming func concurrentMap<T: Sendable>(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async -> T
  ) -> LazyList<T, Failure> {
    mapConcurrently(limit, file, line) { .success(await transform($0)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// in order.
  @_alwaysEmitIntoClient
  public consuming func concurrentMap<T: Sendable>(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().mapConcurrently(limit, file, line) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// in order; the next request repeats a failed call.
  ///
  /// - Failure: given to the request of the element. If `retryingFailures`, it is not kept,
  ///   and the steps ahead continue: the next request repeats that one call. So does the first request, if
  ///   the call has failed before anybody waited for it.
  @_alwaysEmitIntoClient
  public consuming func concurrentMap<T: Sendable>(
    limit: Int, retryingFailures: Bool, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    guard limit != 1 || !retryingFailures else {
      return map(retryingFailures: true) { (element) async throws in try await transform(element) }
    }
    return widened().mapConcurrently(limit, file, line, retryingFailures) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  @_alwaysEmitIntoClient @inline(__always)
  consuming func mapConcurrently<T: Sendable>(
    _ limit: Int, _ file: StaticString, _ line: UInt, _ retryingFailures: Bool = false,
    _ transform: @escaping @Sendable (Element) async -> Result<T, Failure>
  ) -> LazyList<T, Failure> {
    require(
      limit >= 1, "LazyList.concurrentMap(limit:_:) runs 1 or more closures at once, not \(limit)",
      file: file, line: line)
    guard limit > 1 else {
      return transformInTask((), stage: "concurrentMap") { (_, element) async throws(Failure) in
        .element(try await transform(element).get())
      }
    }
    return running(limit, inOrder: true, retryingFailures, stage: "concurrentMap") {
      await transform($0).mapError { $0 }
    }
  }

  /// The results of a closure that runs for several elements at a time, in order or as they come.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func running<T: Sendable>(
    _ limit: Int, inOrder: Bool, _ retryingFailures: Bool, stage: StageName,
    _ transform: @escaping @Sendable (Element) async -> Result<T, any Error>
  ) -> LazyList<T, Failure> {
    let owner = ClosuresOwner(
      self, limit: limit,
      ConcurrentClosures(inOrder: inOrder, isRetried: retryingFailures, transform))
    return LazyList<T, Failure>(
      upstream: owner.source, stage: stage, stepping: { demand in owner.next(demand) })
  }
}
