extension Scheduler {
  /// Runs a closure on the scheduler, and returns or throws here.
  ///
  /// ```swift
  /// let sum = await scheduler.run { (1...100).reduce(0, +) }
  /// ```
  ///
  /// - Isolation: on the scheduler, also after an `await` in it.
  /// - Cancellation: runs also in a task that is cancelled, as `MainActor.run` does.
  public func run<Value, Failure: Error>(
    _ body: @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await withTaskExecutorPreference(self, isolation: nil) {
      () async throws(Failure) -> Value in
      try await body()
    }
  }
}

extension Scheduler {
  /// Waits until a point in time on the scheduler's clock.
  ///
  /// ```swift
  /// try await scheduler.sleep(for: .seconds(1))
  /// ```
  ///
  /// - Isolation: returns where it was called; the scheduler's thread only wakes the task.
  /// - Cancellation: throws `CancellationError` at once.
  public func sleep(until instant: Instant, tolerance: Duration? = nil) async throws {
    guard await waits(until: instant, tolerance: tolerance) else { throw CancellationError() }
  }

  /// Waits until a delay is over.
  public func sleep(for delay: Duration, tolerance: Duration? = nil) async throws {
    try await sleep(until: date(after: delay), tolerance: tolerance)
  }

  /// False if the task is cancelled.
  nonisolated(nonsending) func waits(until instant: Instant, tolerance: Duration?) async -> Bool {
    let work = ScheduledWork(WorkCell({}))
    await withTaskCancellationHandler {
      enqueue(work, at: instant, tolerance: tolerance)
      await work.value
    } onCancel: {
      work.cancel()
    }
    return !work.isCancelled
  }
}
