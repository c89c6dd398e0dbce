import TailraceSupport

/// The readers that wait for a suspended step, as a value: one method per event.
///
/// | Event        | Changes                                                                     |
/// |--------------|-----------------------------------------------------------------------------|
/// | `begins`     | a driver begins an attempt: it will wait if the step suspends               |
/// | `enter`      | that driver waits, or another reader does                                   |
/// | `leave`      | a waiter leaves; the step is told if nobody waits any more                  |
/// | `stepWaits`  | the step waits, and is to be told if nobody waits for it                    |
/// | `stepGoesOn` | the step does not wait any more                                             |
/// | `parked`     | the task has parked after an attempt: all who wait look again               |
///
/// The next attempt may have begun before `parked` is said of the one before. Its readers are woken, too, and
/// enter again. Those of the one before do not count for it.
///
/// A step is told at once when the last reader leaves. It may be told too early: if another reader enters, and
/// leaves, before the driver has entered. The driver then begins the step again.
struct StepWaiters<Waiter: AnyObject & Sendable>: Sendable {
  private(set) var waiters = WaiterSet<Waiter>()
  /// Those that wait for attempts that are over, and are about to be woken.
  private(set) var former = WaiterSet<Waiter>()
  /// An attempt has begun, and nobody has entered since: its driver is on its way.
  private(set) var isComing = false
  /// With it the step waits, to be told when nobody waits for the step.
  private(set) var step: Waiter?

  mutating func begins() {
    for waiter in waiters.removeAll() { former.enter(waiter) }
    isComing = true
  }

  mutating func enter(_ waiter: Waiter) {
    waiters.enter(waiter)
    isComing = false
  }

  /// The waiter may be unknown, because it was woken meanwhile. Returns the waiter of the step, to be told
  /// that nobody waits for it.
  mutating func leave(_ waiter: Waiter) -> Waiter? {
    guard waiters.leave(waiter) else {
      former.leave(waiter)
      return nil
    }
    return waiters.isEmpty && !isComing ? step.take() : nil
  }

  /// False if nobody waits for the step, and it is to stop.
  mutating func stepWaits(with waiter: Waiter) -> Bool {
    guard isComing || !waiters.isEmpty else { return false }
    step = waiter
    return true
  }

  mutating func stepGoesOn() { step = nil }

  /// Returns all who wait, to be woken.
  mutating func parked() -> [Waiter] {
    let latest = waiters.removeAll()
    return former.isEmpty ? latest : former.removeAll() + latest
  }
}

// Steps that nobody waits for, of lists that cancel them.
extension AsyncSteps {
  /// Runs a step in a child of the task, which is cancelled as soon as nobody waits for it.
  ///
  /// - Returns: `nil` if nobody waited, whatever the cancelled step has given.
  @usableFromInline
  nonisolated(nonsending) func whileAwaited<Result: Sendable>(
    _ step: @escaping @Sendable () async -> Result
  ) async -> Result? {
    let waiter = Waiter()
    guard waiting.withLock({ $0.stepWaits(with: waiter) }) else { return nil }
    return await withTaskGroup { group in
      group.addTask {
        let result = await step()
        waiter.wake(.lookAgain)
        return result
      }
      let isAwaited = if case .lookAgain = await waiter.park() { true } else { false }
      waiting.withLock { $0.stepGoesOn() }
      if !isAwaited { group.cancelAll() }
      let result = await group.next()
      return isAwaited ? result : nil
    }
  }

  /// A reader begins an attempt, and will wait for it if the step suspends.
  @usableFromInline
  func begins() { waiting.withLock { $0.begins() } }
}
