/// Tasks that wait at a position of a list, by number: a value with one method for each event.
struct PositionWaiters<Outcome: Sendable>: Sendable {
  typealias Continuation = CheckedContinuation<Outcome, Never>
  /// Whom to tell what, outside of the lock.
  typealias Woken = [(continuation: Continuation, outcome: Outcome)]

  private struct Waiter {
    var position: Int
    var deadline: Duration?
    var phase: Phase
  }

  private enum Phase {
    /// It has no continuation yet.
    case entered
    case waiting(Continuation)
    /// It was told before it had one.
    case told(Outcome)
  }

  private var last = 0
  private var waiters: [Int: Waiter] = [:]
  /// How many wait.
  private(set) var count = 0

  mutating func enter(_ position: Int, deadline: Duration? = nil) -> Int {
    last += 1
    count += 1
    waiters[last] = Waiter(position: position, deadline: deadline, phase: .entered)
    return last
  }

  /// Returns the outcome if there is one already.
  mutating func wait(_ number: Int, _ continuation: Continuation) -> Outcome? {
    if case .told(let outcome)? = waiters[number]?.phase {
      waiters[number] = nil
      return outcome
    }
    waiters[number]?.phase = .waiting(continuation)
    return nil
  }

  /// Ends the waiting of one task. Nothing, if it was told before.
  mutating func tell(_ number: Int, _ outcome: Outcome) -> Woken {
    wake(outcome, only: number) { _, _ in true }
  }

  /// Ends the waiting of all tasks for which a condition holds.
  mutating func wake(
    _ outcome: Outcome, if isReady: (_ position: Int, _ deadline: Duration?) -> Bool
  ) -> Woken {
    var woken: Woken = []
    // Looked at one by one: changing a dictionary that is iterated over copies it.
    for number in Array(waiters.keys) { woken += wake(outcome, only: number, if: isReady) }
    return woken
  }

  private mutating func wake(
    _ outcome: Outcome, only number: Int,
    if isReady: (_ position: Int, _ deadline: Duration?) -> Bool
  ) -> Woken {
    guard let waiter = waiters[number], isReady(waiter.position, waiter.deadline) else { return [] }
    switch waiter.phase {
    case .told: return []
    case .entered:
      waiters[number]?.phase = .told(outcome)
      count -= 1
      return []
    case .waiting(let continuation):
      waiters[number] = nil
      count -= 1
      return [(continuation, outcome)]
    }
  }

  /// The first deadline.
  var nextDeadline: Duration? {
    waiters.values.lazy.filter { if case .told = $0.phase { false } else { true } }
      .compactMap(\.deadline).min()
  }
}

// What is done outside of the lock.
extension PositionWaiters {
  static func tell(_ woken: Woken) {
    for (continuation, outcome) in woken { continuation.resume(returning: outcome) }
  }

  /// Suspends until the task is told.
  ///
  /// - Parameters:
  ///   - wait: `wait(_:_:)`, under the lock.
  ///   - cancel: tells the task that it is cancelled, under the lock.
  static nonisolated(nonsending) func outcome(
    of wait: (Continuation) -> Outcome?, onCancel cancel: @Sendable () -> Woken
  ) async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let early = wait(continuation) { continuation.resume(returning: early) }
      }
    } onCancel: {
      tell(cancel())
    }
  }
}
