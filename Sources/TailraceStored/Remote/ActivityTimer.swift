import TailraceSupport

/// When something was last heard of a connection, or when something was sent to it that it must take.
final class ActivityTimer: Sendable {
  private let now: @Sendable () -> Duration
  /// `nil`: nothing is waited for.
  private let begun = Locked<Duration?>(nil)

  init(_ now: @escaping @Sendable () -> Duration) { self.now = now }

  func restart() {
    let now = now()
    begun.withLock { $0 = now }
  }

  func stop() { begun.withLock { $0 = nil } }

  /// Runs a body, unless something is waited for longer than a limit.
  ///
  /// - Parameters:
  ///   - error: thrown then.
  ///   - isIdle: called now and then; returns after which time at most it wants to be called.
  nonisolated(nonsending) func run<Value: Sendable>(
    atMost limit: Duration, on clock: any Clock<Duration>, otherwise error: any Error,
    whileIdle isIdle: (@Sendable () -> Duration)? = nil,
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask { [self] in
        while true {
          let rest = begun.withLock { $0 }.map { limit - (now() - $0) } ?? limit
          guard rest > .zero else { throw error }
          try await clock.sleep(for: min(rest, isIdle?() ?? rest))
        }
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() ?? nil else { throw CancellationError() }
      return value
    }
  }
}
