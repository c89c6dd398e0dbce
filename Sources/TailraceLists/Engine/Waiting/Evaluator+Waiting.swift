import TailraceSupport
import Synchronization

// The waiters of a list: tasks that found its claim taken, and wait for a cell.
extension Evaluator {
  /// Lets a waiter wait until the cells before a position are there, or until its reader's attempt
  /// has failed. Returns why it must not wait; `nil` if it waits.
  nonisolated func enter(
    _ waiter: Waiter, until end: Int, attempt: UInt32 = 0, unless isOver: () -> Bool
  ) -> ResumeReason? {
    queue.state.withLock { state in
      let isHeld = claim.await()
      // The waiter sets the mark before it reads the cells, and the holder publishes before it
      // reads the mark (`ListTask.wants`): one of the two sees the other, because both put a fence
      // in between. A task that is driven puts none: its driver does, when it leaves a suspended
      // step (`leaveSuspended`) or releases the claim, and looks for waiters then.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if claim.isAbandoned { return .released }
      if isOver() { return .lookAgain }
      if attempt != 0, let failure = state.failure(of: attempt) {
        return .failedTransiently(failure)
      }
      guard isHeld else { return .lookAgain }
      state.enter(waiter, until: end, attempt: attempt)
      return nil
    }
  }

  nonisolated var queue: SharedWaitQueue {
    waiting.load() ?? waiting.storeIfNil(SharedWaitQueue())
  }

  /// A waiter leaves the queue. If it was the last one, the step is told.
  nonisolated func leave(_ waiter: Waiter) {
    let step = waiting.load()?.state.withLock { $0.leave(waiter) }
    step?.wake(.unwaited)
  }

  /// Keeps the failure of an attempt for the reader that began it, and tells it if it waits.
  nonisolated func keep(_ failure: any Error, of attempt: UInt32) {
    let late = queue.state.withLock { $0.keep(failure, of: attempt) }
    for waiter in late { waiter.wake(.failedTransiently(failure)) }
  }

  nonisolated func forgetFailure() {
    // Released outside of the lock: it may be the last reference to the user's error.
    _ = waiting.load()?.state.withLock { $0.forgetFailure() }
  }

  /// The cells before a position are published: the waiters for them are woken. Returns the
  /// position up to which the others want cells.
  ///
  /// Not only for the holder of the claim: a driver that leaves a suspended step calls it, too. The
  /// queue's lock is enough, because a waiter sets its mark and enters under that lock.
  @usableFromInline
  nonisolated func serve(before position: Int) -> Int {
    guard let queue = waiting.load() else { return 0 }
    let (served, wanted) = queue.state.withLock { state in
      if state.isEmpty { claim.answered() }
      return state.published(before: position)
    }
    for waiter in served { waiter.wake(.lookAgain) }
    return wanted
  }

  /// The step left nothing, or nothing can: all present waiters are told.
  nonisolated func dismiss(_ reason: ResumeReason) {
    let waiters = waiting.load()?.state.withLock { $0.empty() } ?? []
    for waiter in waiters { waiter.wake(reason) }
  }
}
