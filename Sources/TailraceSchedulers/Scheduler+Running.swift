extension Scheduler {
  public nonisolated(nonsending) func run<Value, Failure: Error>(
    _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
  ) async throws(Failure) -> sending Value {
    try await withTaskExecutorPreference(self) {
      @concurrent () async throws(Failure) -> Value in
      try await call(body)
    }
  }
}

/// Calls a closure in place.
///
/// Swift 6.3.1 omits the hop to the scheduler before a call of a parameter that runs in its
/// caller's isolation, as if it could run anywhere. It does not omit it before a call of a
/// function.
private nonisolated(nonsending) func call<Value, Failure: Error>(
  _ body: nonisolated(nonsending) @Sendable () async throws(Failure) -> sending Value
) async throws(Failure) -> sending Value {
  try await body()
}

extension Scheduler {
  /// Waits until a point in time on the scheduler's clock.
  ///
  /// <!-- not run: it takes a second -->
  /// ```swift
  /// try await scheduler.sleep(for: .seconds(1))
  /// ```
  ///
  /// A past time returns at once, without a turn of the scheduler.
  ///
  /// - Isolation: returns in the caller's isolation; the scheduler's thread only wakes the task.
  /// - Cancellation: throws `CancellationError` at once.
  public func sleep(until instant: Instant, tolerance: Duration? = nil) async throws {
    guard await waits(until: instant, tolerance: tolerance) else { throw CancellationError() }
  }

  /// Waits until a point in time, on a scheduler of which only `any Scheduler` is known.
  ///
  /// The instant is of this scheduler's clock. An instant of another clock is a programmer's error,
  /// and traps.
  @_disfavoredOverload
  public func sleep(
    until instant: any InstantProtocol<Duration>, tolerance: Duration? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await sleep(until: own(instant, file, line), tolerance: tolerance)
  }

  /// Waits for a delay.
  public func sleep(for delay: Duration, tolerance: Duration? = nil) async throws {
    try await sleep(until: date(after: delay), tolerance: tolerance)
  }

  /// False if the task is cancelled.
  nonisolated(nonsending) func waits(until instant: Instant, tolerance: Duration?) async -> Bool {
    // Otherwise a virtual clock would have to be advanced by nothing.
    guard instant > now else { return !Task.isCancelled }
    let work = ScheduledWork(WorkCell({}))
    enqueue(work, at: instant, tolerance: tolerance)
    await work.endOrCancellation()
    return !work.isCancelled
  }
}
