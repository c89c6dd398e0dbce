extension QueueScheduler {
  /// Runs a closure that is isolated to the main actor.
  ///
  /// ```swift
  /// QueueScheduler.main.schedule { @MainActor in label.text = "done" }
  /// ```
  ///
  /// - Isolation: on the main actor. Only ``main``, and schedulers that target its queue, run
  ///   there; calling it on another scheduler is a programmer's error, and traps.
  /// - Cancellation: `cancel()` before its turn prevents it from running.
  @discardableResult
  public func schedule(_ action: @escaping @MainActor @Sendable () -> Void) -> ScheduledWork {
    schedule { MainActor.assumeIsolated(action) }
  }
}
