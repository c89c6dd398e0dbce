import TailraceSupport

/// Pulls from a list ahead of its readers.
///
/// The demand itself pulls the demanded element if nothing else is pulling, so that a cycle is
/// found as everywhere. A task beside the readers pulls the elements ahead: a demand starts it, and it
/// ends when there are enough. Until it has begun, a demand takes from the source what is there at once. A pull
/// gives a slot: the element, or something that a task makes of it.
///
/// For the stage that takes the slots this is a place where a cell may be missing, like a list.
@usableFromInline
final class Lookahead<Element: Sendable, Slot: Sendable>: Sendable {
  @usableFromInline
  struct Source {
    @usableFromInline var cursor: Cursor<Element>
    @usableFromInline var pulls = 0

    @_alwaysEmitIntoClient
    init<Failure: Error>(_ list: consuming LazyList<Element, Failure>) {
      cursor = Cursor(list, isInTask: true)
    }
  }

  @usableFromInline let state: Locked<LookaheadState<Slot, Waiter>>
  /// Pulled from only by the one that moved the state to `pulling`.
  @usableFromInline let source: Owned<Source>
  @usableFromInline let worker: LookaheadWorker
  @usableFromInline let fill: @Sendable (Element, _ number: Int) -> Slot
  /// Starts the work of a slot, once the state knows the slot: for a demand that pulled it, or ahead. `nil` if
  /// slots have no work.
  @usableFromInline let start: (@Sendable (consuming Slot, Lookahead, _ isDemanded: Bool) -> Void)?
  /// Gives up a slot that will not be taken. If its work has not begun, it never does.
  @usableFromInline let discard: @Sendable (Slot) -> Void

  @_alwaysEmitIntoClient
  init<Failure: Error>(
    _ list: consuming LazyList<Element, Failure>, distance: Int,
    filling fill: @escaping @Sendable (Element, _ number: Int) -> Slot,
    starting start: (@Sendable (consuming Slot, Lookahead, _ isDemanded: Bool) -> Void)? = nil,
    discarding discard: @escaping @Sendable (Slot) -> Void
  ) {
    state = Locked(LookaheadState(distance: distance))
    source = Owned(Source(list))
    worker = LookaheadWorker(of: Slot.self)
    self.fill = fill
    self.start = start
    self.discard = discard
  }

  /// Each of a chain of lists that look ahead may have taken over the producer below it: they are
  /// released in a loop.
  @_alwaysEmitIntoClient
  deinit {
    if let producer = source.state.cursor.producer.take() {
      ReleaseQueue.release(Leftover(consume producer))
    }
  }

  /// The next slot, or why there is none. For the holder of the claim of the list that is read.
  @_alwaysEmitIntoClient
  func next(_ demand: Demand) -> Step<Slot> {
    let isLimited = worker.isLimited
    switch state.withLock({ $0.demand(isLimited: isLimited) }) {
    case .slot(let slot, let starts):
      if starts { pullAhead() }
      return .element(slot)
    case .pull(let taken): return pullOnDemand(demand, orWaitAfter: taken)
    case .wait(let taken): return missing(after: taken, demand)
    case .end: return .nothing(.end)
    case .failed(let failure): return .nothing(.failed(failure))
    case .failedTransiently(let failure):
      // For a reader that has waited for that attempt.
      return demand.hasWaited ? .nothing(.failedTransiently(failure)) : next(demand)
    case .abandoned: return .nothing(.released)
    }
  }

  // MARK: Pulling

  /// - Parameter taken: if a task is called, the number of slots taken before.
  @_alwaysEmitIntoClient
  func pullOnDemand(_ demand: Demand, orWaitAfter taken: Int?) -> Step<Slot> {
    source.state.cursor.demand = demand.forOne
    // The task begins the steps of a list that cancels those that nobody waits for, and waits for them.
    if taken != nil { source.state.cursor.demand.mayBeDropped = true }
    let pulled = source.state.cursor.next()
    // The depth, and whether its reader has waited, are those of this demand; the task that pulls on has others.
    source.state.cursor.demand = Demand()
    guard let element = pulled else {
      let absence = source.state.cursor.takeAbsence()
      switch (absence, taken) {
      // The list counts a failure, which is told to this reader, for those who wait.
      case (.failedTransiently, _): failed(nil)
      case (.missing, let taken?), (.paused, let taken?):
        let (starts, waiters) = state.withLock { $0.leftToTask() }
        for waiter in waiters { waiter.wake(.lookAgain) }
        if starts { pullAhead() }
        return missing(after: taken, demand)
      default: stop(absence)
      }
      return .nothing(absence)
    }
    let (slot, _) = filled(with: element)
    let (starts, waiters) = state.withLock { $0.pulledOnDemand() }
    // It may fail at once, and the state has to know how to handle that.
    start?(slot, self, true)
    for waiter in waiters { waiter.wake(.lookAgain) }
    if starts { pullAhead() }
    return .element(slot)
  }

  /// Starts a task that pulls as many slots as allowed, with the context of the demand.
  ///
  /// It never waits for the list that it pulls ahead for; that list waits for it.
  // The task has no executor of its own: to run each job of one is to make another task.
  @_alwaysEmitIntoClient @inline(never)
  func pullAhead() {
    let priority = Task.currentPriority
    // Written where the task is made: a passed closure would be wrapped.
    let puller = WorkerToken.making(worker) { token in
      if let home = StepExecutor.preferredHome {
        Task(executorPreference: home) { await self.run(token) }
      } else {
        Task { await self.run(token) }
      }
    }
    let (isWanted, raised) = state.withLock { $0.attach(puller, madeAt: priority) }
    if !isWanted { puller.cancel() }
    if let raised { puller.raise(to: raised) }
  }

  @_alwaysEmitIntoClient
  func run(_ token: WorkerToken) async {
    guard state.withLock({ $0.begin() }) else { return }
    token.begin()
    await pullAll()
    token.end(of: worker)
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func pullAll() async {
    source.state.cursor.demand = Demand()
    while !Task.isCancelled {
      guard let element = await nextAhead() else { break }
      if !keep(consume element) { return }
    }
    let absence = source.state.cursor.takeAbsence()
    // Not kept: the missing cell may be this list's own, which would retain itself.
    source.state.cursor.absence = .paused
    // If the list was abandoned, no reader sees this. If the source has cancelled this very task, a
    // demand goes on.
    stop(Task.isCancelled ? .cancelled : absence)
  }

  /// Pulls one element, and waits for it, but never for the list that it pulls ahead for.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) func nextAhead() async -> Element? {
    if let element = source.state.cursor.next() { return element }
    return await source.state.cursor.nextWaiting(ahead: self)
  }

  /// False if that is enough.
  ///
  /// The slot is moved into the state, and into its work. A reader may have read the whole of an element that is a
  /// list before this returns, and it would be retained here meanwhile.
  @_alwaysEmitIntoClient
  func keep(_ element: consuming Element) -> Bool {
    let (filled, number) = filled(with: consume element)
    var started = start == nil ? nil : filled
    var slot = Optional(consume filled)
    switch state.withLock({ $0.pulledAhead(slot.take().unsafelyUnwrapped, number) }) {
    case .kept(let pullsOn, let waiters):
      if let start { start(started.take().unsafelyUnwrapped, self, false) }
      for waiter in waiters { waiter.wake(.lookAgain) }
      return pullsOn
    case .refused(let slot):
      discard(slot)
      return false
    }
  }

  @_alwaysEmitIntoClient
  func filled(with element: consuming Element) -> (slot: Slot, number: Int) {
    let number = source.state.pulls
    source.state.pulls += 1
    return (fill(element, number), number)
  }

  @_alwaysEmitIntoClient
  func stop(_ absence: Absence) {
    switch absence {
    case .end: end(with: nil)
    case .failed(let failure): end(with: failure)
    case .failedTransiently(let failure): failed(failure)
    case .missing, .paused, .cancelled, .released:
      for waiter in state.withLock({ $0.gaveUp() }) { waiter.wake(.lookAgain) }
    }
  }

  /// - Parameter failure: kept for a reader that waits; `nil` if it is told already.
  @_alwaysEmitIntoClient
  func failed(_ failure: (any Error)?) {
    for waiter in state.withLock({ $0.failed(failure) }) { waiter.wake(.lookAgain) }
  }

  @_alwaysEmitIntoClient
  func end(with failure: (any Error)?) {
    source.state.cursor = Cursor(LazyList<Element, Never>.empty)
    for waiter in state.withLock({ $0.end(with: failure) }) { waiter.wake(.lookAgain) }
  }

  // MARK: Stopping

  /// The work for an element failed: the work ahead of it is cancelled.
  @_alwaysEmitIntoClient
  func failed(_ number: Int) {
    let left = state.withLock { $0.failed(number) }
    left.puller?.cancel()
    for slot in left.slots { discard(slot) }
    for waiter in left.waiters { waiter.wake(.lookAgain) }
  }

  /// Nothing can read any more.
  @_alwaysEmitIntoClient
  func abandon() {
    let left = state.withLock { $0.abandon() }
    left.puller?.cancel()
    for slot in left.slots { discard(slot) }
    for waiter in left.waiters { waiter.wake(.released) }
  }
}

// An element that is being pulled beside the readers is awaited like a cell.
extension Lookahead: AwaitedPlace {
  @usableFromInline var awaitedWorker: (any Worker)? { worker }
  @usableFromInline var title: Title { "LazyList<\(Slot.self)>" }

  @usableFromInline
  func isMissing(_ cell: MissingCell) -> Bool {
    state.withLock { $0.isPulling(after: cell.mark.count) }
  }

  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    state.withLock { $0.enter(waiter, after: cell.mark.count) } ? nil : .lookAgain
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { state.withLock { $0.leave(waiter) } }

  @usableFromInline var raised: (any Raised)? { self }
}

extension Lookahead: Raised {
  @usableFromInline
  func raise(to priority: TaskPriority) {
    state.withLock { $0.raise(to: priority) }?.raise(to: priority)
  }
}

/// Retained by the list that is read, and not by the tasks that pull ahead.
@usableFromInline
package final class LookaheadOwner<Element: Sendable, Slot: Sendable>: Sendable {
  @usableFromInline let lookahead: Lookahead<Element, Slot>

  @_alwaysEmitIntoClient
  init(_ lookahead: Lookahead<Element, Slot>) { self.lookahead = lookahead }

  @_alwaysEmitIntoClient
  deinit { lookahead.abandon() }
}

extension LookaheadOwner {
  /// Lends what is left of the source. False if a pull uses it.
  // Only a pull that first marks the state uses the source. While the lock is held and the state
  // unmarked, no pull runs.
  package func lendSource(_ body: (inout Cursor<Element>) -> Void) -> Bool {
    lookahead.state.withLock { state in
      switch state.source {
      case .resting, .hesitating: body(&lookahead.source.state.cursor)
      case .over, .abandoned: break
      case .pulling: return false
      }
      return true
    }
  }
}
