/// The readers that wait for a suspended step, as a value: one method per event.
///
/// | Event          | Changes                                                                   |
/// |----------------|---------------------------------------------------------------------------|
/// | `comes`        | a driver that will wait if its step suspends is on its way                  |
/// | `enter`        | it waits, or another reader does                                          |
/// | `departs`      | it will not wait; the step is told if nobody does                         |
/// | `leave`        | a waiter leaves; the step is told if nobody waits any more                |
/// | `stepWaits`    | the step waits, and is to be told if nobody waits for it                  |
/// | `stepGoesOn`   | the step does not wait any more                                           |
/// | `failed`       | the attempts at one element have failed for now: told once it has parked  |
/// | `parked`       | the task has parked: all who wait look again                              |
///
/// A reader that looks again asks for the `failure` of the attempt that it waited for.
struct StepWaiters<Waiter: AnyObject & Sendable>: Sendable {
  private(set) var waiters = WaiterSet<Waiter>()
  /// The driver of that attempt is on its way to wait; 0 for none. Only steps that are cancelled when
  /// nobody waits for them say it.
  private(set) var coming = 0
  /// With it the step waits, to be told when nobody waits for the step.
  private(set) var step: Waiter?
  /// The failure of the last attempt at an element, and the numbers of all attempts at it so far.
  private(set) var failure: (error: any Error, attempts: ClosedRange<Int>)?
  /// That of the attempt whose task is about to park. Told before, a reader could come back to the same
  /// attempt, and be told again.
  private(set) var settling: (error: any Error, attempts: ClosedRange<Int>)?

  mutating func comes(_ attempt: Int) { coming = attempt }

  /// - Parameter own: the attempt that the reader has begun; 0 for none.
  mutating func enter(_ waiter: Waiter, beginning own: Int = 0) {
    waiters.enter(waiter)
    if own == coming { coming = 0 }
  }

  /// Returns the waiter of the step, to be told that nobody waits for it.
  mutating func departs(_ attempt: Int) -> Waiter? {
    guard coming == attempt else { return nil }
    coming = 0
    return unwaited()
  }

  /// The waiter may be unknown, because it was woken meanwhile. Returns the waiter of the step, to be
  /// told that nobody waits for it.
  mutating func leave(_ waiter: Waiter) -> Waiter? { waiters.leave(waiter) ? unwaited() : nil }

  /// False if nobody waits for the step, and it is to stop.
  mutating func stepWaits(with waiter: Waiter) -> Bool {
    guard coming != 0 || !waiters.isEmpty else { return false }
    step = waiter
    return true
  }

  mutating func stepGoesOn() { step = nil }

  private mutating func unwaited() -> Waiter? {
    waiters.isEmpty && coming == 0 ? step.take() : nil
  }

  mutating func failed(_ error: any Error, _ attempts: ClosedRange<Int>) {
    settling = (error, attempts)
  }

  func failure(of attempt: Int) -> (any Error)? {
    guard let failure, failure.attempts.contains(attempt) else { return nil }
    return failure.error
  }

  /// Returns the former failure, too, to be released outside of the lock.
  mutating func parked() -> (waiters: [Waiter], former: (any Error)?) {
    guard let settled = settling.take() else { return (waiters.removeAll(), nil) }
    defer { failure = settled }
    return (waiters.removeAll(), failure?.error)
  }
}
