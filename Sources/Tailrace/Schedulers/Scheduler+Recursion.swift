extension Scheduler {
  /// Runs a closure that can ask to be run again.
  ///
  /// ```swift
  /// let left = Mutex(3)
  /// await scheduler.scheduleRecursively { again in
  ///   if left.withLock({ $0 -= 1; return $0 > 0 }) { again() }
  /// }.value                       // after three turns
  /// ```
  ///
  /// Each call of `again` is one more turn, from wherever and whenever it comes. A turn takes its place
  /// at the end of the line, so that other work has its turn in between; there is one in the line at
  /// a time. Any number of turns need the same stack and memory.
  ///
  /// The work is over when no turn is left and nobody holds `again` any more. Whoever holds it keeps the
  /// scheduler, too.
  ///
  /// - Isolation: on the scheduler.
  /// - Cancellation: no turn begins after it, and the closure is released as soon as it does not run.
  ///
  /// Replaces `-[RACScheduler scheduleRecursiveBlock:]`.
  @discardableResult
  public func scheduleRecursively(
    _ body: @escaping @Sendable (_ again: @escaping @Sendable () -> Void) -> Void
  ) -> ScheduledWork {
    let cell = WorkCell(Recursion(body))
    Turns(of: cell, on: self).again(on: self)
    return ScheduledWork(cell)
  }
}

/// What recursive work does in each turn, which is given a way to ask for another.
final class Recursion: Sendable {
  typealias Turn = @Sendable (_ again: @escaping @Sendable () -> Void) -> Void

  let turn: Turn

  init(_ turn: @escaping Turn) { self.turn = turn }
}

/// The turns of recursive work. Lives as long as somebody can ask for another.
private final class Turns<Place: Scheduler>: Sendable {
  private let work: WorkCell
  /// Not kept alive by a turn that waits in its line: one that keeps its work itself would never be
  /// released.
  // Guard: the reference is weak, which is atomic. May touch it: anyone; it is not written again.
  private nonisolated(unsafe) weak var scheduler: Place?
  private let state = Locked(TurnState())

  init(of work: WorkCell, on scheduler: Place) {
    self.work = work
    self.scheduler = scheduler
  }

  deinit { work.abandon() }

  func again(on scheduler: Place?) {
    if state.withLock({ $0.ask() }) { queue(on: scheduler) }
  }

  private func queue(on scheduler: Place?) { scheduler?.schedule { self.take() } }

  private func take() {
    guard state.withLock({ $0.begin() }) else { return }
    let scheduler = scheduler
    repeat {
      work.run { self.again(on: scheduler) }
      guard state.withLock({ $0.end() }) else { return }
      queue(on: scheduler)
    } while state.withLock { $0.handedOver() }
  }
}

/// Where the turns of recursive work are, as a value.
///
/// A scheduler that runs work in place begins the next turn before the one that queues it has let
/// go. That turn is left to the outer one, which runs it when it is back, so that the stack does not
/// grow.
struct TurnState {
  private enum Phase { case idle, queued, running, handingOver, returned }

  private var phase = Phase.idle
  private var asked = 0

  /// One more turn is wanted. True if it is to be queued now, not after the one that runs.
  mutating func ask() -> Bool {
    asked += 1
    guard case .idle = phase else { return false }
    phase = .queued
    return true
  }

  /// A turn's place in the line has come. False if another turn, that is about to end, takes it.
  mutating func begin() -> Bool {
    if case .handingOver = phase {
      phase = .returned
      return false
    }
    phase = .running
    asked -= 1
    return true
  }

  /// A turn has run. True if the next one is to be queued.
  mutating func end() -> Bool {
    phase = asked > 0 ? .handingOver : .idle
    return asked > 0
  }

  /// The next turn is queued. True if it has come back already, and is to be run here.
  mutating func handedOver() -> Bool {
    guard case .returned = phase else {
      phase = .queued
      return false
    }
    phase = .running
    asked -= 1
    return true
  }
}
