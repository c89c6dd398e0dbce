/// A scheduler that runs work where the caller is, if that is on a scheduler, and else in the
/// background.
///
/// <!-- not run: in no certain order -->
/// ```swift
/// InheritingScheduler.shared.schedule { print("somewhere in the background") }
/// queue.schedule {
///   InheritingScheduler.shared.schedule { print("on the queue, before schedule returns") }
/// }
/// ```
///
/// For code that promises its user a scheduler to be on, and does not care which. Work for later goes
/// to the ``currentScheduler`` of the caller, or to the background. What `run` is given, and a task of
/// `schedule`, stays on the scheduler that the caller was on, also after an `await`. A turn of recursive
/// work runs where it is asked for.
///
/// A task that is made to prefer this scheduler has no caller: it goes on where it is resumed, if
/// that is on a scheduler.
///
/// - Isolation: a scheduler: the caller's, else one in the background.
///
/// Replaces `+[RACScheduler subscriptionScheduler]`.
public final class InheritingScheduler: Scheduler {
  /// The one that there is.
  public static var shared: InheritingScheduler { marked.scheduler }

  /// With a weak reference for good: without any, a search for leaks takes the count of those that
  /// there were for one.
  private static let marked = {
    let scheduler = InheritingScheduler()
    return (scheduler: scheduler, mark: SchedulerMark(scheduler))
  }()

  private let background = QueueScheduler.background(name: "InheritingScheduler.background")

  private init() {}

  public func enqueue(_ work: ScheduledWork) {
    if currentScheduler != nil { work.cell.run() } else { background.enqueue(work) }
  }

  /// Where work goes that does not run in place.
  private var place: any Scheduler { currentScheduler ?? background }

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
