import TailraceSupport
import Synchronization

/// The waiters that found a list's claim taken and wait for a cell, as a value.
///
/// A wait has a position: a waiter is woken as soon as the cells that it wants are published,
/// whatever the claim's holder does next, and at the latest when the claim is free.
struct WaitQueue<Waiter: AnyObject & Sendable>: Sendable {
  private struct Wish: Sendable {
    /// The cells before this position are wanted.
    let end: Int
    /// The attempt that the reader began; 0 for none.
    let attempt: UInt32
  }

  private var waiters = WaiterSet<Waiter, Wish>()
  /// The failure of the last attempt, for the reader that began it, which may only now come to
  /// wait.
  private var lastFailure: (attempt: UInt32, failure: any Error)?
  /// What the list's step waits with, to be told when nobody waits for the step.
  private var step: Waiter?
  /// The attempt whose reader runs the step, or is on its way to wait; 0 for none. Only lists that
  /// cancel unwaited steps say it.
  private var runner: UInt32 = 0

  var isEmpty: Bool { waiters.isEmpty }

  /// Waits until the cells before a position are published.
  ///
  /// - Parameter attempt: the attempt that the reader began; 0 for none.
  mutating func enter(_ waiter: Waiter, until end: Int, attempt: UInt32 = 0) {
    waiters.enter(waiter, Wish(end: end, attempt: attempt))
    if attempt == runner { runner = 0 }
  }

  /// A waiter leaves. It may be unknown, because it was woken meanwhile. Returns what is to be told
  /// that nobody waits for the step.
  mutating func leave(_ waiter: Waiter) -> Waiter? { waiters.leave(waiter) ? unwaited() : nil }

  /// The cells before a position are published, and the holder of the claim asks whether to go on.
  ///
  /// Returns the served waiters, and the position up to which the others want cells.
  mutating func published(before position: Int) -> (served: [Waiter], wanted: Int) {
    let served = waiters.remove { $0.end <= position }
    return (served, waiters.reduce(0) { max($0, $1.end) })
  }

  /// The claim is free, or the step has failed: all waiters look again.
  mutating func empty() -> [Waiter] { waiters.removeAll() }

  // MARK: Steps that nobody waits for

  /// A reader begins an attempt, and will wait for it if the step suspends.
  mutating func runs(_ attempt: UInt32) { runner = attempt }

  /// The reader that has begun an attempt does not wait for it. Returns what is to be told that nobody
  /// waits for the step.
  mutating func departs(_ attempt: UInt32) -> Waiter? {
    guard runner == attempt else { return nil }
    runner = 0
    return unwaited()
  }

  /// The step is about to wait. False if nobody waits for it, and it is to stop.
  ///
  /// - Parameter isRun: whether a reader runs it.
  mutating func stepWaits(with waiter: Waiter, isRun: Bool) -> Bool {
    guard isRun || runner != 0 || !waiters.isEmpty else { return false }
    step = waiter
    return true
  }

  /// The step does not wait any more. Returns what it has waited with, unless that was told.
  mutating func stepGoesOn() -> Waiter? { step.take() }

  private mutating func unwaited() -> Waiter? {
    waiters.isEmpty && runner == 0 ? step.take() : nil
  }

  // MARK: Failed attempts

  /// An attempt has failed, and the other waiters were told. The reader that began it may have come
  /// since: it is returned, to be told now. Or it may still come.
  mutating func keep(_ failure: any Error, of attempt: UInt32) -> [Waiter] {
    lastFailure = (attempt, failure)
    return waiters.remove { $0.attempt == attempt }
  }

  /// The next attempt begins. Returns the former failure, to be released outside of the lock.
  mutating func forgetFailure() -> (any Error)? {
    defer { lastFailure = nil }
    return lastFailure?.failure
  }

  /// The failure that a reader that began an attempt comes too late to wait for.
  func failure(of attempt: UInt32) -> (any Error)? {
    guard let lastFailure, lastFailure.attempt == attempt else { return nil }
    return lastFailure.failure
  }
}

/// The queue of a list. It is made when the first two tasks meet.
final class SharedWaitQueue: Sendable {
  let state = Locked(WaitQueue<Waiter>())
}

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
