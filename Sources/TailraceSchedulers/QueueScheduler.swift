public import Dispatch

/// A scheduler over a serial Dispatch queue: an executor for tasks and for actors.
///
/// ```swift
/// let scheduler = QueueScheduler(name: "parsing", qos: .utility)
/// scheduler.schedule { print("first") }
/// await scheduler.schedule { print("second") }.value
/// // first
/// // second
///
/// actor Parser {
///   private let scheduler = QueueScheduler(name: "parser")
///   nonisolated var unownedExecutor: UnownedSerialExecutor {
///     scheduler.asUnownedSerialExecutor()
///   }
/// }
/// ```
///
/// Work runs one piece at a time, in the order of arrival, whatever the queue's target: closures,
/// jobs of tasks and jobs of actors share one order. One Dispatch block drains a burst of work.
/// After a bounded batch it gives the thread back, so that other queues on the same target have a
/// turn. Pending work retains the scheduler.
///
/// - Isolation: work runs on ``queue``. It blocks no thread.
///
/// Replaces `RACQueueScheduler`, `RACTargetQueueScheduler` and `+[RACScheduler mainThreadScheduler]`.
// Guard: a class that others inherit from says this itself. All fields are constants, or carry the
// guard of their own; the only subclass, `MainQueueScheduler`, has no field. May touch it: anyone.
public class QueueScheduler: Scheduler, SerialExecutor, @unchecked Sendable {
  /// The queue, for Dispatch sources, file channels and callbacks of other libraries.
  ///
  /// Blocks added to it directly and the scheduler's work exclude each other, but their order is
  /// not shared.
  public final let queue: DispatchQueue

  /// How many pieces of work a Dispatch block runs before other queues on the target have a turn.
  static let batch = 64

  private let target: DispatchQueue?
  private let line = MPSCQueue()
  /// The oldest piece taken by a drain and not run yet.
  // Guard: `queue`, which is serial. May touch it: `drain()`.
  @exclusivity(unchecked) private nonisolated(unsafe) var taken: Unmanaged<WorkCell>?
  /// Marks the queue, and those that target it, as belonging to this scheduler.
  private let own = DispatchSpecificKey<any Sendable>()
  // Guard: `init`, which writes it last. May touch it: anyone, to read.
  private nonisolated(unsafe) var isolation: QueueIsolation!

  /// Creates a scheduler over its own serial queue.
  ///
  /// - Parameters:
  ///   - name: the label of the queue, for debugging.
  ///   - qos: the quality of service of the queue.
  ///   - target: the queue on which the blocks finally run, for example one that several
  ///     schedulers share. It may be concurrent: the scheduler's work stays serial.
  public convenience init(
    name: String = "QueueScheduler", qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil
  ) {
    self.init(queue: DispatchQueue(label: name, qos: qos, target: target), target: target)
  }

  init(queue: DispatchQueue, target: DispatchQueue? = nil) {
    self.queue = queue
    self.target = target
    isolation = QueueIsolation(self)
    // Dispatch identifies a key by its address, and a queue may outlive its scheduler. As its own
    // value the key lives as long as the queue, so no other key gets the address of a mark.
    queue.setSpecific(key: own, value: own)
    queue.setSpecific(key: SchedulerMark.key, value: SchedulerMark(self))
  }

  /// The scheduler of the main queue: its work and the code of `MainActor` exclude each other.
  ///
  /// Its plain closures are isolated to the main actor:
  ///
  /// ```swift
  /// @MainActor final class Screen {
  ///   var title = ""
  ///   func refresh() { QueueScheduler.main.schedule { self.title = "done" } }
  /// }
  /// ```
  ///
  /// Replaces `+[RACScheduler mainThreadScheduler]`.
  public static let main = MainQueueScheduler()

  /// Returns a new background scheduler: each runs its work serially, and two may run at once.
  ///
  /// Replaces `+[RACScheduler schedulerWithPriority:name:]`.
  public static func background(
    qos: DispatchQoS = .default, name: String = "QueueScheduler.background"
  ) -> QueueScheduler {
    QueueScheduler(name: name, qos: qos)
  }

  /// The label of the queue.
  public final var name: String { queue.label }

  // MARK: Taking work

  public final func enqueue(_ work: ScheduledWork) {
    if work.cell.queue(), line.add(work.cell) { startDrain() }
  }

  public final func enqueue(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork {
    let cell = WorkCell(action, isQueued: true)
    if line.add(cell) { startDrain() }
    return ScheduledWork(cell)
  }

  public final func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    let delay = now.duration(to: instant)
    guard delay > .zero else { return enqueue(work) }
    work.cell.setAlarm(after: delay, tolerance: tolerance, on: queue) {
      // Already on the queue: it needs no block of its own.
      if work.cell.queue(), self.line.add(work.cell) { self.drain() }
    }
  }

  /// Takes a job of a task that prefers this scheduler, or of an actor on it.
  public final func enqueue(_ job: consuming ExecutorJob) {
    add(UnownedJob(job), isIsolated: false)
  }

  final func add(_ job: UnownedJob, isIsolated: Bool) {
    if line.open() {
      // The queue is empty, so the job needs no cell ("Ping-pong").
      queue.async {
        self.run(job, isIsolated: isIsolated)
        self.drain()
      }
    } else if line.add(WorkCell(job, isIsolated: isIsolated)) {
      startDrain()
    }
  }

  // MARK: Running it

  private func startDrain() {
    queue.async { self.drain() }
  }

  /// Continues after the other queues that wait for the same target.
  ///
  /// Dispatch empties a queue before it takes the target's next one, so the drain must leave the
  /// queue. Without a target the queue has its own thread.
  private func yieldDrain() {
    guard let target else { return startDrain() }
    target.async { self.startDrain() }
  }

  /// Runs a batch of the queued work, on the queue. Only one drain is active, from the first piece
  /// queued until the queue is found empty.
  private func drain() {
    for _ in 0..<Self.batch {
      if taken == nil { taken = line.take() }
      guard let next = taken else { return }
      let (kind, following) = next._withUnsafeGuaranteedRef { ($0.kind, $0.neighbor) }
      taken = following
      switch kind {
      case .job, .isolatedJob:
        let job = next.takeRetainedValue().job
        if let job { run(job, isIsolated: kind == .isolatedJob) }
      case .once, .repeatedly, .recursively:
        WorkCell.take(next)
      }
    }
    yieldDrain()
  }

  private func run(_ job: UnownedJob, isIsolated: Bool) {
    if isIsolated {
      job.runSynchronously(on: asUnownedSerialExecutor())
    } else {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  // MARK: An executor for actors

  public final func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    isolation.asUnownedSerialExecutor()
  }

  /// Whether this code runs on the queue, or on a queue that targets it. A closure that code on the
  /// queue runs with `sync` on another queue is elsewhere: Dispatch has no query for that.
  public final func isIsolatingCurrentContext() -> Bool? { isCurrent }

  public final func checkIsolated() { isolation.checkIsolated() }

  /// Whether this code runs on the queue, or on a queue that targets it, however it got there.
  final var isCurrent: Bool { DispatchQueue.getSpecific(key: own) != nil }
}
