// Several steps of one list at the same time, where the order of the results says nothing.

extension LazyList {
  /// Returns the results of an asynchronous closure for each element, several at a time, each as
  /// soon as it is there.
  ///
  /// ```swift
  /// let pages = urls.concurrentMapUnordered(limit: 4) { url in await load(url) }
  /// let first = await pages.head()   // four downloads begin; the one that is done first
  /// ```
  /// ![Two closures run at once; results come when they are there.](marbles-concurrentMapUnordered)
  ///
  /// The order in which the results came is remembered: every reader gets the same.
  ///
  /// - Parameters:
  ///   - limit: how many closures may run at once; 1 or more. With 1 it is `map`.
  ///   - transform: gives the result for an element; each call is a task of its own.
  ///   - file: the caller's, for the words of a trap.
  ///   - line: the caller's, too.
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
  @inlinable
  public consuming func concurrentMapUnordered<T: Sendable>(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async -> T
  ) -> LazyList<T, Failure> {
    mapInAnyOrder(limit, file, line) { .success(await transform($0)) }
  }

  /// Returns the results of an asynchronous throwing closure for each element, several at a time,
  /// each as soon as it is there.
  @inlinable
  public consuming func concurrentMapUnordered<T: Sendable>(
    limit: Int, file: StaticString = #fileID, line: UInt = #line,
    _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().mapInAnyOrder(limit, file, line) { element in
      do { return .success(try await transform(element)) } catch { return .failure(error) }
    }
  }

  @inlinable
  consuming func mapInAnyOrder<T: Sendable>(
    _ limit: Int, _ file: StaticString, _ line: UInt,
    _ transform: @escaping @Sendable (Element) async -> Result<T, Failure>
  ) -> LazyList<T, Failure> {
    require(
      limit >= 1,
      "LazyList.concurrentMapUnordered(limit:_:) runs 1 or more closures at once, not \(limit)",
      file: file, line: line)
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
    return LazyList<T, Failure>(stepping: { [crowd = crowd] demand in
      switch owner.take(demand) {
      case .element, .last: break
      case .become: return .nothing(.end)
      case .nothing(let absence): return .nothing(absence)
      }
      switch crowd.crowd.next() {
      case .result(.success(let element)):
        owner.taken = nil
        return .element(element)
      case .result(.failure(let failure)): return .nothing(.failed(failure))
      case .wait(let taken):
        return .nothing(
          .missing(
            MissingCell(crowd.crowd, mark: Published(count: taken), isBulk: demand.isBulk)))
      }
    })
  }
}

/// Closures that run at the same time, and their results in the order in which they come.
@usableFromInline
final class Crowd<Output: Sendable, Failure: Error>: Sendable {
  @usableFromInline let state = Locked(CrowdState<Output, Failure>())

  @inlinable
  init() {}

  @inlinable
  func start(_ number: Int, _ run: @escaping @Sendable () async -> Result<Output, Failure>) {
    guard state.withLock({ $0.starts(number) }) else { return }
    let task = StepTask.atHome { [self] in
      let result = await run()
      let (cancelled, waiters) = state.withLock { $0.finished(number, result) }
      for waiter in waiters { waiter.wake(.retry) }
      for task in cancelled { task.cancel() }
    }
    if !state.withLock({ $0.attach(task, number) }) { task.cancel() }
  }

  /// The next result. For one demand at a time, which knows that there will be one.
  @inlinable
  func next() -> CrowdState<Output, Failure>.Next { state.withLock { $0.next() } }

  @inlinable
  func cancel() {
    let (running, waiters) = state.withLock { $0.cancel() }
    for task in running { task.cancel() }
    for waiter in waiters { waiter.wake(.abandoned) }
  }
}

extension Crowd: MemoCells {
  @usableFromInline var task: StepTask? { nil }
  @usableFromInline var title: String { "LazyList<\(Output.self)>" }

  @usableFromInline
  func position(of mark: Published) -> Int { mark.count }
  @usableFromInline
  func isMissing(_ mark: Published) -> Bool { state.withLock { $0.isMissing(after: mark.count) } }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand) -> MissingCell.Attempt {
    isMissing(cell.mark) ? .mustWait : .settled
  }

  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
  ) async -> Wake {
    let waiter = Waiter()
    guard let running = state.withLock({ $0.wait(waiter, after: cell.mark.count) }) else {
      return .retry
    }
    defer { state.withLock { $0.leave(waiter) } }
    for task in running { task.raise(to: Task.currentPriority) }
    return await waiter.wait(cancellable: cancellable) { priority in
      for task in running { task.raise(to: priority) }
    }
  }

  @usableFromInline
  func stopComputing() {}
  @usableFromInline
  func fail(_ mark: Published, with cycle: CyclicEvaluationError) {}
}

/// What a crowd knows, as a value.
@usableFromInline
struct CrowdState<Output: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Running = Task<Void, Never>

  @usableFromInline
  enum Next: Sendable {
    case result(Result<Output, Failure>)
    /// So many were taken before.
    case wait(after: Int)
  }

  /// By number; `nil` for one whose task is being made.
  @usableFromInline var running: [Int: Running?] = [:]
  @usableFromInline var results = FIFO<Result<Output, Failure>>()
  @usableFromInline var taken = 0
  @usableFromInline var waiters: [Waiter] = []
  /// One has failed, or nobody wants a result: no other closure will be started.
  @usableFromInline var isOver = false

  @inlinable
  init() {}

  @inlinable
  mutating func starts(_ number: Int) -> Bool {
    if isOver { return false }
    running[number] = .some(nil)
    return true
  }

  /// False if the task is to be cancelled.
  @inlinable
  mutating func attach(_ task: Running, _ number: Int) -> Bool {
    // It may be done already.
    if running[number] != nil { running[number] = .some(task) }
    return !isOver
  }

  @inlinable
  mutating func finished(
    _ number: Int, _ result: Result<Output, Failure>
  ) -> (cancelled: [Running], waiters: [Waiter]) {
    running[number] = nil
    // What comes after a failure is not read.
    guard !isOver else { return ([], []) }
    results.append(result)
    if case .failure = result { isOver = true }
    return (isOver ? running.values.compactMap { $0 } : [], wakeAll())
  }

  @inlinable
  mutating func next() -> Next {
    guard let result = results.popFirst() else { return .wait(after: taken) }
    taken += 1
    return .result(result)
  }

  @inlinable
  func isMissing(after taken: Int) -> Bool { results.isEmpty && self.taken == taken }

  /// What is to be waited for; `nil` if there is something new to look at.
  @inlinable
  mutating func wait(_ waiter: Waiter, after taken: Int) -> [Running]? {
    guard isMissing(after: taken) else { return nil }
    waiters.append(waiter)
    return running.values.compactMap { $0 }
  }

  @inlinable
  mutating func leave(_ waiter: Waiter) { waiters.removeAll { $0 === waiter } }

  @inlinable
  mutating func cancel() -> (cancelled: [Running], waiters: [Waiter]) {
    isOver = true
    return (running.values.compactMap { $0 }, wakeAll())
  }

  @inlinable
  mutating func wakeAll() -> [Waiter] {
    defer { waiters = [] }
    return waiters
  }
}

/// Held by the list that is read; the tasks do not hold it.
@usableFromInline
final class CrowdOwner<Output: Sendable, Failure: Error>: Sendable {
  @usableFromInline let crowd: Crowd<Output, Failure>

  @inlinable
  init(_ crowd: Crowd<Output, Failure>) { self.crowd = crowd }

  @inlinable
  deinit { crowd.cancel() }
}
