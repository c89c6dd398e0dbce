import TailraceSupport

/// Runs a closure until it succeeds, at most so many times, with a longer wait after each failure.
///
/// ```swift
/// let tries = Mutex(0)
/// let answer = try await retrying(first: .milliseconds(1)) {
///   let number = tries.withLock { $0 += 1; return $0 }
///   if number < 3 { throw CocoaError(.fileReadUnknown) }
///   return number
/// }
/// print(answer)   // 3
/// ```
///
/// It belongs in the step of a list or the closure of memos, which knows its own work: readers wait for
/// it as for any step, and it is cancelled when no reader is left and the list cancels such steps. Each
/// wait is twice as long as the one before, up to a limit, less a random part, so that many programs
/// that failed together do not try again together.
///
/// - Parameters:
///   - attempts: how often it runs at most. 1 or more; less is a programmer's error and traps.
///   - first: the wait after the first failure.
///   - limit: the longest wait.
///   - clock: the clock of the waits. A test gives a virtual one.
///   - jitter: the part of a wait that is kept, from 0 to 1.
///   - file: the caller's file, for the trap message.
///   - line: the caller's line.
///   - isRetried: whether a failure is worth another attempt. A cancellation never is.
///   - attempt: the work.
/// - Failure: that of the last attempt, or the first that is not worth another.
/// - Cancellation: a wait throws `CancellationError` at once.
///
/// Replaces `-retry:`.
@_alwaysEmitIntoClient
public nonisolated(nonsending) func retrying<Value>(
  attempts: Int = 5, first: Duration = .milliseconds(100), limit: Duration = .seconds(10),
  on clock: some Clock<Duration> = ContinuousClock(),
  jitter: @Sendable () -> Double = { .random(in: 0.5...1) },
  file: StaticString = #fileID, line: UInt = #line,
  when isRetried: @Sendable (any Error) -> Bool = { _ in true },
  _ attempt: nonisolated(nonsending) () async throws -> sending Value
) async throws -> sending Value {
  require(
    attempts > 0, "retrying(attempts:) takes 1 attempt or more, not \(attempts)", file: file,
    line: line)
  var delay = min(first, limit)
  for _ in 1..<attempts {
    do {
      return try await attempt()
    } catch let error where !(error is CancellationError) && isRetried(error) {
      try await clock.sleep(for: delay * jitter())
      delay = min(delay * 2, limit)
    }
  }
  return try await attempt()
}

/// Runs a closure, and cancels it when it has taken too long.
///
/// ```swift
/// do {
///   try await withTimeout(.milliseconds(1)) { try await Task.sleep(for: .seconds(60)) }
/// } catch let error as TimedOut {
///   print(error)   // timed out after 0.001 seconds
/// }
/// ```
///
/// In the step of a list the limit is the element's: every reader that waits for it gets the error. To
/// limit how long one *reader* waits, put the call around its question:
/// `withTimeout(.seconds(1)) { try await list.head() }`. The list computes on.
///
/// - Parameters:
///   - limit: how long it may take.
///   - clock: the clock of the limit. A test gives a virtual one.
///   - body: the work. It runs in a child task. It must notice its cancellation, for this call waits for
///     its end.
/// - Failure: ``TimedOut``, or the closure's own.
/// - Cancellation: cancels the closure, and gives what it then gives.
@_alwaysEmitIntoClient
public func withTimeout<Value: Sendable>(
  _ limit: Duration, on clock: some Clock<Duration> = ContinuousClock(),
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { .some(try await body()) }
    group.addTask {
      try? await clock.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    while let outcome = try await group.next() {
      if case .some(let value) = outcome { return value }
      // Cancelled, the clock stops first; what the closure makes of it counts.
      if !Task.isCancelled { throw TimedOut(limit: limit) }
    }
    throw CancellationError()
  }
}

/// A closure took longer than ``withTimeout(_:on:_:)`` allows.
public struct TimedOut: Error, Equatable, CustomStringConvertible {
  /// How long it might have taken.
  public let limit: Duration

  /// Creates the error, for a limit of one's own.
  public init(limit: Duration) { self.limit = limit }

  public var description: String { "timed out after \(limit)" }
}
