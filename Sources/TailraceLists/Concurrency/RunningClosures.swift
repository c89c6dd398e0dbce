import TailraceSupport

/// The closures of a list that run at the same time, and their results that are not taken yet, as a value.
///
/// Every event is one mutating method that returns what to do; it does nothing else. ``ConcurrentClosures``
/// isolates the value, asks it, and acts after it has released its lock.
///
/// ```
///           begins            is done              is taken
///   known ─────────▶ running ─────────▶ succeeded ──────────▶ forgotten
///     ▲                 │
///     │  is tried again └─────────────▶ failed, if it is retried
///     └────────────────────────────────────┘
/// ```
///
/// A closure that is discarded is forgotten at once, in every phase: the task that runs it is cancelled, and its
/// result is dropped.
@usableFromInline
struct RunningClosures<Output: Sendable, Waiter: AnyObject & Sendable>: Sendable {
  @usableFromInline typealias Running = Task<Void, Never>
  @usableFromInline typealias Outcome = Result<Output, any Error>

  @usableFromInline
  enum Phase: Sendable {
    case known
    /// The task is `nil` while it is being made.
    case running(Running?)
    /// The task is kept: the reader that takes the result releases it, mostly on the thread that
    /// made it. Freeing on another thread contends in the allocator.
    case done(Outcome, Running?)
    /// It is tried again when its result is demanded once more.
    case failed(any Error, isTold: Bool)
  }

  @usableFromInline
  struct Closure: Sendable {
    @usableFromInline var phase = Phase.known
    /// The highest priority that the task was made with, or that has waited, perhaps before it began.
    @usableFromInline var raisedTo: UInt8 = 0
    /// The demand that began this attempt has not looked for its result yet: it gets a failure as if it had waited.
    @usableFromInline var isDemanded = false
    /// Tells its attempts apart.
    @usableFromInline var worker: ClosureWorker?

    @_alwaysEmitIntoClient
    init() {}

    /// The task that runs it, if it runs and the task is known.
    @_alwaysEmitIntoClient var task: Running? {
      if case .running(let task) = phase { task } else { nil }
    }
  }

  @usableFromInline
  enum Next: Sendable {
    case result(Outcome)
    /// The failure of an attempt for which the demand has waited.
    case failed(any Error)
    /// The caller starts the closure once more, after that failure, and waits for it. The number is that of
    /// results taken before.
    case again(any Error, after: Int)
    /// The number of results taken before.
    case wait(after: Int)
  }

  /// What is left when there is a result, or when there will be none, to be told, and released outside of a
  /// lock.
  @usableFromInline
  struct Leavings: Sendable {
    /// Their tasks are to be cancelled.
    @usableFromInline var closures: [Closure] = []
    @usableFromInline var waiters: [Waiter] = []

    @_alwaysEmitIntoClient
    init() {}
  }

  /// Whether the results are taken in the order of the closures. Otherwise they are taken as they come.
  @usableFromInline let inOrder: Bool
  /// By number.
  @usableFromInline var closures: [Int: Closure] = [:]
  /// The closures that are done, in the order in which their results came, unless that does not count.
  @usableFromInline var done = FIFO<Int>()
  /// How many results were taken.
  @usableFromInline var taken = 0
  @usableFromInline var waiters = WaiterSet<Waiter>()
  /// A failure has come that ends all, or no reader wants a result: no other closure will be started.
  @usableFromInline var isOver = false
  @usableFromInline var isAbandoned = false

  @_alwaysEmitIntoClient
  init(inOrder: Bool) { self.inOrder = inOrder }

  // MARK: Running

  /// There is an element for that closure.
  @_alwaysEmitIntoClient
  mutating func add(_ number: Int) { if !isOver { closures[number] = Closure() } }

  /// The closure is about to start, in a task of this priority. False if it is no longer wanted.
  @_alwaysEmitIntoClient
  mutating func begin(
    _ number: Int, _ worker: ClosureWorker, at priority: TaskPriority, isDemanded: Bool = false
  ) -> Bool {
    guard var closure = closures[number] else { return false }
    guard case .known = closure.phase else {
      preconditionFailure("RunningClosures: closure \(number) was started twice")
    }
    (closure.phase, closure.isDemanded) = (.running(nil), isDemanded)
    closure.raisedTo = max(closure.raisedTo, priority.rawValue)
    closure.worker = worker
    closures[number] = closure
    return true
  }

  /// The task is known. It is to be cancelled if it is no longer wanted, and to be raised if a task
  /// of higher priority has waited before it was known.
  @_alwaysEmitIntoClient
  mutating func attach(
    _ task: Running, _ number: Int, _ worker: ClosureWorker, madeAt priority: TaskPriority
  ) -> (isWanted: Bool, raised: TaskPriority?) {
    // Its result may have been taken already; then it does not matter that it is cancelled.
    guard let closure = closures[number] else { return (false, nil) }
    // The next attempt has begun.
    guard closure.worker === worker else { return (true, nil) }
    switch closure.phase {
    case .running:
      closures[number]!.phase = .running(task)
      let raised = closure.raisedTo
      return (true, raised > priority.rawValue ? TaskPriority(rawValue: raised) : nil)
    case .done(let outcome, _): closures[number]!.phase = .done(outcome, task)
    // It has failed already.
    case .known, .failed: break
    }
    return (true, nil)
  }

  /// A closure has returned. Its result is moved here; otherwise the task would retain an element
  /// that is a list while it is read.
  ///
  /// - Parameter retried: the failure, if it is not to be remembered.
  @_alwaysEmitIntoClient
  mutating func finish(
    _ number: Int, _ outcome: inout Outcome?, retried: (any Error)? = nil
  ) -> Leavings {
    var left = Leavings()
    guard case .running(let task)? = closures[number]?.phase, let result = outcome.take() else {
      return left
    }
    if let retried {
      closures[number]!.phase = .failed(retried, isTold: false)
    } else {
      closures[number]!.phase = .done(result, task)
      if !inOrder {
        done.append(number)
        if case .failure = result {
          // Nothing is read after it.
          isOver = true
          left.closures = forgetUnfinished()
        }
      }
    }
    if !inOrder || number == taken { left.waiters = waiters.removeAll() }
    return left
  }

  /// The result of a closure is not wanted.
  @_alwaysEmitIntoClient
  mutating func discard(_ number: Int) -> Closure? { closures.removeValue(forKey: number) }

  /// Nothing can read any more.
  @_alwaysEmitIntoClient
  mutating func abandon() -> Leavings {
    (isOver, isAbandoned) = (true, true)
    var left = Leavings()
    left.closures = forgetUnfinished()
    left.waiters = waiters.removeAll()
    return left
  }

  /// Forgets those that have no result.
  @_alwaysEmitIntoClient
  mutating func forgetUnfinished() -> [Closure] {
    let unfinished = closures.filter { if case .done = $0.value.phase { false } else { true } }
    for number in unfinished.keys { closures[number] = nil }
    return Array(unfinished.values)
  }

  // MARK: Readers

  /// The next result. For one demand at a time, which knows that there will be one.
  ///
  /// - Parameter hasWaited: whether its reader has waited for this result.
  @_alwaysEmitIntoClient
  mutating func next(hasWaited: Bool = false) -> Next {
    guard let number = inOrder ? taken : done.first, let closure = closures[number] else {
      return .wait(after: taken)
    }
    if closure.isDemanded { closures[number]!.isDemanded = false }
    switch closure.phase {
    case .known, .running: return .wait(after: taken)
    case .done(let outcome, _):
      closures[number] = nil
      if !inOrder { _ = done.popFirst() }
      taken += 1
      return .result(outcome)
    case .failed(let failure, let isTold):
      // Told to one who has waited, or has begun it; the list counts it for the others.
      if hasWaited || closure.isDemanded, !isTold {
        closures[number]!.phase = .failed(failure, isTold: true)
        return .failed(failure)
      }
      closures[number]!.phase = .known
      return .again(failure, after: taken)
    }
  }

  /// What brings the next result, if that is known.
  @_alwaysEmitIntoClient var awaited: ClosureWorker? { inOrder ? closures[taken]?.worker : nil }

  /// Whether the result after that many is still to come.
  @_alwaysEmitIntoClient
  func isMissing(after taken: Int) -> Bool {
    guard self.taken == taken else { return false }
    guard inOrder else { return done.isEmpty && !isOver }
    switch closures[taken]?.phase {
    case .known, .running: return true
    case .done, .failed, nil: return false
    }
  }

  /// A demand is about to wait. Returns why it must not: there is something new to check, or no result will
  /// come.
  @_alwaysEmitIntoClient
  mutating func enter(_ waiter: Waiter, after taken: Int) -> ResumeReason? {
    guard isMissing(after: taken) else {
      // With the last result the list is over, too; those who come late look at its cells.
      return isAbandoned && self.taken == taken ? .released : .lookAgain
    }
    waiters.enter(waiter)
    return nil
  }

  /// A demand stops waiting.
  @_alwaysEmitIntoClient
  mutating func leave(_ waiter: Waiter) { waiters.leave(waiter) }

  /// A task of this priority waits for the next result. Returns the tasks to raise: that of the closure that
  /// brings it, or all if any may.
  @_alwaysEmitIntoClient
  mutating func raise(to priority: TaskPriority) -> [Running] {
    if inOrder { return raise(taken, to: priority).map { [$0] } ?? [] }
    return closures.keys.compactMap { raise($0, to: priority) }
  }

  @_alwaysEmitIntoClient
  mutating func raise(_ number: Int, to priority: TaskPriority) -> Running? {
    guard let closure = closures[number], closure.raisedTo < priority.rawValue else { return nil }
    closures[number]!.raisedTo = priority.rawValue
    guard case .running(let task) = closure.phase else { return nil }
    return task
  }
}
