internal import Dispatch
public import Synchronization

/// The one task that runs a list's asynchronous steps, and the executor that it prefers.
///
/// It begins at the first demand and parks between demands. A demand *drives* it: the demand holds
/// the list's claim, resumes the parked task, and runs its jobs in place, while they come back at
/// once. When a step really suspends, the driver waits like any reader. The returning job then runs
/// on the executor that the first demand preferred, or on the global one.
///
/// The task parks by a hop onto this actor, whose executor keeps the job instead of running it.
/// That costs half of a continuation, because nothing looks up where to resume (<doc:TheCell>). The
/// job then runs as one of the task executor, so `park` touches nothing that an actor would have to
/// protect.
///
/// Children of a step inherit the preferred executor; tasks that a step merely starts do not. That
/// shows who waits for whom.
@usableFromInline
final actor StepTask: TaskExecutor, SerialExecutor {
  /// The result of driving the task.
  @usableFromInline
  enum Drive {
    /// It waits for the next demand, or has ended.
    case parked
    /// A step has suspended. The claim stays with the task.
    case suspended
  }

  // Guard: the list's claim; the task has it while it runs. May touch them: the driver and the
  // task.
  @exclusivity(unchecked) private nonisolated(unsafe) var parked: UnownedJob?
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var isParking = false
  /// Counts the runs of the task's own job; and the run in which it parked, or ended.
  @exclusivity(unchecked) private nonisolated(unsafe) var turn: UInt = 0
  private let parkedTurn = Atomic<UInt>(0)
  /// Counts the jobs that came back while a driver was there to run them.
  @exclusivity(unchecked) private nonisolated(unsafe) var comebacks: UInt = 0
  /// Whether a driver that retains the open segment is on the stack below.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) private(set) var isDriven = false
  /// Identifies the task's own job; 0 before it has started.
  @exclusivity(unchecked) private nonisolated(unsafe) var own: UInt = 0
  /// The recording of the running step; 0 for none.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var span: Recorder.Span = 0
  // Guard: written once, before the task starts. May touch it: everyone, afterwards.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) private(set) var home: (any TaskExecutor)?

  /// From the start of the task to its end. The list retains this object, and the task the list.
  private struct Life: Sendable {
    let task: Task<Void, Never>
    let list: any SteppingList
  }

  private let life = Locked(Life?.none)
  private nonisolated var list: (any SteppingList)? { life.withLock { $0?.list } }
  /// A job that has come back; or `attended` if a driver is there to run it, `expected` if one
  /// waits to be woken by it, and otherwise `nobody`.
  private let slot = Atomic<UInt>(0)
  private static var nobody: UInt { 0 }
  private static var attended: UInt { 1 }
  private static var expected: UInt { 2 }
  /// The waiter that expects the task's own job, and its priority.
  // Guard: `slot`; written before that says `expected`. May touch it: the waiter, then the job's
  // bringer.
  @exclusivity(unchecked) private nonisolated(unsafe) var expecting: Waiter?
  private let expectingPriority = Atomic<UInt8>(0)

  /// The position up to which the driver wants elements, in the list's numbering; 0 without a
  /// driver.
  @usableFromInline let wanted = Atomic(0)
  /// The number of tasks on the stack that drive one another.
  private let depth = Atomic(0)
  /// The position of the element being computed.
  @usableFromInline let computed = Atomic(0)
  /// The step, or the look-ahead, that drives this one; it may be over.
  let driver = Locked(StepTask?.none)
  let hasDriver = Atomic(false)
  /// Whether all may read where suspended steps go on.
  private let isKnown = Atomic(false)
  /// The highest priority that has waited.
  private let raisedTo = Atomic<UInt8>(0)
  private var parkings: UInt = 0

  /// The type looked ahead for, if the task is not a list's own.
  let ahead: Any.Type?

  @usableFromInline
  init() { ahead = nil }

  /// The executor of a task that works ahead for a list: a separate node in the wait graph.
  @usableFromInline
  init(aheadOf elements: Any.Type, home: (any TaskExecutor)?) {
    ahead = elements
    self.home = home
  }

  @usableFromInline
  nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

  // MARK: Driving

  /// Makes the task, for the holder of the claim. It begins when it is driven.
  @usableFromInline
  nonisolated func start(_ list: any SteppingList, _ make: () -> Task<Void, Never>) {
    home = Self.preferredHome
    let priority = Task.currentPriority.rawValue
    raisedTo.max(priority, ordering: .relaxed)
    // Its job comes to rest, like that of a parked task.
    slot.store(Self.attended, ordering: .relaxed)
    let started = make()
    own = slot.exchange(Self.nobody, ordering: .acquiringAndReleasing)
    parked = Self.job(own)
    life.withLock { $0 = Life(task: started, list: list) }
    isKnown.store(true, ordering: .releasing)
    // Readers that waited before the task was known could not raise it. They note the priority
    // before they ask for the task, under the lock under which it is stored.
    let raised = raisedTo.load(ordering: .relaxed)
    if raised > priority { escalate(to: TaskPriority(rawValue: raised)) }
    // Abandoned before the task was known.
    if list.isAbandoned { started.cancel() }
  }

  @usableFromInline
  nonisolated var isStarted: Bool { own != 0 }

  /// Resumes the task, and runs it here until it parks or suspends. For the holder of the claim,
  /// which passes to the task.
  @usableFromInline
  nonisolated func drive(isOutermost: Bool) -> Drive {
    guard let job = parked else { preconditionFailure("a list's task was driven while it ran") }
    parked = nil
    let outer = isOutermost ? nil : Self.current
    let depth = (outer?.depth.load(ordering: .relaxed) ?? 0) + 1
    if let outer { driver.withLock { $0 = outer } }
    hasDriver.store(outer != nil, ordering: .relaxed)
    self.depth.store(depth, ordering: .relaxed)
    // Tasks that drive one another share a stack, so the deepest go on elsewhere.
    guard depth <= 8 else {
      list?.isLeft()
      dispatch(job)
      return .suspended
    }
    begin()
    return attend(job, isDriven: true) ? .parked : .suspended
  }

  /// Runs the task's own job, and jobs that come back meanwhile. True if it has parked.
  private nonisolated func attend(_ first: UnownedJob, isDriven: Bool) -> Bool {
    var job = first
    // A step that comes back again and again gets its own thread. So do steps that each come back a
    // few times, after many: other tasks want the thread, too.
    for _ in 0..<64 {
      if run(job, isDriven: isDriven) {
        leave(with: nil)
        return true
      }
      if isDriven, slot.load(ordering: .relaxed) == Self.attended { handOver() }
      let gone = slot.compareExchange(
        expected: Self.attended, desired: Self.nobody, ordering: .acquiringAndReleasing)
      if gone.exchanged { return false }
      // Not the value seen before: the task's own job may have replaced a child's.
      job = Self.job(slot.exchange(Self.attended, ordering: .acquiringAndReleasing))
      comebacks &+= 1
      if comebacks & 1023 == 0 { break }
    }
    if isDriven { handOver() }
    leave(with: job)
    return false
  }

  /// The driver is about to leave. Until it has left, the task's own job goes nowhere else.
  private nonisolated func handOver() {
    list?.isLeft()
    isDriven = false
  }

  /// Stops running jobs here.
  private nonisolated func leave(with job: UnownedJob?) {
    let left = slot.exchange(Self.nobody, ordering: .acquiringAndReleasing)
    if let job { dispatch(job) }
    // A late job: of a child, or the executor of an actor that the step has called.
    if left != Self.attended { dispatch(Self.job(left)) }
  }

  /// Runs one job. True if it was the task's own, and has parked or is over.
  private nonisolated func run(_ job: UnownedJob, isDriven: Bool) -> Bool {
    guard Self.bits(job) == own else {
      job.runSynchronously(on: asUnownedTaskExecutor())
      return false
    }
    // Once the job has suspended it may run elsewhere, and park there: that is another turn.
    turn &+= 1
    let turn = turn
    self.isDriven = isDriven
    job.runSynchronously(on: asUnownedTaskExecutor())
    return parkedTurn.load(ordering: .relaxed) == turn
  }

  // MARK: Jobs

  /// Jobs of the task and of its children arrive here, and those of default actors that they call.
  @usableFromInline
  nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let bits = Self.bits(job)
    if bits == own, isParking {
      isParking = false
      parked = job
      parkedTurn.store(turn, ordering: .relaxed)
      return
    }
    var seen = Self.attended
    while true {
      let taken = slot.compareExchange(
        expected: seen, desired: bits, ordering: .acquiringAndReleasing)
      if taken.exchanged {
        if seen != Self.attended { dispatch(Self.job(seen)) }
        return
      }
      seen = taken.original
      // The task's own job comes before those of its children.
      guard bits == own, seen != Self.nobody else { return dispatch(job) }
      if seen == Self.expected { return bring(job) }
    }
  }

  /// The task's own job, for a reader that waits to drive on.
  private nonisolated func bring(_ job: UnownedJob) {
    let taken = slot.compareExchange(
      expected: Self.expected, desired: Self.bits(job), ordering: .acquiringAndReleasing)
    // The reader has left; or it is leaving now, because it was cancelled.
    guard taken.exchanged else { return dispatch(job) }
    if expecting?.wake(.drive) != true {
      forget()
      slot.store(Self.nobody, ordering: .releasing)
      dispatch(job)
    }
  }

  // MARK: Driving on

  /// A reader is about to wait for a suspended step that may just as well go on in the reader's
  /// place. The reader drives on when the job comes back, which saves telling it.
  ///
  /// - Returns: whether it will be woken for that.
  nonisolated func expect(_ waiter: Waiter, preferring executor: (any TaskExecutor)?) -> Bool {
    guard isKnown.load(ordering: .acquiring), executor === home,
      slot.load(ordering: .relaxed) == Self.nobody
    else { return false }
    // One reader at a time, and none of lower priority than another that has waited.
    let priority = Task.currentPriority.rawValue
    guard raisedTo.load(ordering: .relaxed) <= priority else { return false }
    let isFirst = expectingPriority.compareExchange(
      expected: 0, desired: max(priority, 1), ordering: .acquiringAndReleasing)
    guard isFirst.exchanged else { return false }
    expecting = waiter
    let isFree = slot.compareExchange(
      expected: Self.nobody, desired: Self.expected, ordering: .acquiringAndReleasing)
    guard isFree.exchanged else {
      forget()
      return false
    }
    // A reader of higher priority notes that before it checks who is expected (`raise`).
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if raisedTo.load(ordering: .relaxed) > priority { stopExpecting() }
    return true
  }

  /// Stops expecting the job, if it was expected. The caller that resets the slot forgets the
  /// reader.
  nonisolated func stopExpecting() {
    let stopped = slot.compareExchange(
      expected: Self.expected, desired: Self.nobody, ordering: .acquiringAndReleasing)
    if stopped.exchanged { forget() }
  }

  /// A driver is here to run jobs.
  private nonisolated func begin() {
    if slot.exchange(Self.attended, ordering: .acquiringAndReleasing) == Self.expected { forget() }
  }

  /// The reader was woken for the job, and drives on.
  nonisolated func driveOn() -> Drive {
    let job = slot.exchange(Self.attended, ordering: .acquiringAndReleasing)
    forget()
    depth.store(1, ordering: .relaxed)
    return attend(Self.job(job), isDriven: true) ? .parked : .suspended
  }

  private nonisolated func forget() {
    expecting = nil
    expectingPriority.store(0, ordering: .releasing)
  }

  /// Runs a job where suspended steps go on.
  private nonisolated func dispatch(_ job: UnownedJob) {
    if let home {
      Task(executorPreference: home) { self.runAway(job) }
    } else {
      let priority = ExecutorJob(job).priority
      DispatchQueue.global(qos: DispatchQoS.QoSClass(priority)).async { self.runAway(job) }
    }
  }

  private nonisolated func runAway(_ job: UnownedJob) {
    guard Self.bits(job) == own else { return job.runSynchronously(on: asUnownedTaskExecutor()) }
    depth.store(0, ordering: .relaxed)
    let list = list
    begin()
    // There is no driver: the claim is released for the task.
    if attend(job, isDriven: false) { list?.hasParked() }
  }

  private static func bits(_ job: UnownedJob) -> UInt { unsafeBitCast(job, to: UInt.self) }
  private static func job(_ bits: UInt) -> UnownedJob { unsafeBitCast(bits, to: UnownedJob.self) }

  // MARK: The task's side

  /// The task is about to wait for the next demand.
  @inlinable
  nonisolated func willPark() { isParking = true }

  /// Waits for the next demand, by being here.
  @usableFromInline @inline(never)
  func park() { parkings &+= 1 }

  /// The last step has been taken.
  @usableFromInline
  nonisolated func end() {
    parkedTurn.store(turn, ordering: .relaxed)
    let former = life.withLock { life in
      defer { life = nil }
      return life
    }
    let driver = driver.withLock { driver in
      defer { driver = nil }
      return driver
    }
    // Released outside of the locks.
    _ = (former, driver)
  }

  // MARK: From outside

  @usableFromInline
  nonisolated func cancel() { life.withLock { $0?.task }?.cancel() }

  /// A task of this priority waits.
  @usableFromInline
  nonisolated func raise(to priority: TaskPriority) {
    let (before, _) = raisedTo.max(priority.rawValue, ordering: .relaxed)
    // Noted before the check of who is expected (`expect`): one of the two sees the other.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // A reader of lower priority must not carry the step on.
    if priority.rawValue > expectingPriority.load(ordering: .relaxed) { stopExpecting() }
    if before < priority.rawValue { escalate(to: priority) }
  }

  private nonisolated func escalate(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    life.withLock { $0?.task }?.escalatePriority(to: priority)
  }

  /// A driver wants all elements before a position, unless its task is cancelled.
  ///
  /// The handler of a later cancellation stores 0 (`stopComputing`).
  @usableFromInline
  nonisolated func wantAll(from position: Int, before end: Int) {
    wanted.store(end, ordering: .relaxed)
    // The handler stores after the task is marked as cancelled: one of the two sees the other.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if Task.isCancelled { wanted.store(position + 1, ordering: .relaxed) }
  }

  /// No demand will follow: a parked task ends. For the holder of the claim.
  @usableFromInline
  nonisolated func finish() {
    guard let job = parked else { return cancel() }
    parked = nil
    _ = run(job, isDriven: false)
  }

  @usableFromInline nonisolated var title: String {
    list?.title ?? "LazyList<\(ahead ?? Any.self)>"
  }
  @usableFromInline nonisolated var position: Int { computed.load(ordering: .relaxed) }
}

extension StepTask: Worker {}

/// A task's view of the list whose steps it runs.
@usableFromInline
protocol SteppingList: AnyObject, Sendable {
  var isAbandoned: Bool { get }
  /// The list's name in errors.
  var title: String { get }
  /// The driver leaves, and stops retaining the list.
  func isLeft()
  /// The task has parked without a driver.
  func hasParked()
}

extension DispatchQoS.QoSClass {
  /// The class of a job's priority.
  init(_ priority: JobPriority) {
    self =
      switch priority.rawValue {
      case ..<UInt8(10): .background
      case ..<UInt8(18): .utility
      case ..<UInt8(22): .default
      case ..<UInt8(26): .userInitiated
      default: .userInteractive
      }
  }
}
