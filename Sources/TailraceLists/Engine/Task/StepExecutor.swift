import TailraceSupport

public import Synchronization

/// Keeps the one task that takes a list's asynchronous steps, while that task is parked.
///
/// The task begins at the first demand and parks between demands. A demand *drives* it: the demand
/// holds the producer, and runs the parked job in place. When a step suspends, the driver leaves; the
/// step comes back wherever the runtime brings it, and goes on there until the task parks.
///
/// The task parks by a hop onto this actor, whose executor keeps the job instead of running it.
/// That costs half of a continuation, because nothing looks up where to resume (<doc:MeasuredDesigns>).
/// Nothing else hops here, but the task itself when it begins and when its function has returned. The job then
/// runs as one of no actor, so `park` touches nothing that an actor would have to protect.
@usableFromInline
package final actor StepExecutor: SerialExecutor, Worker, Raised {
  /// Where the task's job is.
  @usableFromInline let slot = Atomic(JobSlot(rawValue: 0))
  /// The thread on whose stack the task runs: that of a demand, of its making, or of its end; 0 for none. Code
  /// that reads its own number here runs above that frame.
  @usableFromInline let driverThread = Atomic<UInt>(0)
  // Guard: the thread above.
  /// The task has come to rest on the driver's stack.
  @exclusivity(unchecked) private nonisolated(unsafe) var hasParked = false
  // Guard: written once, before the task starts. May touch it: everyone, afterwards.
  /// The executor that the first demand preferred, and so the task.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) private(set) var home: (any TaskExecutor)?
  // Guard: the holder of the producer.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) private(set) var isStarted = false
  // Guard: the driver that makes the task.
  @exclusivity(unchecked) private nonisolated(unsafe) var hasBegun = false

  /// From the start of the task to its end. The steps retain this object, and the task the steps.
  private struct Life: Sendable {
    let task: Task<Void, Never>
    let owner: any StepOwner
  }

  private let life = Locked(Life?.none)
  nonisolated var owner: (any StepOwner)? { life.withLock { $0?.owner } }

  /// The number of tasks on the stack that drive one another.
  private let depth = Atomic(0)
  /// The position of the element being computed.
  @usableFromInline let computed = Atomic(0)
  private let causedBy = Atomic(Int.max)
  /// Whether its waits end in a cycle.
  let yields = Atomic(false)
  /// Whether the task may be seen by all.
  private let isKnown = Atomic(false)
  /// The highest priority that has waited.
  private let raisedTo = Atomic<UInt8>(0)
  /// Changed by each `park`, so that the call is not optimised away.
  private var parkings: UInt = 0

  @usableFromInline
  init() {}

  @usableFromInline
  package nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

  // MARK: Making the task

  @usableFromInline
  typealias Body = @Sendable @concurrent () async -> Void

  /// Makes the task, for the holder of the producer. It begins when it is driven.
  @usableFromInline
  nonisolated func start(_ owner: any StepOwner, name: String?, _ body: @escaping Body) {
    isStarted = true
    home = Self.preferredHome
    let priority = Task.currentPriority.rawValue
    raisedTo.max(priority, ordering: .relaxed)
    driverThread.store(RunningThread.number(), ordering: .relaxed)
    let task = WorkerToken.making(self) { token in
      make(name) { [self] in
        token.begin()
        await park()
        await body()
        token.end(of: self)
      }
    }
    // It hops here until it has its executor. Then it goes on, and parks.
    while !hasBegun {
      precondition(isResting, "a list's task did not come to its actor before its first step")
      run(takeParked())
    }
    driverThread.store(0, ordering: .relaxed)
    life.withLock { $0 = Life(task: task, owner: owner) }
    isKnown.store(true, ordering: .releasing)
    // Readers that waited before the task was known could not raise it. They note the priority
    // before they ask for the task, under the lock under which it is stored.
    let raised = raisedTo.load(ordering: .relaxed)
    if raised > priority { escalate(to: TaskPriority(rawValue: raised)) }
  }

  /// A task whose first job arrives here. If there is a home, the task comes here once more, with that
  /// preference.
  private func makeHere(_ name: String?, _ body: @escaping Body) -> Task<Void, Never> {
    guard let home else {
      return Task(name: name) {
        parkings &+= 1
        hasBegun = true
        await body()
      }
    }
    return Task(name: name) {
      parkings &+= 1
      let here: () async -> Void = {
        self.parkings &+= 1
        self.hasBegun = true
        await body()
      }
      // It is isolated to this actor, and cannot say so: the function is isolated to none.
      await withTaskExecutorPreference(
        home, isolation: nil, operation: unsafeBitCast(here, to: (@Sendable () async -> Void).self))
    }
  }

  private nonisolated func make(_ name: String?, _ body: @escaping Body) -> Task<Void, Never> {
    // As `assumeIsolated` does, without its check.
    typealias Isolated = (isolated StepExecutor) -> Task<Void, Never>
    typealias Plain = (StepExecutor) -> Task<Void, Never>
    let make: Isolated = { $0.makeHere(name, body) }
    return withoutActuallyEscaping(make) { unsafeBitCast($0, to: Plain.self)(self) }
  }

  // MARK: Driving

  /// Whether the task is in a step, for all who look.
  nonisolated var isStepping: Bool { isKnown.load(ordering: .acquiring) && !isResting }

  /// Whether the task waits for a demand, or has ended.
  @inlinable @inline(__always)
  nonisolated var isResting: Bool { slot.load(ordering: .acquiring).isResting }

  /// For the task, and for the holder of the producer: whether this code runs above a driver's frame.
  @inlinable @inline(__always)
  nonisolated var isDriven: Bool {
    driverThread.load(ordering: .relaxed) == RunningThread.number()
  }

  /// For the holder of the producer: whether no driver is there.
  @inlinable nonisolated var isLeft: Bool { driverThread.load(ordering: .relaxed) == 0 }

  /// Resumes the task, and runs it here. True if it has parked here, or ended. Otherwise its step has
  /// suspended, and may have gone on elsewhere meanwhile: the driver must not look at the slot. For the holder
  /// of the producer.
  @usableFromInline
  nonisolated func drive() -> Bool {
    let job = takeParked()
    let outer = WorkerToken.runningWorker
    causedBy.store(outer?.cause ?? .max, ordering: .relaxed)
    let below = (outer as? StepExecutor).map { $0.isDriven ? $0.depth.load(ordering: .relaxed) : 0 }
    let depth = (below ?? 0) + 1
    self.depth.store(depth, ordering: .relaxed)
    // Tasks that drive one another share a stack, so the deepest go on elsewhere.
    guard depth <= 8 else {
      dispatch(job)
      return false
    }
    hasParked = false
    driverThread.store(RunningThread.number(), ordering: .relaxed)
    run(job)
    let hasParked = hasParked
    driverThread.store(0, ordering: .relaxed)
    return hasParked
  }

  /// The parked job, for one that alone may take it.
  private nonisolated func takeParked() -> JobSlot.Job {
    // No other event changes a parked slot: it can be stored without an exchange.
    var parked = slot.load(ordering: .acquiring)
    guard let job = parked.drive() else { fatalError("a list's task was driven while it ran") }
    slot.store(parked, ordering: .releasing)
    return job
  }

  private nonisolated func run(_ job: JobSlot.Job) {
    UnownedJob(bits: job).runSynchronously(on: .generic)
  }

  /// Runs a job where the task would go on after a suspension.
  private nonisolated func dispatch(_ job: JobSlot.Job) {
    let priority = TaskPriority(ExecutorJob(UnownedJob(bits: job)).priority)
    if let home {
      Task(executorPreference: home, priority: priority) { self.run(job) }
    } else {
      Task.detached(priority: priority) { self.run(job) }
    }
  }

  // MARK: The task's side

  /// Suspends: the hop hands the job to `enqueue`, which keeps it.
  @usableFromInline @inline(never)
  package func park() { parkings &+= 1 }

  /// The task's job arrives: the task parks.
  @usableFromInline
  package nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job).bits
    var slot = slot.load(ordering: .relaxed)
    // The steps are over, and the task's function returns.
    if case .ended = slot.state { return run(job) }
    slot.parks(job)
    if isDriven {
      hasParked = true
      self.slot.store(slot, ordering: .releasing)
      return
    }
    // Retained: the next driver may come, and go, as soon as the slot says *parked*.
    let owner = owner
    owner?.stepIsDone()
    // An exchange, as that of `finish`: the second of the two sees the first.
    _ = self.slot.exchange(slot, ordering: .acquiringAndReleasing)
    owner?.taskHasParked()
  }

  /// The last step has been taken.
  @usableFromInline
  nonisolated func end() {
    var slot = slot.load(ordering: .relaxed)
    slot.ends()
    let isDriven = isDriven
    if isDriven { hasParked = true }
    _ = self.slot.exchange(slot, ordering: .acquiringAndReleasing)
    // Released outside of the lock.
    let former = life.withLock { $0.take() }
    if !isDriven { former?.owner.taskHasParked() }
  }

  // MARK: From outside

  nonisolated func cancel() { life.withLock { $0?.task }?.cancel() }

  /// A task of this priority waits.
  @usableFromInline
  nonisolated func raise(to priority: TaskPriority) {
    let (before, _) = raisedTo.max(priority.rawValue, ordering: .relaxed)
    if before < priority.rawValue { escalate(to: priority) }
  }

  private nonisolated func escalate(to priority: TaskPriority) {
    life.withLock { $0?.task }?.raise(to: priority)
  }

  /// No demand will follow: a parked task ends, another one is cancelled. One that parks now ends itself:
  /// one of the two takes the parked job.
  ///
  /// - Parameter prepare: called before a parked task ends.
  /// - Returns: whether the task has ended.
  nonisolated func finish(_ prepare: () -> Void) -> Bool {
    var seen = slot.load(ordering: .acquiring)
    while true {
      var new = seen
      let job = new.drive()
      // Stored also if nothing changes: what was seen may be old.
      let stored = slot.compareExchange(
        expected: seen, desired: new, ordering: .acquiringAndReleasing)
      guard stored.exchanged else {
        seen = stored.original
        continue
      }
      guard let job else {
        cancel()
        return seen.isResting
      }
      prepare()
      driverThread.store(RunningThread.number(), ordering: .relaxed)
      run(job)
      driverThread.store(0, ordering: .relaxed)
      return true
    }
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

extension UnownedSerialExecutor {
  /// No actor's: as the runtime runs a job on the global executor, or on the one that the task prefers.
  fileprivate static var generic: Self { unsafeBitCast((0, 0), to: Self.self) }
}
