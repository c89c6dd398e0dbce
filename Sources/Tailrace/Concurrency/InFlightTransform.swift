public import Synchronization

/// A closure that runs in a task of its own, and its result when there is one.
///
/// To the stage that wants the result this is a place where a cell is missing until the task is done.
///
/// There is one for each element, and it is destroyed by code that is not specialised: no field is of a
/// generic type, which that code would have to look up, and the result is optional but not a `Result`.
// Guard: each field's own, below. May touch it: the task that runs, and the stage of the list.
@usableFromInline
final class InFlightTransform<Input: Sendable, Outcome: Sendable>: @unchecked Sendable {
  /// What is the same for all steps of a list.
  @usableFromInline
  final class Rules: Sendable {
    @usableFromInline let transform: @Sendable (Input) async -> Outcome
    /// The failure, if the outcome is one.
    @usableFromInline let failure: @Sendable (Outcome) -> (any Error)?
    /// Whether a failed step runs again when its result is demanded.
    @usableFromInline let isRetried: Bool
    @usableFromInline let yieldHeuristic = YieldHeuristic()

    @inlinable
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
  /// What is to be told of a failure that stays.
  @usableFromInline let line: (any LineOfSteps)?
  @usableFromInline let waiting = Locked(InFlightTransformWaiters())
  /// Becomes true under the lock of `waiting`.
  @usableFromInline let done = Atomic(false)
  // Guard: written by the task before it is done, read by others after that.
  @exclusivity(unchecked) @usableFromInline var outcome: Outcome?
  /// Released with the step, by whoever takes the result: that is mostly the thread that made it, and
  /// memory that another thread frees is fought for.
  // Guard: written before anybody knows of the step but its task, which does not read it.
  @exclusivity(unchecked) @usableFromInline var running: Task<Void, Never>?
  // Guard: written by the task before it runs the closure, read by what runs in it.
  @exclusivity(unchecked) @usableFromInline var runningTask: UInt = 0
  /// Whether a failure that does not stay has been told to those who have come when it was there.
  // Guard: the claim of the list that the result is for.
  @exclusivity(unchecked) @usableFromInline var isTold = false

  /// Starts the closure.
  @inlinable
  init(_ rules: Rules, _ element: Input, _ number: Int, in line: (any LineOfSteps)?) {
    self.rules = rules
    self.element = element
    self.number = number
    self.line = line
    // Each closure is written where the task is made: passed on, it would be wrapped three times.
    running =
      if let home = StepTask.preferredHome {
        Task(executorPreference: home) { await self.run() }
      } else {
        Task { await self.run() }
      }
  }

  @inlinable var isDone: Bool { done.load(ordering: .acquiring) }

  @inlinable
  func run() async {
    runningTask = CurrentWorker.task
    let span = Recorder.isOn ? Recorder.beginBeside(number) : 0
    let outcome = await CurrentWorker.step.withValue(self) { await rules.transform(element) }
    self.outcome = .some(outcome)
    let failure = rules.failure(outcome)
    if span != 0 { Recorder.endBeside(span, hasFailed: failure != nil) }
    guard let failure else { return complete(with: .retry) }
    if rules.isRetried {
      complete(with: .failedTransiently(failure))
    } else {
      line?.failed(number)
      complete(with: .retry)
    }
  }

  @inlinable
  func complete(with wake: ResumeReason) {
    let (first, others) = waiting.withLock { waiters in
      defer { waiters.leave() }
      done.store(true, ordering: .releasing)
      return (waiters.first, waiters.others)
    }
    guard let first else { return }
    for waiter in [first] + others where waiter.wake(wake) {
      if case .failedTransiently = wake { waiting.withLock { $0.areTold = true } }
    }
  }

  /// A failure is told once: to those who wait for it, or to who comes then.
  @inlinable
  func takeFailure() -> Bool {
    if isTold || waiting.withLock({ $0.areTold }) { return false }
    isTold = true
    return true
  }

  @inlinable
  func cancel() { running?.cancel() }
}

extension InFlightTransform: ConcurrentWorker {
  @usableFromInline var position: Int { number }
}

extension InFlightTransform: AwaitedPlace {
  @usableFromInline var worker: (any Worker)? { self }
  @usableFromInline var title: String { "LazyList" }
  @usableFromInline var yieldHeuristic: YieldHeuristic? { rules.yieldHeuristic }

  @inlinable
  func isMissing(_ mark: Published) -> Bool { !isDone }

  @usableFromInline
  func enter(_ waiter: Waiter, _ mark: Published) -> Bool {
    waiting.withLock { waiters in
      guard !done.load(ordering: .relaxed) else { return false }
      waiters.add(waiter)
      return true
    }
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { waiting.withLock { $0.remove(waiter) } }

  @usableFromInline
  func raise(to priority: TaskPriority) { running?.raise(to: priority) }
}

/// What steps that run at the same time belong to.
@usableFromInline
protocol LineOfSteps: AnyObject, Sendable {
  /// What was made of the element with this number failed.
  func failed(_ number: Int)
}

/// Those who wait for one step.
@usableFromInline
struct InFlightTransformWaiters: Sendable {
  @usableFromInline var first: Waiter?
  /// Mostly nobody; and nobody where there is no first.
  @usableFromInline var others: [Waiter] = []
  /// Whether one of them was told of a failure that does not stay.
  @usableFromInline var areTold = false

  @inlinable
  init() {}

  @inlinable
  mutating func add(_ waiter: Waiter) {
    if first == nil { first = waiter } else { others.append(waiter) }
  }

  @inlinable
  mutating func remove(_ waiter: Waiter) {
    if first === waiter { first = others.popLast() } else { others.removeAll { $0 === waiter } }
  }

  @inlinable
  mutating func leave() { (first, others) = (nil, []) }
}
