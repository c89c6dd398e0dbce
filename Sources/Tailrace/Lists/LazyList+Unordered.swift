// Several steps of one list at the same time, where the order of the results says nothing.

extension LazyList {
  /// Returns the results of an asynchronous closure for each element, several at a time, each as
  /// soon as it is there.
  ///
  /// ```swift
  /// let pages = urls.concurrentMapUnordered(limit: 4) { url in await load(url) }
  /// let first = await pages.head()   // four downloads begin; the one that is done first
  /// ```
  ///
  /// The order in which the results came is remembered: every reader gets the same.
  ///
  /// - Parameters:
  ///   - limit: how many closures may run at once; 1 or more. With 1 it is `map`.
  ///   - transform: gives the result for an element; each call is a task of its own.
  /// - Laziness: deferred: nothing runs before the first demand. Demanding element *i* then starts the
  ///   closure for elements up to *i* + `limit` - 1, and pulls no more than these from this list.
  /// - Isolation: each closure runs in a task of its own, with the priority and the task-locals of the
  ///   demand that started it.
  /// - Failure: surfaces after the results that were there before it. The closures that run then are
  ///   cancelled at once. A failure of this list surfaces after all results.
  /// - Cancellation: a reader's is the reader's only. The closures that run are cancelled when nobody
  ///   is left who could read.
  ///
  /// Replaces `-flatten:` with its `maxConcurrent`.
  public consuming func concurrentMapUnordered<T: Sendable>(
    limit: Int, _ transform: @escaping @Sendable (Element) async -> T
  ) -> LazyList<T, Failure> {
    mapInAnyOrder(limit) { .success(await transform($0)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// each as soon as it is there.
  public consuming func concurrentMapUnordered<T: Sendable>(
    limit: Int, _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().mapInAnyOrder(limit) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  private consuming func mapInAnyOrder<T: Sendable>(
    _ limit: Int, _ transform: @escaping @Sendable (Element) async -> Result<T, Failure>
  ) -> LazyList<T, Failure> {
    require(
      limit >= 1,
      "LazyList.concurrentMapUnordered(limit:_:) runs 1 or more closures at once, not \(limit)")
    guard limit > 1 else {
      return transformInTask(()) { (_, element) async throws(Failure) in
        .emit(try await transform(element).get())
      }
    }
    let crowd = CrowdOwner(Crowd<T, Failure>())
    // A slot stands for a closure that was started: for one result more, whichever is next.
    let owner = LookaheadOwner(
      Lookahead<Element, Void, Failure>(
        self, distance: limit - 1,
        filling: { [crowd = crowd.crowd] element, number, _ in
          crowd.start(number) { await transform(element) }
        },
        discarding: { _ in }))
    return LazyList<T, Failure>(inTask: {
      if owner.lookahead.nextNow() == nil {
        switch await owner.lookahead.next() {
        case .element, .last: break
        case .become: return .nothing(.end)
        case .nothing(let absence): return .nothing(absence)
        }
      }
      switch await crowd.crowd.next() {
      case .success(let element): return .element(element)
      case .failure(let failure): return .nothing(.failed(failure))
      case nil: return .nothing(.cancelled)
      }
    })
  }
}

/// Closures that run at the same time, and their results in the order in which they come.
private final class Crowd<Output: Sendable, Failure: Error>: Sendable {
  private let state = Locked(CrowdState<Output, Failure>())

  func start(_ number: Int, _ run: @escaping @Sendable () async -> Result<Output, Failure>) {
    guard state.withLock({ $0.starts(number) }) else { return }
    let task = Task(executorPreference: StepTask.current?.home) { [self] in
      let result = await run()
      let (cancelled, waiter) = state.withLock { $0.finished(number, result) }
      waiter?.wake(.retry)
      for task in cancelled { task.cancel() }
    }
    if !state.withLock({ $0.attach(task, number) }) { task.cancel() }
  }

  /// The next result, `nil` if nobody wants any more. For one demand at a time, which knows that there
  /// will be one.
  nonisolated(nonsending) func next() async -> Result<Output, Failure>? {
    while true {
      let waiter = Waiter()
      switch state.withLock({ $0.next(waiter) }) {
      case .result(let result): return result
      case .over: return nil
      case .wait(let running): for task in running { task.raise(to: Task.currentPriority) }
      }
      await withTaskCancellationHandler {
        _ = await waiter.park()
      } onCancel: {
        cancel()
      }
    }
  }

  func cancel() {
    let (running, waiter) = state.withLock { $0.cancel() }
    for task in running { task.cancel() }
    waiter?.wake(.retry)
  }
}

/// What a crowd knows, as a value.
private struct CrowdState<Output: Sendable, Failure: Error>: Sendable {
  typealias Running = Task<Void, Never>

  enum Next {
    case result(Result<Output, Failure>)
    case wait(for: [Running])
    case over
  }

  /// By number; `nil` for one whose task is being made.
  private var running: [Int: Running?] = [:]
  private var results = FIFO<Result<Output, Failure>>()
  private var waiter: Waiter?
  /// One has failed, or nobody wants a result: no other closure will be started.
  private var isOver = false
  private var isAbandoned = false

  mutating func starts(_ number: Int) -> Bool {
    if isOver { return false }
    running[number] = .some(nil)
    return true
  }

  /// False if the task is to be cancelled.
  mutating func attach(_ task: Running, _ number: Int) -> Bool {
    // It may be done already.
    if running[number] != nil { running[number] = .some(task) }
    return !isOver
  }

  mutating func finished(
    _ number: Int, _ result: Result<Output, Failure>
  ) -> (cancelled: [Running], waiter: Waiter?) {
    running[number] = nil
    // What comes behind a failure is not read.
    guard !isOver else { return ([], nil) }
    results.append(result)
    if case .failure = result { isOver = true }
    return (isOver ? running.values.compactMap { $0 } : [], waiter.take())
  }

  mutating func next(_ waiter: Waiter) -> Next {
    if isAbandoned { return .over }
    if let result = results.popFirst() { return .result(result) }
    self.waiter = waiter
    return .wait(for: running.values.compactMap { $0 })
  }

  mutating func cancel() -> (cancelled: [Running], waiter: Waiter?) {
    (isOver, isAbandoned) = (true, true)
    return (running.values.compactMap { $0 }, waiter.take())
  }
}

/// Held by the list that is read; the tasks do not hold it.
private final class CrowdOwner<Output: Sendable, Failure: Error>: Sendable {
  let crowd: Crowd<Output, Failure>

  init(_ crowd: Crowd<Output, Failure>) { self.crowd = crowd }

  deinit { crowd.cancel() }
}
