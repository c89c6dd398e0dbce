import TailraceSupport

/// Closures that run at the same time, and their results in order of completion.
@usableFromInline
final class CompletionQueue<Output: Sendable>: Sendable {
  @usableFromInline let state = Locked(CompletionQueueState<Output>())

  @_alwaysEmitIntoClient
  init() {}

  @_alwaysEmitIntoClient
  func start(_ number: Int, _ run: @escaping @Sendable () async -> Result<Output, any Error>) {
    let priority = Task.currentPriority
    guard state.withLock({ $0.starts(number, at: priority) }) else { return }
    let task = StepExecutor.atHome { [self] in
      let span = Recorder.isOn ? Recorder.beginBeside(number) : 0
      var result: Result<Output, any Error>? = await run()
      if span != 0 {
        let hasFailed = if case .failure = result { true } else { false }
        Recorder.endBeside(span, hasFailed: hasFailed)
      }
      let (cancelled, waiters) = state.withLock { $0.finished(number, &result) }
      for waiter in waiters { waiter.wake(.lookAgain) }
      for task in cancelled { task.cancel() }
    }
    let (isWanted, raised) = state.withLock { $0.attach(task, number, madeAt: priority) }
    if !isWanted { task.cancel() }
    if let raised { task.raise(to: raised) }
  }

  /// The next result. For one demand at a time, which knows that there will be one.
  @_alwaysEmitIntoClient
  func next() -> CompletionQueueState<Output>.Next { state.withLock { $0.next() } }

  @_alwaysEmitIntoClient
  func cancel() {
    let (running, waiters) = state.withLock { $0.cancel() }
    for task in running { task.cancel() }
    for waiter in waiters { waiter.wake(.released) }
  }
}

extension CompletionQueue: AwaitedPlace {
  /// Any running closure may bring the next result, and so may one that is still to be started.
  @usableFromInline var awaitedWorker: (any Worker)? { nil }
  @usableFromInline var title: Title { "LazyList<\(Output.self)>" }

  @usableFromInline
  func isMissing(_ cell: MissingCell) -> Bool {
    state.withLock { $0.isMissing(after: cell.mark.count) }
  }

  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    state.withLock { $0.wait(waiter, after: cell.mark.count) } ? nil : .lookAgain
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { state.withLock { $0.leave(waiter) } }

  @usableFromInline var raised: (any Raised)? { self }
}

extension CompletionQueue: Raised {
  @usableFromInline
  func raise(to priority: TaskPriority) {
    for task in state.withLock({ $0.raise(to: priority) }) { task.raise(to: priority) }
  }
}

/// The running closures, and the results that are not taken yet, as a value.
@usableFromInline
struct CompletionQueueState<Output: Sendable>: Sendable {
  @usableFromInline typealias Running = Task<Void, Never>

  @usableFromInline
  enum Next: Sendable {
    case result(Result<Output, any Error>)
    /// The number taken before.
    case wait(after: Int)
  }

  @usableFromInline
  struct Closure: Sendable {
    /// `nil` while it is being made.
    @usableFromInline var task: Running?
    /// The highest priority that the task was made with, or that has waited for a result.
    @usableFromInline var raisedTo: UInt8

    @_alwaysEmitIntoClient
    init(at priority: TaskPriority) { raisedTo = priority.rawValue }
  }

  /// By number.
  @usableFromInline var running: [Int: Closure] = [:]
  @usableFromInline var results = FIFO<Result<Output, any Error>>()
  @usableFromInline var taken = 0
  @usableFromInline var waiters = WaiterSet<Waiter>()
  /// A closure has failed, or no reader wants a result: no other closure will be started.
  @usableFromInline var isOver = false

  @_alwaysEmitIntoClient
  init() {}

  @_alwaysEmitIntoClient var tasks: [Running] { running.values.compactMap(\.task) }

  @_alwaysEmitIntoClient
  mutating func starts(_ number: Int, at priority: TaskPriority) -> Bool {
    if isOver { return false }
    running[number] = Closure(at: priority)
    return true
  }

  /// The task is known. It is to be cancelled if it is no longer wanted, and to be raised if a task
  /// of higher priority has waited before it was known.
  @_alwaysEmitIntoClient
  mutating func attach(
    _ task: Running, _ number: Int, madeAt priority: TaskPriority
  ) -> (isWanted: Bool, raised: TaskPriority?) {
    // It may be done already.
    running[number]?.task = task
    let raisedTo = running[number]?.raisedTo ?? 0
    return (!isOver, raisedTo > priority.rawValue ? TaskPriority(rawValue: raisedTo) : nil)
  }

  /// A task of this priority waits for any result. Returns the tasks to raise.
  @_alwaysEmitIntoClient
  mutating func raise(to priority: TaskPriority) -> [Running] {
    var raised: [Running] = []
    for number in running.keys where running[number]!.raisedTo < priority.rawValue {
      running[number]!.raisedTo = priority.rawValue
      if let task = running[number]!.task { raised.append(task) }
    }
    return raised
  }

  /// A closure has returned. Its result is moved here; otherwise the task would retain an element
  /// that is a list while it is read.
  @_alwaysEmitIntoClient
  mutating func finished(
    _ number: Int, _ result: inout Result<Output, any Error>?
  ) -> (cancelled: [Running], waiters: [Waiter]) {
    running[number] = nil
    // Nothing is read after a failure.
    guard !isOver, let result = result.take() else { return ([], []) }
    results.append(result)
    if case .failure = result { isOver = true }
    return (isOver ? tasks : [], waiters.removeAll())
  }

  @_alwaysEmitIntoClient
  mutating func next() -> Next {
    guard let result = results.popFirst() else { return .wait(after: taken) }
    taken += 1
    return .result(result)
  }

  @_alwaysEmitIntoClient
  func isMissing(after taken: Int) -> Bool {
    results.isEmpty && self.taken == taken && !isOver
  }

  /// A demand would wait. False if there is something new to check.
  @_alwaysEmitIntoClient
  mutating func wait(_ waiter: Waiter, after taken: Int) -> Bool {
    guard isMissing(after: taken) else { return false }
    waiters.enter(waiter)
    return true
  }

  @_alwaysEmitIntoClient
  mutating func leave(_ waiter: Waiter) { waiters.leave(waiter) }

  @_alwaysEmitIntoClient
  mutating func cancel() -> (cancelled: [Running], waiters: [Waiter]) {
    isOver = true
    return (tasks, waiters.removeAll())
  }
}

/// Retained by the list that is read, and not by the tasks.
@usableFromInline
final class CompletionQueueOwner<Output: Sendable>: Sendable {
  @usableFromInline let queue: CompletionQueue<Output>

  @_alwaysEmitIntoClient
  init(_ queue: CompletionQueue<Output>) { self.queue = queue }

  @_alwaysEmitIntoClient
  deinit { queue.cancel() }
}
