import TailraceSupport

public import Synchronization

/// The executor of the one task that takes a list's asynchronous steps.
///
/// The task begins at the first demand and parks between demands. A demand *drives* it: the demand
/// holds the producer, resumes the parked task, and runs its jobs in place, while they come back
/// at once. When a step really suspends, the driver leaves. The returning job then runs on the executor
/// that the first demand preferred, or on the global one.
///
/// The task parks by a hop onto this actor, whose executor keeps the job instead of running it.
/// That costs half of a continuation, because nothing looks up where to resume (<doc:MeasuredDesigns>). The
/// job then runs as one of the task executor, so `park` touches nothing that an actor would have to
/// protect.
///
/// Children of a step inherit the executor: what they do comes back to the driver, too. Whose step
/// waits for whom is told by ``WorkerToken``, not by the executor.
@usableFromInline
package final actor StepExecutor: TaskExecutor, SerialExecutor, Worker, Raised {
  /// Where the task's own job is, and the job that has come back.
  @usableFromInline let slot = Atomic(JobSlot(rawValue: 0))
  // Guard: the code that runs the task's job. May touch them: that code, and the task; and all may
  // read `own`, which is set before the task first runs.
  /// The task is about to wait for the next demand: its job, which comes next, is not run.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var isParking = false
  /// The task waits for the next demand. Its runner puts the job into the slot when it has come back:
  /// the next driver may come as soon as the slot says so.
  @exclusivity(unchecked) private nonisolated(unsafe) var hasParked = false
  /// How many jobs a runner runs before it leaves the next one.
  @exclusivity(unchecked) private nonisolated(unsafe) var jobsInPlace = 64
  /// Counts the jobs that came back while a driver was there to run them.
  @exclusivity(unchecked) private nonisolated(unsafe) var inlineResumes: UInt = 0
  /// Identifies the task's own job; 0 before it has started.
  @exclusivity(unchecked) private nonisolated(unsafe) var own: JobSlot.Job = 0
  // Guard: written once, before the task starts. May touch it: everyone, afterwards.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) private(set) var home: (any TaskExecutor)?

  /// From the start of the task to its end. The steps retain this object, and the task the steps.
  private struct Life: Sendable {
    let task: Task<Void, Never>
    let owner: any StepOwner
  }

  private let life = Locked(Life?.none)
  nonisolated var owner: (any StepOwner)? { life.withLock { $0?.owner } }
  /// The reader that waits to run the task's own job, and its priority.
  // Guard: `slot`; written before that says `awaited`. May touch it: the reader, then the one that
  // changes that state.
  @exclusivity(unchecked) private nonisolated(unsafe) var awaiting: Waiter?
  private let awaitingPriority = Atomic<UInt8>(0)

  /// The number of tasks on the stack that drive one another.
  private let depth = Atomic(0)
  /// The position of the element being computed.
  @usableFromInline let computed = Atomic(0)
  private let causedBy = Atomic(Int.max)
  /// Whether its waits end in a cycle.
  let yields = Atomic(false)
  /// Whether `home` is set, and may be read by all.
  private let isKnown = Atomic(false)
  /// The highest priority that has waited.
  private let raisedTo = Atomic<UInt8>(0)
  /// Changed by each `park`, so that the call is not optimised away.
  private var parkings: UInt = 0

  @usableFromInline
  init() {}

  @usableFromInline
  package nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

  /// Applies an event to the slot.
  private nonisolated func update<Result>(_ event: (inout JobSlot) -> Result) -> Result {
    var seen = slot.load(ordering: .relaxed)
    while true {
      var new = seen
      let result = event(&new)
      // Stored also if nothing changes: what was seen may be old.
      let stored = slot.compareExchange(
        expected: seen, desired: new, ordering: .acquiringAndReleasing)
      if stored.exchanged { return result }
      seen = stored.original
    }
  }

  // MARK: Driving

  /// Makes the task, for the holder of the producer. It begins when it is driven.
  @usableFromInline
  nonisolated func start(_ owner: any StepOwner, _ make: () -> Task<Void, Never>) {
    home = Self.preferredHome
    if Exploring.isOn { jobsInPlace = 1 }
    let priority = Task.currentPriority.rawValue
    raisedTo.max(priority, ordering: .relaxed)
    update { $0.starts() }
    let started = make()
    own = update { $0.started() }
    life.withLock { $0 = Life(task: started, owner: owner) }
    isKnown.store(true, ordering: .releasing)
    // Readers that waited before the task was known could not raise it. They note the priority
    // before they ask for the task, under the lock under which it is stored.
    let raised = raisedTo.load(ordering: .relaxed)
    if raised > priority { escalate(to: TaskPriority(rawValue: raised)) }
  }

  /// For the holder of the producer.
  @usableFromInline
  nonisolated var isStarted: Bool { own != 0 }

  /// Whether the task is in a step, for all who look.
  nonisolated var isStepping: Bool { isKnown.load(ordering: .acquiring) && !isResting }

  /// Whether the task waits for a demand, or has ended.
  @inlinable @inline(__always)
  nonisolated var isResting: Bool { slot.load(ordering: .acquiring).isResting }

  /// Resumes the task, and runs it here until it parks. False if a step has suspended. For the
  /// holder of the producer.
  @usableFromInline
  nonisolated func drive() -> Bool {
    // No other event changes a parked slot: it can be stored without an exchange.
    var parked = slot.load(ordering: .acquiring)
    let job = parked.drive()
    slot.store(parked, ordering: .releasing)
    let outer = WorkerToken.runningWorker
    let depth = ((outer as? StepExecutor)?.depth.load(ordering: .relaxed) ?? 0) + 1
    causedBy.store(outer?.cause ?? .max, ordering: .relaxed)
    self.depth.store(depth, ordering: .relaxed)
    // Tasks that drive one another share a stack, so the deepest go on elsewhere.
    guard depth <= 8 else {
      owner?.driverLeaves()
      leave(job)
      return false
    }
    return attend(job, isDriven: true)
  }

  /// The reader was woken for the job, and runs it. True if the task has parked. Otherwise the step has
  /// suspended again.
  nonisolated func runHeldJob() -> Bool {
    let job = update { $0.readerRuns() }
    forget()
    depth.store(1, ordering: .relaxed)
    return attend(job, isDriven: false)
  }

  /// Runs a job of the task, and jobs that come back meanwhile. True if the task has parked.
  private nonisolated func attend(_ first: JobSlot.Job, isDriven: Bool) -> Bool {
    var job = first
    // A step that comes back again and again gets its own thread. So do steps that each come back a
    // few times, after many: other tasks want the thread, too.
    for _ in 0..<jobsInPlace {
      run(job)
      if hasParked {
        hasParked = false
        if !isDriven { owner?.stepIsDone() }
        if let other = update({ $0.parks(own) }) { dispatch(other) }
        return true
      }
      switch slot.load(ordering: .relaxed).state {
      case .ended: return true
      case .running: if isDriven { owner?.driverLeaves() }
      case .parked, .idle, .awaited, .holding: break
      }
      guard let next = update({ $0.next() }) else { return false }
      job = next
      inlineResumes &+= 1
      if inlineResumes & 1023 == 0 { break }
    }
    // Until it has left, the task's own job goes nowhere else.
    if isDriven { owner?.driverLeaves() }
    leave(job)
    return false
  }

  /// The runner leaves a job to the executor where suspended steps go on; so it does a late one, of a
  /// child, or of an actor that the step has called.
  private nonisolated func leave(_ job: JobSlot.Job) {
    let late = update { $0.runnerLeaves() }
    dispatch(job)
    if let late { dispatch(late) }
  }

  // MARK: Jobs

  /// Jobs of the task and of its children arrive here, and those of default actors that they call.
  @usableFromInline
  package nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job).bits
    let isOwn = job == own
    if isOwn, isParking {
      (isParking, hasParked) = (false, true)
      return
    }
    switch update({ $0.arrived(job, isOwn: isOwn) }) {
    case .held: break
    case .dispatch(let job): dispatch(job)
    case .wakeReader:
      if awaiting?.wake(.takeJob) == true { return }
      // It leaves at the same time, for another reason.
      forget()
      update { $0.readerDeclines() }
      dispatch(job)
    }
  }

  private nonisolated func run(_ job: JobSlot.Job) {
    UnownedJob(bits: job).runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs a job where suspended steps go on.
  private nonisolated func dispatch(_ job: JobSlot.Job) {
    let priority = TaskPriority(ExecutorJob(UnownedJob(bits: job)).priority)
    if let home {
      Task(executorPreference: home, priority: priority) { self.runAway(job) }
    } else {
      Task.detached(priority: priority) { self.runAway(job) }
    }
  }

  private nonisolated func runAway(_ job: JobSlot.Job) {
    guard job == own else { return run(job) }
    depth.store(0, ordering: .relaxed)
    let owner = owner
    if update({ $0.begin() }) { forget() }
    if attend(job, isDriven: false) { owner?.taskHasParked() }
  }

  // MARK: Readers that wait to run the job

  /// A reader is about to wait for a suspended step that may just as well go on in the reader's
  /// place. The reader runs the job when it comes back, which saves a wake-up.
  ///
  /// - Returns: whether it will be woken for that.
  nonisolated func readerComes(_ waiter: Waiter) -> Bool {
    guard isKnown.load(ordering: .acquiring), Self.preferredExecutor === home,
      case .idle = slot.load(ordering: .relaxed).state
    else { return false }
    // One reader at a time, and none of lower priority than another that has waited.
    let priority = Task.currentPriority.rawValue
    guard raisedTo.load(ordering: .relaxed) <= priority else { return false }
    let isFirst = awaitingPriority.compareExchange(
      expected: 0, desired: max(priority, 1), ordering: .acquiringAndReleasing)
    guard isFirst.exchanged else { return false }
    awaiting = waiter
    guard update({ $0.readerComes() }) else {
      forget()
      return false
    }
    // A reader of higher priority notes that before it checks who waits for the job (`raise`).
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if raisedTo.load(ordering: .relaxed) > priority { readerLeaves() }
    return true
  }

  /// The reader does not run the job, unless it was woken for that. The code that changes the slot's
  /// state forgets the reader.
  nonisolated func readerLeaves() {
    if update({ $0.readerLeaves() }) { forget() }
  }

  private nonisolated func forget() {
    awaiting = nil
    awaitingPriority.store(0, ordering: .releasing)
  }

  // MARK: The task's side

  /// Suspends: the hop hands the job to `enqueue`, which keeps it.
  @usableFromInline @inline(never)
  package func park() { parkings &+= 1 }

  /// The last step has been taken.
  @usableFromInline
  nonisolated func end() {
    if let other = update({ $0.ends() }) { dispatch(other) }
    let former = life.withLock { $0.take() }
    // Released outside of the lock.
    _ = former
  }

  // MARK: From outside

  nonisolated func cancel() { life.withLock { $0?.task }?.cancel() }

  /// A task of this priority waits.
  @usableFromInline
  nonisolated func raise(to priority: TaskPriority) {
    let (before, _) = raisedTo.max(priority.rawValue, ordering: .relaxed)
    // Noted before the check of who waits for the job (`readerComes`): one of the two sees the other.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // A reader of lower priority must not run the step.
    if priority.rawValue > awaitingPriority.load(ordering: .relaxed) { readerLeaves() }
    if before < priority.rawValue { escalate(to: priority) }
  }

  private nonisolated func escalate(to priority: TaskPriority) {
    life.withLock { $0?.task }?.raise(to: priority)
  }

  /// No demand will follow: a parked task ends, another one is cancelled. One that parks now is ended by
  /// its runner: both exchange the slot.
  ///
  /// - Parameter prepare: called before a parked task ends.
  /// - Returns: whether the task has ended.
  nonisolated func finish(_ prepare: () -> Void) -> Bool {
    let parked: JobSlot.Job? = update { slot in
      if case .parked = slot.state { slot.drive() } else { nil }
    }
    guard let parked else {
      cancel()
      return slot.load(ordering: .relaxed).isResting
    }
    prepare()
    run(parked)
    return true
  }

  @usableFromInline package nonisolated var title: Title {
    owner?.title ?? "LazyList<Any>"
  }
  @usableFromInline package nonisolated var position: Int { computed.load(ordering: .relaxed) }
  @usableFromInline package nonisolated var cause: Int { causedBy.load(ordering: .relaxed) }
}

extension UnownedJob {
  fileprivate init(bits: JobSlot.Job) { self = unsafeBitCast(bits, to: Self.self) }
  fileprivate var bits: JobSlot.Job { unsafeBitCast(self, to: JobSlot.Job.self) }
}
