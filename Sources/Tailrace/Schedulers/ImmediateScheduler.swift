/// A scheduler that runs work in place: before `schedule` returns, on the caller's thread.
///
/// ```swift
/// ImmediateScheduler.shared.schedule { print("first") }
/// print("second")
/// // first
/// // second
/// ```
///
/// It is for code that takes a scheduler and must not go anywhere. Work that is scheduled for later
/// runs later, on a thread of Dispatch's; nothing waits for it.
///
/// As an executor it adds nothing: a task that was suspended has no place of its own to go on at, and
/// goes on in the global pool.
///
/// - Isolation: the caller's. It does not change ``currentScheduler``.
///
/// Replaces `+[RACScheduler immediateScheduler]`, which blocks the thread where work is delayed.
public final class ImmediateScheduler: Scheduler {
  /// The one that there is.
  public static var shared: ImmediateScheduler { marked.scheduler }

  /// With a weak reference for good: without any, a search for leaks takes the count of those that
  /// there were for one.
  private static let marked = {
    let scheduler = ImmediateScheduler()
    return (scheduler: scheduler, mark: SchedulerMark(scheduler))
  }()

  private init() {}

  public func enqueue(_ work: ScheduledWork) { work.cell.run() }

  public func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    let delay = now.duration(to: instant)
    // A repetition that is late would begin on the stack of the turn before.
    guard delay > .zero || work.cell.kind == .repeatedly else { return work.cell.run() }
    work.cell.setAlarm(after: delay, tolerance: tolerance, on: .global()) { work.cell.run() }
  }

  /// Takes a job of a task that prefers this scheduler, and hands it to the global pool.
  public func enqueue(_ job: consuming ExecutorJob) { globalConcurrentExecutor.enqueue(job) }

  /// Starts a task here, and runs it until it first suspends; then it goes on in the global pool.
  ///
  /// Where the platform has no immediate tasks, it starts in the global pool.
  @discardableResult
  public func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(operation: action)
    } else {
      Task(operation: action)
    }
  }

  /// Runs a closure as a call would: in the isolation of the caller, without going anywhere.
  public nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await body()
  }
}
