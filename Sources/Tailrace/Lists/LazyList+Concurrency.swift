// Several steps of one list at the same time.

extension LazyList {
  /// Returns the elements, pulled from this list ahead of those who read.
  ///
  /// ```swift
  /// // While a page is shown, the next two are loaded.
  /// for try await page in pages.prefetching(2) { await show(page) }
  /// ```
  ///
  /// - Parameter count: how many elements it stays ahead of the furthest reader, at most; 0 or more.
  /// - Laziness: deferred: nothing runs before the first demand. Demanding element *i* then computes
  ///   up to element *i* + `count`, one after the other, beside the reader.
  /// - Isolation: what lies ahead is computed in a task that has the priority and the task-locals of
  ///   the demand that it follows.
  /// - Failure: of an element that lies ahead, it surfaces when a reader gets there. A step ahead that
  ///   may be retried is, when its element is demanded.
  /// - Cancellation: a reader's is the reader's only. It stops, and its step in flight is cancelled,
  ///   when nobody is left who could read.
  ///
  /// Replaces nothing of ReactiveObjC: there, a sequence is computed by whoever reads it.
  public consuming func prefetching(_ count: Int) -> LazyList {
    require(
      count >= 0, "LazyList.prefetching(_:) stays 0 or more elements ahead, not \(count)")
    guard count > 0 else { return self }
    let owner = LookaheadOwner(
      Lookahead<Element, Element, Failure>(
        self, distance: count, filling: { element, _, _ in element }, discarding: { _ in }))
    return LazyList(inTask: {
      if let element = owner.lookahead.nextNow() { return .element(element) }
      return await owner.lookahead.next()
    })
  }

  /// Returns the results of an asynchronous closure for each element, several at a time, in order.
  ///
  /// ```swift
  /// let sizes = urls.concurrentMap(limit: 4) { url in await size(of: url) }
  /// await sizes.head()   // 3; the first one's size, and four downloads have begun
  /// ```
  ///
  /// - Parameters:
  ///   - limit: how many closures may run at once; 1 or more. With 1 it is `map`.
  ///   - transform: gives the result for an element; each call is a task of its own.
  /// - Laziness: deferred: nothing runs before the first demand. Demanding element *i* then starts
  ///   the closure for elements up to *i* + `limit` - 1, and pulls no more than these from this list.
  /// - Isolation: each closure runs in a task of its own, with the priority and the task-locals of
  ///   the demand that started it. It is raised to the priority of those who wait for its result.
  /// - Failure: surfaces at its position, after the results before it. What runs ahead of it is
  ///   cancelled at once.
  /// - Cancellation: a reader's is the reader's only. The closures that run are cancelled when nobody
  ///   is left who could read.
  ///
  /// Replaces `-flattenMap:` with `-flatten:` and its `maxConcurrent`; results come in order.
  public consuming func concurrentMap<T: Sendable>(
    limit: Int, _ transform: @escaping @Sendable (Element) async -> T
  ) -> LazyList<T, Failure> {
    mapConcurrently(limit) { .success(await transform($0)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// in order.
  public consuming func concurrentMap<T: Sendable>(
    limit: Int, _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().mapConcurrently(limit) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// in order; a failed call is made again.
  ///
  /// - Failure: given to who demands the element. If `retryingFailures`, it is not remembered, and what
  ///   runs ahead goes on: the next demand makes that one call again.
  public consuming func concurrentMap<T: Sendable>(
    limit: Int, retryingFailures: Bool,
    _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    guard limit != 1 || !retryingFailures else {
      return map(retryingFailures: true) { (element) async throws in try await transform(element) }
    }
    return widened().mapConcurrently(limit, retryingFailures) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  private consuming func mapConcurrently<T: Sendable>(
    _ limit: Int, _ retryingFailures: Bool = false,
    _ transform: @escaping @Sendable (Element) async -> Result<T, Failure>
  ) -> LazyList<T, Failure> {
    require(
      limit >= 1, "LazyList.concurrentMap(limit:_:) runs 1 or more closures at once, not \(limit)")
    guard limit > 1 else {
      return transformInTask(()) { (_, element) async throws(Failure) in
        .emit(try await transform(element).get())
      }
    }
    let owner = LookaheadOwner(
      Lookahead<Element, Job<Element, T, Failure>, Failure>(
        self, distance: limit - 1,
        filling: { element, number, lookahead in
          Job(element) {
            let result = await transform(element)
            if case .failure = result, !retryingFailures { lookahead.failed(number) }
            return result
          }
        },
        discarding: { $0.task.cancel() }))
    // The element whose closure has failed for now.
    let failed = Owned(Element?.none)
    return LazyList<T, Failure>(inTask: {
      let job: Job<Element, T, Failure>
      if let element = failed.state.take() {
        job = Job(element) { await transform(element) }
      } else {
        if let result = owner.lookahead.nextNow(ifReady: { $0.isReady })?.success {
          return .element(result)
        }
        switch await owner.lookahead.next() {
        case .element(let pulled), .last(let pulled): job = pulled
        case .become: return .nothing(.end)
        case .nothing(let absence): return .nothing(absence)
        }
      }
      // Waiting for the task itself, because that raises its priority.
      let result = await withTaskCancellationHandler {
        await job.task.value
      } onCancel: {
        job.task.cancel()
        owner.lookahead.abandon()
      }
      switch result {
      case .success(let element): return .element(element)
      case .failure(let failure):
        if retryingFailures { failed.state = .some(job.element) }
        return .nothing(.fate(failure, retryingFailures))
      }
    })
  }
}

/// A closure that runs in a task of its own, and its result when there is one.
private struct Job<Input: Sendable, Output: Sendable, Failure: Error>: Sendable {
  private final class Outcome: Sendable {
    let result = Locked(Result<Output, Failure>?.none)
  }

  let element: Input
  let task: Task<Result<Output, Failure>, Never>
  private let outcome: Outcome

  init(_ element: Input, _ run: @escaping @Sendable () async -> Result<Output, Failure>) {
    let outcome = Outcome()
    self.element = element
    self.outcome = outcome
    task = Task(executorPreference: StepTask.current?.home) {
      let result = await run()
      outcome.result.withLock { $0 = result }
      return result
    }
  }

  /// Whether it has succeeded; a failure is worth the wait.
  var isReady: Bool { success != nil }

  var success: Output? {
    guard case .success(let output) = outcome.result.withLock({ $0 }) else { return nil }
    return .some(output)
  }
}
