import TailraceSupport

extension Scheduler {
  /// Runs a closure that can request further turns.
  ///
  /// ```swift
  /// let left = Mutex(3)
  /// await scheduler.scheduleRecursively { again in
  ///   if left.withLock({ $0 -= 1; return $0 > 0 }) { again() }
  /// }.value                       // after three turns
  /// ```
  ///
  /// Each call of `again`, from anywhere and at any time, adds one turn. A turn goes to the end of
  /// the queue, so that other work runs in between; only one is queued at a time. Stack and memory
  /// do not grow with the number of turns.
  ///
  /// The work is over when no turn is left and `again` has been released. A reference to `again`
  /// also retains the scheduler.
  ///
  /// - Isolation: on the scheduler.
  /// - Cancellation: no further turn begins, and the closure is released as soon as it does not
  ///   run.
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

/// The closure of recursive work. Each turn gets a function that requests another turn.
final class Recursion: Sendable {
  typealias Turn = @Sendable (_ again: @escaping @Sendable () -> Void) -> Void

  let turn: Turn

  init(_ turn: @escaping Turn) { self.turn = turn }
}

/// The turns of recursive work. Lives while another turn can be requested.
private final class Turns<Place: Scheduler>: Sendable {
  private let work: WorkCell
  /// A waiting turn does not retain it: a scheduler that holds its own work would never be
  /// released.
  // Guard: the reference is weak, which is atomic. May touch it: anyone; never written again.
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

/// The state of the turns of recursive work, as a value.
///
/// A scheduler that runs work in place begins the next turn while the previous one is still
/// queueing it. The outer turn then runs it after returning, so that the stack does not grow.
struct TurnState {
  private enum Phase { case idle, queued, running, handingOver, returned }

  private var phase = Phase.idle
  private var asked = 0

  /// Requests one more turn. True if it must be queued now, not after the running one.
  mutating func ask() -> Bool {
    asked += 1
    guard case .idle = phase else { return false }
    phase = .queued
    return true
  }

  /// A queued turn begins. False if another turn, which is about to end, runs it instead.
  mutating func begin() -> Bool {
    if case .handingOver = phase {
      phase = .returned
      return false
    }
    phase = .running
    asked -= 1
    return true
  }

  /// A turn has run. True if the next one must be queued.
  mutating func end() -> Bool {
    phase = asked > 0 ? .handingOver : .idle
    return asked > 0
  }

  /// The next turn is queued. True if it has already returned and must run here.
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
