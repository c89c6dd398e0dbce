import TailraceSupport

extension Scheduler {
  /// Runs a closure repeatedly, until it is cancelled.
  ///
  /// ```swift
  /// let clock = scheduler.schedule(every: .seconds(1)) { print("tick") }
  /// clock.cancel()
  /// ```
  ///
  /// The first turn comes after `delay`, or after one interval without a delay. Turn *k* comes at
  /// or after the first one plus *k* intervals, without drift. If a closure takes longer than an
  /// interval, one turn replaces the missed turns, as soon as possible; turns are never queued.
  /// The next turn enters the queue only when the closure has returned.
  ///
  /// The work continues, and retains the scheduler, until it is cancelled.
  ///
  /// - Parameters:
  ///   - interval: more than zero; anything else stops the program.
  ///   - delay: until the first turn. Zero or less means as soon as possible.
  ///   - tolerance: how much later each turn may be, to save wake-ups.
  ///   - action: runs in each turn; it is released when the work is cancelled.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Isolation: on the scheduler.
  /// - Cancellation: stops it at once, also from inside; a running closure is not interrupted.
  ///
  /// Replaces `-[RACScheduler after:repeatingEvery:withLeeway:schedule:]`.
  @discardableResult @_disfavoredOverload
  public func schedule(
    every interval: Duration, after delay: Duration? = nil, tolerance: Duration? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    repeated(
      every: interval, after: delay, tolerance: tolerance, file: file, line: line, action)
  }

  func repeated(
    every interval: Duration, after delay: Duration?, tolerance: Duration?, file: StaticString,
    line: UInt, _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    require(
      interval > .zero, "\(Self.self).schedule(every:): \(interval) is no interval; give one > 0",
      file: file, line: line)
    let cadence = Cadence(first: date(after: delay ?? interval), interval: interval)
    let repetition = Repetition(of: action, on: self, cadence, tolerance: tolerance)
    let work = ScheduledWork(WorkCell(repetition))
    enqueue(work, at: cadence.due, tolerance: tolerance)
    return work
  }
}

/// The closure of repeated work, and how it reaches its next turn.
final class Repetition: Sendable {
  let turn: @Sendable () -> Void
  /// False if the scheduler is gone. This does not retain it: a scheduler that holds its own work
  /// would never be released.
  let next: @Sendable (WorkCell) -> Bool

  init<Place: Scheduler>(
    of action: @escaping @Sendable () -> Void, on scheduler: Place,
    _ cadence: Cadence<Place.Instant>, tolerance: Duration?
  ) {
    // Guard: the phase of the work. May touch it: the turn that has begun, until it queues the
    // next.
    nonisolated(unsafe) var cadence = cadence
    turn = { [weak scheduler] in
      // Dates that become due from here on are for the next turn.
      if let scheduler { cadence.advance(now: scheduler.now) }
      action()
    }
    next = { [weak scheduler] cell in
      guard let scheduler else { return false }
      // The work then waits for ever, or until it is cancelled.
      guard !cadence.isOver else { return true }
      scheduler.enqueue(ScheduledWork(cell), at: cadence.due, tolerance: tolerance)
      return true
    }
  }
}
