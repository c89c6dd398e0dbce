/// Work given to a scheduler: a handle to cancel it and to wait for it.
///
/// ```swift
/// let work = scheduler.schedule { print("later") }
/// work.cancel()         // before its turn: it never runs, and its closure is released now
/// await work.value      // returns when it has run, or never will
/// ```
///
/// Dropping the handle does not stop the work. The work has no task.
///
/// - Cancellation: `cancel()` before its turn prevents the work from running. Repeated work does
///   not run again. A running closure is not interrupted.
///
/// Replaces `RACDisposable` of `-[RACScheduler schedule:]`.
public struct ScheduledWork: Sendable {
  let cell: WorkCell

  init(_ cell: WorkCell) { self.cell = cell }

  /// Whether the work was cancelled before it was over. Also true while its last turn still runs.
  public var isCancelled: Bool { cell.isCancelled }

  /// Whether the work is over: it has run for the last time, or will never run.
  public var isOver: Bool { cell.isOver }

  /// Prevents the work from running again. Before its turn, this call releases the closure at
  /// once.
  ///
  /// Any code may call it, more than once, including the work itself.
  public func cancel() { cell.cancel() }

  /// Waits until the work is over: until it has run for the last time, or was cancelled and no
  /// turn of it is running.
  ///
  /// - Cancellation: a cancelled task continues to wait, as with `Task.value`.
  public var value: Void {
    get async { await cell.value }
  }

  /// Calls a closure once the work is over, at once if it already is, on the thread that ends it.
  package func onEnd(_ action: @escaping @Sendable () -> Void) { cell.onEnd(action) }

  /// Waits until the work is over. If the task is cancelled, cancels the work.
  ///
  /// The woken task cancels it, and no cancellation handler: actions given to `onEnd` are a
  /// scheduler's, and must not run inside of `Task.cancel()`.
  @usableFromInline
  package nonisolated(nonsending) func endOrCancellation() async {
    if await !cell.isEnded(cancellable: true) { cancel() }
  }

  /// Runs the work in its turn.
  package func run() { cell.run() }
}
