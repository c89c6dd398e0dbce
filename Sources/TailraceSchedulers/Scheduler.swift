/// Decides where and when work runs.
///
/// A scheduler is an executor that tasks can prefer. It also runs plain closures without making a
/// task for them, and has a clock.
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
/// Implement two methods: one takes a job, as in every executor, and one takes ``ScheduledWork``.
/// Both bring it to its place and pass it to ``perform(_:)`` there, in the order of arrival. Work
/// can then also be delayed and repeated, with Dispatch timers unless the scheduler implements its
/// own.
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

  /// The present time on the scheduler's clock.
  var now: Instant { get }

  /// Takes work to run as soon as earlier work has run.
  ///
  /// It may perform work that was cancelled meanwhile: that does nothing.
  func enqueue(_ work: ScheduledWork)

  /// Takes a closure to run as soon as earlier work has run.
  ///
  /// Optional: by default the closure becomes work, which is enqueued.
  func enqueue(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork

  /// Takes work to run at a time, or up to `tolerance` later.
  ///
  /// A past time means as soon as possible. With `nil` the scheduler chooses the tolerance.
  func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?)

  /// Runs an asynchronous closure in a task that prefers this scheduler.
  ///
  /// Implement it and ``run(_:)`` only to run work where the caller is.
  ///
  /// - Isolation: on the scheduler, also after an `await` in the closure.
  /// - Cancellation: that of the task, which starts even if cancelled before its turn.
  // Disfavoured, as all that take a closure of any isolation: where a scheduler has a method for
  // closures of an actor, a closure literal is of that actor.
  @discardableResult @_disfavoredOverload
  func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never>

  /// Runs a closure on the scheduler, and returns its value or throws its error here.
  ///
  /// ```swift
  /// let sum = await scheduler.run { (1...100).reduce(0, +) }
  /// ```
  ///
  /// - Isolation: on the scheduler, also after an `await` in the closure.
  /// - Cancellation: runs even in a cancelled task, as `MainActor.run` does.
  nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value
}

extension Scheduler where Instant == ContinuousClock.Instant {
  /// The present time of the `ContinuousClock`.
  public var now: ContinuousClock.Instant { .now }
}

extension Scheduler {
  public func enqueue(_ action: consuming @escaping @Sendable () -> Void) -> ScheduledWork {
    let work = ScheduledWork(WorkCell(action))
    enqueue(work)
    return work
  }
}
