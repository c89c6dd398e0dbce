/// A scheduler that runs work in place: before `schedule` returns, on the caller's thread.
///
/// ```swift
/// ImmediateScheduler.shared.schedule { print("first") }
/// print("second")
/// // first
/// // second
/// ```
///
/// Use it for code that takes a scheduler and must run in place. Delayed work runs later, on a
/// Dispatch thread; the caller does not wait for it.
///
/// As an executor it has no effect: a task that was suspended continues in the global pool.
///
/// - Isolation: the caller's. It does not change ``currentScheduler``.
///
/// Replaces `+[RACScheduler immediateScheduler]`, which blocks the thread for delayed work.
public final class ImmediateScheduler: Scheduler {
  /// The only instance.
  public static var shared: ImmediateScheduler { marked.scheduler }

  /// Holds a weak reference for good: without one, leak detection mistakes the count of former
  /// weak references for a leak.
  private static let marked = {
    let scheduler = ImmediateScheduler()
    return (scheduler: scheduler, mark: SchedulerMark(scheduler))
  }()

  private init() {}

  public func enqueue(_ work: ScheduledWork) { work.cell.run() }

  public func enqueue(_ work: ScheduledWork, at instant: Instant, tolerance: Duration?) {
    let delay = now.duration(to: instant)
    // A late repetition would begin on the stack of the previous turn.
    guard delay > .zero || work.cell.kind == .repeatedly else { return work.cell.run() }
    work.cell.setAlarm(after: delay, tolerance: tolerance, on: .global()) { work.cell.run() }
  }

  /// Takes a job of a task that prefers this scheduler, and hands it to the global pool.
  public func enqueue(_ job: consuming ExecutorJob) { globalConcurrentExecutor.enqueue(job) }

  /// Starts a task here, and runs it until it first suspends; it continues in the global pool.
  ///
  /// On platforms without immediate tasks, it starts in the global pool.
  @discardableResult @_disfavoredOverload
  public func schedule(_ action: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate(operation: action)
    } else {
      Task(operation: action)
    }
  }

  /// Runs a closure like a plain call, in the caller's isolation.
  public nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await body()
  }
}
