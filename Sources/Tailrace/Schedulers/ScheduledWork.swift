/// Work that a scheduler has been given: a handle to cancel it, and to wait for it.
///
/// ```swift
/// let work = scheduler.schedule { print("later") }
/// work.cancel()         // before its turn: it never runs, and its closure is released now
/// await work.value      // returns when it has run, or never will
/// ```
///
/// It is no scoped handle: work whose handle is dropped goes on. No task is made for it.
///
/// - Cancellation: `cancel()` before its turn means that it never runs. Work that repeats itself is
///   not run again. A closure that is running is not interrupted.
///
/// Replaces `RACDisposable` of `-[RACScheduler schedule:]`.
public struct ScheduledWork: Sendable {
  let cell: WorkCell

  init(_ cell: WorkCell) { self.cell = cell }

  /// Whether the work was cancelled before it was over. True also while its last turn still runs.
  public var isCancelled: Bool { cell.isCancelled }

  /// Whether the work is over: it has run for the last time, or never will.
  public var isOver: Bool { cell.isOver }

  /// Never lets the work run again. Before its turn its closure is released at once, by this call.
  ///
  /// May be called from anywhere, more than once, and by the work itself.
  public func cancel() { cell.cancel() }

  /// Waits until the work is over: until it has run for the last time, or has been cancelled and
  /// no turn of it is running.
  ///
  /// - Cancellation: a task that is cancelled goes on waiting, as with `Task.value`.
  public var value: Void {
    get async { await cell.value }
  }

  /// Calls a closure when the work is over, at once if it is; on the thread that ends the work.
  ///
  /// For schedulers that keep something for the work, such as a timer that is to be cancelled.
  public func onEnd(_ action: @escaping @Sendable () -> Void) { cell.onEnd(action) }

  /// Its turn has come.
  package func run() { cell.run() }
}
