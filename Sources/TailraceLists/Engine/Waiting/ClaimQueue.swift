import TailraceSupport

/// The tasks that found a list's claim taken, and wait until it is free. It is made when the first two
/// tasks meet.
final class ClaimQueue: Sendable {
  let waiters = Locked(WaiterSet<Waiter>())
}

extension Evaluator {
  /// Lets a waiter wait until the claim is free. Returns why it must not wait; `nil` if it waits.
  nonisolated func enter(_ waiter: Waiter) -> ResumeReason? {
    queue.waiters.withLock { waiters in
      // Under the lock that the holder takes to wake the waiters of a claim that it finds awaited.
      let isHeld = claim.noteAwaited()
      if claim.isAbandoned { return .released }
      guard isHeld else { return .lookAgain }
      waiters.enter(waiter)
      return nil
    }
  }

  nonisolated var queue: ClaimQueue { waiting.load() ?? waiting.storeIfNil(ClaimQueue()) }

  nonisolated func leave(_ waiter: Waiter) {
    _ = waiting.load()?.waiters.withLock { $0.leave(waiter) }
  }

  /// Nothing can bring the cells any more: all present waiters are told.
  nonisolated func dismiss(_ reason: ResumeReason) {
    let waiters = waiting.load()?.waiters.withLock { $0.removeAll() } ?? []
    for waiter in waiters { waiter.wake(reason) }
  }
}
