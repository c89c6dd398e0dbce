import TailraceSupport
public import Synchronization

/// A closure that runs in a task of its own, and its result, once there is one.
///
/// For the stage that wants the result, a cell is missing at this place until the task is done.
///
/// Each element has one, and unspecialised code destroys it. So no field has a generic type, which
/// that code would have to look up, and the result is an optional, not a `Result`.
// Guard: each field's own, below. May touch it: the running task, and the stage of the list.
@usableFromInline
final class InFlightTransform<Input: Sendable, Outcome: Sendable>: @unchecked Sendable {
  /// The properties that all steps of a list share.
  @usableFromInline
  final class Rules: Sendable {
    @usableFromInline let transform: @Sendable (Input) async -> Outcome
    /// The failure, if the outcome is one.
    @usableFromInline let failure: @Sendable (Outcome) -> (any Error)?
    /// Whether demanding the result of a failed step runs it again.
    @usableFromInline let isRetried: Bool

    @_alwaysEmitIntoClient
    init(
      isRetried: Bool, _ transform: @escaping @Sendable (Input) async -> Outcome,
      failure: @escaping @Sendable (Outcome) -> (any Error)?
    ) {
      (self.isRetried, self.transform, self.failure) = (isRetried, transform, failure)
    }
  }

  @usableFromInline let rules: Rules
  @usableFromInline let element: Input
  @usableFromInline let number: Int
  /// Gets told of a permanent failure.
  @usableFromInline let line: (any LineOfSteps)?
  @usableFromInline let state = Locked(InFlightState<Waiter>())
  /// Becomes true under the lock of `state`.
  @usableFromInline let done = Atomic(false)
  // Guard: the task writes it before it is done. After that, the holder of the list's claim reads
  // and takes it.
  @exclusivity(unchecked) @usableFromInline var outcome: Outcome?
  // Guard: as the outcome's.
  /// When it has failed for now.
  @exclusivity(unchecked) @usableFromInline var failedAt = 0
  /// Whether a demand was told that.
  @exclusivity(unchecked) @usableFromInline var isTold = false

  @_alwaysEmitIntoClient
  init(_ rules: Rules, _ element: Input, _ number: Int, in line: (any LineOfSteps)?) {
    self.rules = rules
    self.element = element
    self.number = number
    self.line = line
  }

  @_alwaysEmitIntoClient var isDone: Bool { done.load(ordering: .acquiring) }

  /// Starts the closure, unless its result is no longer wanted.
  @_alwaysEmitIntoClient
  func start() {
    let priority = Task.currentPriority
    guard state.withLock({ $0.begin(at: priority) }) else { return }
    // Each closure is written where the task is made: a passed closure would be wrapped three
    // times.
    let task = WorkerToken.making(self) { token in
      if let home = StepExecutor.preferredHome {
        Task(executorPreference: home) { await self.run(token) }
      } else {
        Task { await self.run(token) }
      }
    }
    let (isWanted, raised) = state.withLock { $0.attach(task, madeAt: priority) }
    if !isWanted { task.cancel() }
    if let raised { task.raise(to: raised) }
  }

  @_alwaysEmitIntoClient
  func run(_ token: WorkerToken) async {
    token.begin()
    let span = Recorder.isOn ? Recorder.beginBeside(number) : 0
    let outcome = await rules.transform(element)
    token.end(of: self)
    let failure = rules.failure(outcome)
    // Moved: otherwise an element that is a list would be retained here while it is read.
    self.outcome = .some(consume outcome)
    if span != 0 { Recorder.endBeside(span, hasFailed: failure != nil) }
    if let failure {
      if rules.isRetried { failedAt = FailedAttempt(failure).time } else { line?.failed(number) }
    }
    let waiters = state.withLock { state in
      done.store(true, ordering: .releasing)
      return state.complete()
    }
    for waiter in waiters { waiter.wake(.lookAgain) }
  }

  @_alwaysEmitIntoClient
  func cancel() {
    let (task, waiters) = state.withLock { $0.cancel() }
    task?.cancel()
    for waiter in waiters { waiter.wake(.released) }
  }
}

extension InFlightTransform: Worker {
  @usableFromInline var position: Int { number }
}

extension InFlightTransform: AwaitedPlace {
  @usableFromInline var awaitedWorker: (any Worker)? { self }
  @usableFromInline var identity: AnyObject { rules }
  @usableFromInline var title: Title { "LazyList" }

  @usableFromInline
  func position(of mark: Published) -> Int { number }

  @_alwaysEmitIntoClient
  func isMissing(_ cell: MissingCell) -> Bool { !isDone }

  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    state.withLock { $0.enter(waiter) }
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { state.withLock { $0.leave(waiter) } }

  @usableFromInline var raised: (any Raised)? { self }
}

extension InFlightTransform: Raised {
  @usableFromInline
  func raise(to priority: TaskPriority) {
    state.withLock { $0.raise(to: priority) }?.raise(to: priority)
  }
}

/// The series of steps that run at the same time.
@usableFromInline
protocol LineOfSteps: AnyObject, Sendable {
  /// The step with this number failed.
  func failed(_ number: Int)
}

/// One step beside others, as a value.
///
/// ```
///   idle ──begin──▶ running ──complete──▶ done
///    └───cancel───▶ cancelled
/// ```
@usableFromInline
struct InFlightState<Waiter: AnyObject & Sendable>: Sendable {
  @usableFromInline typealias Running = Task<Void, Never>

  @usableFromInline
  enum Phase: Sendable {
    case idle
    /// The task is `nil` while it is being made.
    case running(Running?, isCancelled: Bool)
    /// The task is kept: the reader that takes the result releases it, mostly on the thread that
    /// made it. Freeing on another thread contends in the allocator.
    case done(Running?)
    /// It was no longer wanted before it began.
    case cancelled
  }

  @usableFromInline var phase = Phase.idle
  @usableFromInline var waiters = WaiterSet<Waiter>()
  /// The highest priority that the task was made with, or that has waited, perhaps before it began.
  @usableFromInline var raisedTo: UInt8 = 0

  @_alwaysEmitIntoClient
  init() {}

  /// The closure is about to start, in a task of this priority. False if it is no longer wanted.
  @_alwaysEmitIntoClient
  mutating func begin(at priority: TaskPriority) -> Bool {
    switch phase {
    case .idle:
      phase = .running(nil, isCancelled: false)
      raisedTo = max(raisedTo, priority.rawValue)
      return true
    case .cancelled: return false
    case .running, .done: preconditionFailure("a step beside others was started twice")
    }
  }

  /// The task is known. It is to be cancelled if it is no longer wanted, and to be raised if a task
  /// of higher priority has waited before it was known.
  @_alwaysEmitIntoClient
  mutating func attach(
    _ task: Running, madeAt priority: TaskPriority
  ) -> (isWanted: Bool, raised: TaskPriority?) {
    switch phase {
    case .running(_, let isCancelled):
      phase = .running(task, isCancelled: isCancelled)
      return (!isCancelled, raisedTo > priority.rawValue ? TaskPriority(rawValue: raisedTo) : nil)
    // The closure has finished already.
    case .done: phase = .done(task)
    case .idle, .cancelled: preconditionFailure("a step that had not begun has a task")
    }
    return (true, nil)
  }

  /// A task of this priority waits. Returns the task to raise, if it is known.
  @_alwaysEmitIntoClient
  mutating func raise(to priority: TaskPriority) -> Running? {
    guard raisedTo < priority.rawValue else { return nil }
    raisedTo = priority.rawValue
    guard case .running(let task, _) = phase else { return nil }
    return task
  }

  /// A reader would wait. Returns why it must not: the result is there, or will never be.
  @_alwaysEmitIntoClient
  mutating func enter(_ waiter: Waiter) -> ResumeReason? {
    switch phase {
    case .done: return .lookAgain
    case .cancelled: return .released
    case .idle, .running:
      waiters.enter(waiter)
      return nil
    }
  }

  @_alwaysEmitIntoClient
  mutating func leave(_ waiter: Waiter) { waiters.leave(waiter) }

  /// The result is there. Returns the waiters.
  @_alwaysEmitIntoClient
  mutating func complete() -> [Waiter] {
    guard case .running(let task, _) = phase else {
      preconditionFailure("a step that did not run has a result")
    }
    phase = .done(task)
    return waiters.removeAll()
  }

  /// The result is not wanted. Returns the task to cancel, if it is known, and those who wait for a closure that
  /// will never begin.
  @_alwaysEmitIntoClient
  mutating func cancel() -> (task: Running?, waiters: [Waiter]) {
    switch phase {
    case .idle:
      phase = .cancelled
      return (nil, waiters.removeAll())
    case .running(let task, _):
      phase = .running(task, isCancelled: true)
      return (task, [])
    case .done, .cancelled: return (nil, [])
    }
  }
}
