import TailraceSupport
import Synchronization

/// The step, or the look-ahead, that drives a list's task, or causes its look-ahead; it may be over.
/// Mostly there is none, and no lock is taken.
struct LatestDriver: ~Copyable, Sendable {
  private let executor = Locked(StepExecutor?.none)
  /// Whether there is one. Only the holder of the claim, and the running task, write it; for
  /// look-ahead, the one that begins it.
  private let exists = Atomic(false)

  var current: StepExecutor? {
    exists.load(ordering: .relaxed) ? executor.withLock { $0 } : nil
  }

  func note(_ driver: StepExecutor?) {
    guard driver != nil || exists.load(ordering: .relaxed) else { return }
    let former = executor.withLock { executor in
      defer { executor = driver }
      return executor
    }
    exists.store(driver != nil, ordering: .relaxed)
    // Released outside of the lock.
    _ = former
  }
}
