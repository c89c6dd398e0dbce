/// One task at a time, first come, first served.
///
/// A task that is cancelled while it waits leaves the line at once, and passes on only its place.
@usableFromInline
package final class AsyncLock: Sendable {
  struct State: Sendable {
    var isTaken = false
    var line = FIFO<Waiter>()
    /// How many tasks in the line have left it.
    var leavers = 0
  }

  private let state = Locked(State())

  /// What the turns are for, in the words of a test that explores.
  private let title: String

  @usableFromInline
  package init(for title: String) { self.title = title }

  /// Waits for the lock. False if the task may be cancelled, and is cancelled first.
  @usableFromInline
  package nonisolated(nonsending) func lock(cancellable: Bool = true) async -> Bool {
    guard let waiter = state.withLock({ $0.take() }) else { return true }
    let mark = Exploring.waits(for: Exploring.Wait("a turn with ", title, self))
    defer { mark?.end() }
    guard case .cancelled = await waiter.wait(cancellable: cancellable) else {
      return true
    }
    state.withLock { $0.leave() }
    return false
  }

  /// Passes the turn on.
  @usableFromInline
  package func unlock() {
    while let next = state.withLock({ $0.pass() }) {
      if next.wake(.lookAgain) { return }
    }
  }
}

extension AsyncLock.State {
  /// Takes the turn, or a place in the line.
  mutating func take() -> Waiter? {
    guard isTaken else {
      isTaken = true
      return nil
    }
    let waiter = Waiter()
    line.append(waiter)
    return waiter
  }

  /// The next waiter; it may have left. The turn is free if there is none.
  mutating func pass() -> Waiter? {
    guard let next = line.popFirst() else {
      isTaken = false
      return nil
    }
    if !next.isWaiting { leavers -= 1 }
    return next
  }

  /// A waiter has left. The line is cleared when half of its waiters have left.
  mutating func leave() {
    leavers += 1
    guard leavers * 2 > line.count else { return }
    line.removeAll { !$0.isWaiting }
    leavers = 0
  }
}
