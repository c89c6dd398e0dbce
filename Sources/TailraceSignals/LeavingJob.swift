import TailraceSupport
import TailraceLists

/// Leaves a subscription in a job of its own.
///
/// For places where neither handlers nor the releases of elements may run, and where no reader need
/// be awake soon: a cancellation handler runs inside of `Task.cancel()`, under a lock of the runtime.
@usableFromInline
final class LeavingJob<Element: Sendable, Failure: Error>: Sendable {
  private let job = Locked(Task<Void, Never>?.none)
  /// The executor that the subscribing task prefers.
  private let home = StepExecutor.preferredHome

  @usableFromInline
  init() {}

  @usableFromInline
  func start(_ reading: Reading<Element, Failure>) {
    let task = Task(executorPreference: home) { reading.cancel() }
    job.withLock { $0 = task }
  }

  /// Waits until the job, if it was started, is done.
  @usableFromInline
  nonisolated(nonsending) func end() async { await job.withLock { $0 }?.value }
}
