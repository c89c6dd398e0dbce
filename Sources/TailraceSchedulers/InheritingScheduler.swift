/// A scheduler that runs work on the caller's scheduler, or in the background if there is none.
///
/// <!-- not run: in no certain order -->
/// ```swift
/// InheritingScheduler.shared.schedule { print("somewhere in the background") }
/// queue.schedule {
///   InheritingScheduler.shared.schedule { print("on the queue, before schedule returns") }
/// }
/// ```
///
/// Use it for code that promises its caller a scheduler, no matter which. Delayed and repeated work
/// goes to the caller's ``currentScheduler``, or to the background. The closure of `run` and a task
/// of `schedule` stay on the caller's scheduler, also after an `await`. A turn of recursive work
/// runs where it was requested.
///
/// Delays, intervals, `sleep(for:)` and `ticks` count on the clock of the caller's scheduler, which
/// may be virtual. Instants are those of the `ContinuousClock`.
///
/// A task that prefers this scheduler has no caller: it continues where it is resumed, if that is
/// on a scheduler.
///
/// - Isolation: the caller's scheduler, or one in the background.
///
/// Replaces `+[RACScheduler subscriptionScheduler]`.
public final class InheritingScheduler: Scheduler {
  /// The only instance.
  public static var shared: InheritingScheduler { marked.scheduler }

  /// Holds a weak reference for good: without one, leak detection mistakes the count of former
  /// weak references for a leak.
  private static let marked = {
    let scheduler = InheritingScheduler()
    return (scheduler: scheduler, mark: SchedulerMark(scheduler))
  }()

  private let background = QueueScheduler.background(name: "InheritingScheduler.background")

  private init() {}

  public func enqueue(_ work: ScheduledWork) {
    if callersScheduler != nil { work.cell.run() } else { background.enqueue(work) }
  }

  /// The scheduler of the caller, never this one: code that makes this one the current scheduler
  /// (`performAsCurrent`) names no place.
  private var callersScheduler: (any Scheduler)? {
    let scheduler = currentScheduler
    return scheduler === self ? nil : scheduler
  }

  /// The scheduler for work that does not run in place. Never this one.
  var place: any Scheduler { callersScheduler ?? background }

  public func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    let delay = now.duration(to: instant)
    guard delay > .zero || work.cell.kind == .repeatedly else { return enqueue(work) }
    place.enqueue(work, after: delay, tolerance: tolerance)
  }

  /// Takes a job of a task that prefers this scheduler.
  public func enqueue(_ job: consuming ExecutorJob) { place.enqueue(job) }

  @discardableResult
  public func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    place.schedule(action)
  }

  public nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await place.run(body)
  }
}

extension Scheduler {
  fileprivate func enqueue(_ work: ScheduledWork, after delay: Duration, tolerance: Duration?) {
    enqueue(work, at: date(after: delay), tolerance: tolerance)
  }
}
