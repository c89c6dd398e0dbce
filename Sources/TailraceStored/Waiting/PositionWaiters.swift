/// Tasks that wait at a position of a list, by number: a value with one method for each event.
///
/// - Parameters:
///   - Outcome: what a task is told.
///   - Continuation: how a task is told; a number, in a test of all orders.
package struct PositionWaiters<Outcome: Sendable, Continuation: Sendable>: Sendable {
  /// A task that goes on, and what it is told, outside of the lock.
  package struct Woken: Sendable {
    package let continuation: Continuation
    package let outcome: Outcome
  }

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
  package private(set) var count = 0

  package init() {}

  /// A task begins to wait. Returns its number.
  package mutating func enter(_ position: Int = 0, deadline: Duration? = nil) -> Int {
    last += 1
    count += 1
    waiters[last] = Waiter(position: position, deadline: deadline, phase: .entered)
    return last
  }

  /// The task has a continuation now. Returns the outcome if the task was told already.
  package mutating func wait(_ number: Int, _ continuation: Continuation) -> Outcome? {
    if case .told(let outcome)? = waiters[number]?.phase {
      waiters[number] = nil
      return outcome
    }
    waiters[number]?.phase = .waiting(continuation)
    return nil
  }

  /// Ends the waiting of one task. Nothing, if it was told before.
  package mutating func tell(_ number: Int, _ outcome: Outcome) -> [Woken] {
    wake(outcome, only: number) { _, _ in true }
  }

  /// Ends the waiting of all tasks for which a condition holds.
  package mutating func wake(
    _ outcome: Outcome, if isReady: (_ position: Int, _ deadline: Duration?) -> Bool
  ) -> [Woken] {
    var woken: [Woken] = []
    // Looked at one by one: changing a dictionary that is iterated over copies it.
    for number in Array(waiters.keys) { woken += wake(outcome, only: number, if: isReady) }
    return woken
  }

  private mutating func wake(
    _ outcome: Outcome, only number: Int,
    if isReady: (_ position: Int, _ deadline: Duration?) -> Bool
  ) -> [Woken] {
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
      return [Woken(continuation: continuation, outcome: outcome)]
    }
  }

  /// The first deadline.
  package var nextDeadline: Duration? {
    waiters.values.lazy.filter { if case .told = $0.phase { false } else { true } }
      .compactMap(\.deadline).min()
  }
}

/// How a task that waits goes on.
package typealias TaskContinuation<Outcome: Sendable> = CheckedContinuation<Outcome, Never>
