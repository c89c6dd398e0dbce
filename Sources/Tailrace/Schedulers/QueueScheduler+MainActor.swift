extension QueueScheduler {
  /// Runs a closure that is isolated to the main actor.
  ///
  /// ```swift
  /// QueueScheduler.main.schedule { @MainActor in label.text = "done" }
  /// ```
  ///
  /// - Isolation: on the main actor. Only ``main``, and schedulers that target its queue, run there; on
  ///   another one it is a programmer's error, and traps.
  /// - Cancellation: `cancel()` before its turn means that it never runs.
  @discardableResult
  public func schedule(_ action: @escaping @MainActor @Sendable () -> Void) -> ScheduledWork {
    schedule { MainActor.assumeIsolated(action) }
  }
}
