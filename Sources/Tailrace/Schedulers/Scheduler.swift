/// Where and when work runs.
///
/// A scheduler is an executor that tasks can prefer, that runs plain closures without making a task
/// for them, and that knows the time.
///
/// <!-- not run: it takes a second -->
/// ```swift
/// let scheduler = QueueScheduler(name: "parsing")
/// scheduler.schedule { print("on the queue") }
/// scheduler.schedule(after: .seconds(1)) { print("a second later") }
/// let sum = await scheduler.run { (1...100).reduce(0, +) }
/// ```
///
/// ``QueueScheduler`` runs work on a Dispatch queue and ``ImmediateScheduler`` in place;
/// `VirtualScheduler` of `TailraceTesting` has a clock that a test moves.
///
/// ### A scheduler of your own
///
/// Two methods are enough: one that takes a job, as every executor has it, and one that takes
/// ``ScheduledWork``. Both bring what they got to where it belongs and hand it there to
/// ``perform(_:)``, in the order in which it came. Work then can be delayed and repeated, too: that
/// is done with Dispatch timers, unless the scheduler says otherwise.
///
/// ```swift
/// final class ThreadScheduler: Scheduler {
///   let thread = DispatchQueue(label: "the thread")
///
///   func enqueue(_ job: consuming ExecutorJob) {
///     let job = UnownedJob(job)
///     thread.async { self.perform(job) }
///   }
///
///   func enqueue(_ work: ScheduledWork) {
///     thread.async { self.perform(work) }
///   }
/// }
/// ```
///
/// Replaces `RACScheduler`.
public protocol Scheduler<Instant>: TaskExecutor {
  /// A point in time, on the clock of this scheduler.
  associatedtype Instant: InstantProtocol = ContinuousClock.Instant
  where Instant.Duration == Duration

  /// What the scheduler's clock shows.
  var now: Instant { get }

  /// Takes work that is to run as soon as what came before it has run.
  ///
  /// Work that was cancelled in the meantime may be performed all the same: it does nothing.
  func enqueue(_ work: ScheduledWork)

  /// Takes a closure that is to run as soon as what came before it has run.
  ///
  /// A scheduler need not implement it: by default the closure is made work, and that is enqueued.
  func enqueue(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork

  /// Takes work that is to run at a time, or up to `tolerance` later.
  ///
  /// A time in the past means as soon as possible. `nil` leaves the tolerance to the scheduler.
  func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?)

  /// Runs an asynchronous closure in a task that prefers this scheduler.
  ///
  /// A scheduler need not implement it, nor ``run(_:)``; those do that run work where the caller is.
  ///
  /// - Isolation: on the scheduler, also after an `await` in it.
  /// - Cancellation: that of the task, which starts also when it is cancelled before its turn.
  @discardableResult
  func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never>

  /// Runs a closure on the scheduler, and returns or throws here.
  ///
  /// ```swift
  /// let sum = await scheduler.run { (1...100).reduce(0, +) }
  /// ```
  ///
  /// - Isolation: on the scheduler, also after an `await` in it.
  /// - Cancellation: runs also in a task that is cancelled, as `MainActor.run` does.
  nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value
}

extension Scheduler where Instant == ContinuousClock.Instant {
  /// What the `ContinuousClock` shows.
  public var now: ContinuousClock.Instant { .now }
}

extension Scheduler {
  public func enqueue(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork {
    let work = ScheduledWork(WorkCell(action))
    enqueue(work)
    return work
  }
}
