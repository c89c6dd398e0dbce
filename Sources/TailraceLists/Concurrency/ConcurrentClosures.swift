import TailraceSupport

/// Runs a closure for each of several elements at the same time.
///
/// For the stage that takes the results this is a place where a cell may be missing: the next result.
@usableFromInline
final class ConcurrentClosures<Input: Sendable, Output: Sendable>: Sendable {
  @usableFromInline typealias State = RunningClosures<Output, Waiter>
  @usableFromInline typealias Ahead = Lookahead<Input, Numbered>

  /// An element that was pulled, and the number of its closure.
  @usableFromInline
  struct Numbered: Sendable {
    @usableFromInline let element: Input
    @usableFromInline let number: Int

    @_alwaysEmitIntoClient
    init(_ element: Input, _ number: Int) { (self.element, self.number) = (element, number) }
  }

  @usableFromInline let state: Locked<State>
  /// Whether a failed closure runs again when its result is demanded once more.
  @usableFromInline let isRetried: Bool
  @usableFromInline let transform: @Sendable (Input) async -> State.Outcome

  @_alwaysEmitIntoClient
  init(
    inOrder: Bool, isRetried: Bool, _ transform: @escaping @Sendable (Input) async -> State.Outcome
  ) {
    state = Locked(State(inOrder: inOrder))
    (self.isRetried, self.transform) = (isRetried, transform)
  }

  /// There is an element. Its closure is started when the look-ahead knows it: the closure may fail at once.
  @_alwaysEmitIntoClient
  func add(_ element: Input, _ number: Int) -> Numbered {
    state.withLock { $0.add(number) }
    return Numbered(element, number)
  }

  /// Starts the closure, unless its result is no longer wanted.
  ///
  /// - Parameters:
  ///   - ahead: the look-ahead that ends with a failure.
  ///   - isDemanded: whether the caller looks for its result next.
  @_alwaysEmitIntoClient
  func start(_ slot: consuming Numbered, endingAtFailure ahead: Ahead?, isDemanded: Bool) {
    let number = slot.number
    let (worker, priority) = (ClosureWorker(number), Task.currentPriority)
    // Moved to the closure: its result may be the element itself, a list that is read before the task ends.
    let input = Owned(Optional((consume slot).element))
    guard
      state.withLock({ $0.begin(number, worker, at: priority, isDemanded: isDemanded) })
    else { return }
    // Each closure is written where the task is made: a passed closure would be wrapped three
    // times.
    let task = WorkerToken.making(worker) { token in
      if let home = StepExecutor.preferredHome {
        Task(executorPreference: home) { await self.run(input, number, ahead, worker, token) }
      } else {
        Task { await self.run(input, number, ahead, worker, token) }
      }
    }
    let (isWanted, raised) = state.withLock {
      $0.attach(task, number, worker, madeAt: priority)
    }
    if !isWanted { task.cancel() }
    if let raised { task.raise(to: raised) }
  }

  @_alwaysEmitIntoClient
  func run(
    _ input: Owned<Input?>, _ number: Int, _ ahead: Ahead?, _ worker: ClosureWorker,
    _ token: WorkerToken
  ) async {
    token.begin()
    let span = Recorder.isOn ? Recorder.beginBeside(number) : 0
    // Moved into the state: otherwise an element that is a list would be retained here while it is read.
    var outcome: State.Outcome? = await transform(input.state.take().unsafelyUnwrapped)
    token.end(of: worker)
    var (hasFailed, retried) = (false, (any Error)?.none)
    if case .failure(let failure) = outcome {
      hasFailed = true
      if isRetried { retried = failure } else { ahead?.failed(number) }
    }
    if span != 0 { Recorder.endBeside(span, hasFailed: hasFailed) }
    settle(state.withLock { [retried] in $0.finish(number, &outcome, retried: retried) })
  }

  @_alwaysEmitIntoClient
  func settle(_ left: State.Leavings, _ reason: ResumeReason = .lookAgain) {
    for waiter in left.waiters { waiter.wake(reason) }
    for closure in left.closures { closure.task?.cancel() }
  }

  @_alwaysEmitIntoClient
  func discard(_ slot: Numbered) { state.withLock { $0.discard(slot.number) }?.task?.cancel() }

  /// Nothing can read any more.
  @_alwaysEmitIntoClient
  func abandon() { settle(state.withLock { $0.abandon() }, .released) }
}

extension ConcurrentClosures: AwaitedPlace {
  /// If the order is free, any running closure may bring the next result, and so may one that is still to be
  /// started.
  @usableFromInline var awaitedWorker: (any Worker)? { state.withLock { $0.awaited } }
  @usableFromInline var title: Title { "LazyList<\(Output.self)>" }

  @usableFromInline
  func isMissing(_ cell: MissingCell) -> Bool {
    state.withLock { $0.isMissing(after: cell.mark.count) }
  }

  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    state.withLock { $0.enter(waiter, after: cell.mark.count) }
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { state.withLock { $0.leave(waiter) } }

  @usableFromInline var raised: (any Raised)? { self }
}

extension ConcurrentClosures: Raised {
  @usableFromInline
  func raise(to priority: TaskPriority) {
    for task in state.withLock({ $0.raise(to: priority) }) { task.raise(to: priority) }
  }
}

/// A running closure, in the wait graph.
@usableFromInline
final class ClosureWorker: Worker {
  @usableFromInline package let position: Int
  @usableFromInline package var title: Title { "LazyList" }

  @usableFromInline
  init(_ position: Int) { self.position = position }
}

/// Retained by the list that is read, and not by the tasks that pull ahead or run closures.
// Guard: the claim of the list that is read. May touch it: that list's stage.
@usableFromInline
final class ClosuresOwner<Input: Sendable, Output: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Closures = ConcurrentClosures<Input, Output>

  @usableFromInline let closures: Closures
  @usableFromInline let source: LookaheadOwner<Input, Closures.Numbered>
  /// The demanded closure, until its result is there; if the order is free, it stands for one more result.
  @exclusivity(unchecked) @usableFromInline var taken: Closures.Numbered?

  @_alwaysEmitIntoClient
  init<Failure: Error>(_ list: consuming LazyList<Input, Failure>, limit: Int, _ closures: Closures)
  {
    self.closures = closures
    let endsAtFailure = closures.state.withLock { $0.inOrder } && !closures.isRetried
    source = LookaheadOwner(
      Lookahead(
        list, distance: limit - 1, filling: { element, number in closures.add(element, number) },
        starting: { slot, ahead, isDemanded in
          closures.start(
            slot, endingAtFailure: endsAtFailure ? ahead : nil, isDemanded: isDemanded)
        },
        discarding: { slot in closures.discard(slot) }))
  }

  /// The next result, or why there is none.
  @_alwaysEmitIntoClient
  func next(_ demand: Demand) -> Step<Output> {
    if taken == nil {
      switch source.lookahead.next(demand) {
      case .element(let slot), .last(let slot): taken = .some(slot)
      case .skip: return .skip
      case .become: return .nothing(.end)
      case .nothing(let absence): return .nothing(absence)
      }
    }
    switch closures.state.withLock({ $0.next(hasWaited: demand.hasWaited) }) {
    case .result(.success(let element)):
      taken = nil
      return .element(element)
    case .result(.failure(let failure)): return .nothing(.failed(failure))
    case .failed(let failure): return .nothing(.failedTransiently(failure))
    // The former failure is released here, outside of the lock.
    case .again(_, let number):
      if let taken { closures.start(taken, endingAtFailure: nil, isDemanded: false) }
      return closures.missing(after: number, demand)
    case .wait(let number): return closures.missing(after: number, demand)
    }
  }

  @_alwaysEmitIntoClient
  deinit { closures.abandon() }
}
