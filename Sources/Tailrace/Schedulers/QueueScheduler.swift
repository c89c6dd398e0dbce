public import Dispatch

/// A scheduler over a serial Dispatch queue: an executor for tasks, and one that actors can live on.
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
///   nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }
/// }
/// ```
///
/// Work runs one piece at a time, in the order in which it came, whatever the queue's target is:
/// closures, jobs of tasks and jobs of actors stand in one line. A burst of work is drained by one
/// Dispatch block, which gives the thread back after a bounded batch, so that other queues on the
/// same target have their turn. Work that is pending keeps the scheduler alive.
///
/// - Isolation: work runs on ``queue``. No thread is blocked.
///
/// Replaces `RACQueueScheduler`, `RACTargetQueueScheduler` and `+[RACScheduler mainThreadScheduler]`.
public final class QueueScheduler: Scheduler, SerialExecutor {
  /// The queue, for what Dispatch delivers: sources, file channels, callbacks of other libraries.
  ///
  /// Blocks that are given to it directly and the scheduler's work exclude each other, but do not
  /// stand in the same line.
  public let queue: DispatchQueue

  /// How many pieces of work a Dispatch block runs before others on the same target have a turn.
  static let batch = 64

  private let target: DispatchQueue?
  private let line = MPSCQueue()
  /// The oldest piece that a drain has taken and not run yet.
  // Guard: `queue`, which is serial. May touch it: `drain()`.
  @exclusivity(unchecked) private nonisolated(unsafe) var taken: Unmanaged<WorkCell>?
  /// Marks the queue, and those that target it, as this scheduler's.
  private let own = DispatchSpecificKey<any Sendable>()
  // Guard: `init`, which is the last to write it. May touch it: anyone, to read.
  private nonisolated(unsafe) var isolation: QueueIsolation!

  /// Creates a scheduler over a serial queue of its own.
  ///
  /// - Parameters:
  ///   - name: the label of the queue, for debugging.
  ///   - qos: the quality of service of the queue.
  ///   - target: where the queue's blocks run in the end, for example a queue that several
  ///     schedulers share. It may be concurrent: the scheduler's work is serial all the same.
  public convenience init(
    name: String = "QueueScheduler", qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil
  ) {
    self.init(queue: DispatchQueue(label: name, qos: qos, target: target), target: target)
  }

  private init(queue: DispatchQueue, target: DispatchQueue? = nil) {
    self.queue = queue
    self.target = target
    isolation = QueueIsolation(self)
    // Dispatch knows a key by its address, and a queue may outlive its scheduler: as its own value
    // the key lives as long as the queue, and no other key is ever at the address of a mark.
    queue.setSpecific(key: own, value: own)
    queue.setSpecific(key: SchedulerMark.key, value: SchedulerMark(self))
  }

  /// The scheduler of the main queue: its work and the code of `MainActor` exclude each other.
  ///
  /// Replaces `+[RACScheduler mainThreadScheduler]`.
  public static let main = QueueScheduler(queue: .main)

  /// Returns a new scheduler in the background: work of one is serial, work of two may run at once.
  ///
  /// Replaces `+[RACScheduler schedulerWithPriority:name:]`.
  public static func background(
    qos: DispatchQoS = .default, name: String = "QueueScheduler.background"
  ) -> QueueScheduler {
    QueueScheduler(name: name, qos: qos)
  }

  /// The label of the queue.
  public var name: String { queue.label }

  // MARK: Taking work

  public func enqueue(_ work: ScheduledWork) {
    if work.cell.queue(), line.add(work.cell) { startDrain() }
  }

  public func enqueue(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork {
    let cell = WorkCell(action, isQueued: true)
    if line.add(cell) { startDrain() }
    return ScheduledWork(cell)
  }

  public func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    let delay = now.duration(to: instant)
    guard delay > .zero else { return enqueue(work) }
    work.cell.setAlarm(after: delay, tolerance: tolerance, on: queue) {
      // On the queue already: it needs no block of its own.
      if work.cell.queue(), self.line.add(work.cell) { self.drain() }
    }
  }

  /// Takes a job of a task that prefers this scheduler, or of an actor that lives on it.
  public func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job), isIsolated: false) }

  func add(_ job: UnownedJob, isIsolated: Bool) {
    if line.open() {
      // Nobody is before it, so that it needs no cell ("Ping-pong").
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

  /// Goes on behind those who wait for the same target.
  ///
  /// Dispatch empties a queue before it looks at the target's next one, so the drain has to leave
  /// the queue. Without a target the queue has a thread of its own.
  private func yieldDrain() {
    guard let target else { return startDrain() }
    target.async { self.startDrain() }
  }

  /// Runs a batch of what is in the line. On the queue; one at a time, from the first piece that
  /// comes into an empty line to the moment when the line is found empty.
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

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    isolation.asUnownedSerialExecutor()
  }

  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  public func checkIsolated() { isolation.checkIsolated() }

  /// Whether this code is on the queue, or on one that targets it, whoever brought it there.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: own) != nil }
}
