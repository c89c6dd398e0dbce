extension Scheduler {
  /// Runs a closure again and again, until it is cancelled.
  ///
  /// ```swift
  /// let clock = scheduler.schedule(every: .seconds(1)) { print("tick") }
  /// clock.cancel()
  /// ```
  ///
  /// The first turn comes after `delay`, or after one interval if there is none. Turn *k* comes at or
  /// after the first one plus *k* intervals: it does not drift. A closure that takes longer than an
  /// interval has its missed turns made up by one, as soon as possible; they are never queued. The
  /// next turn takes its place in the line only when the closure has returned.
  ///
  /// The work goes on, and keeps the scheduler alive, until it is cancelled.
  ///
  /// - Parameters:
  ///   - interval: more than zero; anything else stops the program.
  ///   - delay: until the first turn. Zero and less mean as soon as possible.
  ///   - tolerance: how much later each turn may be, for the sake of fewer wake-ups.
  ///   - action: what each turn does; it is released when the work is cancelled.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Isolation: on the scheduler.
  /// - Cancellation: stops it at once, also from inside; a closure that is running is not interrupted.
  ///
  /// Replaces `-[RACScheduler after:repeatingEvery:withLeeway:schedule:]`.
  @discardableResult
  public func schedule(
    every interval: Duration, after delay: Duration? = nil, tolerance: Duration? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ action: @escaping @Sendable () -> Void
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

/// What repeated work does, and how it gets to its next turn.
final class Repetition: Sendable {
  let turn: @Sendable () -> Void
  /// False if there is no scheduler any more. It is not kept alive from here: one that keeps its
  /// work itself would never be released.
  let next: @Sendable (WorkCell) -> Bool

  init<Place: Scheduler>(
    of action: @escaping @Sendable () -> Void, on scheduler: Place,
    _ cadence: Cadence<Place.Instant>, tolerance: Duration?
  ) {
    // Guard: the phase of the work. May touch it: who has begun a turn, until the next is queued.
    nonisolated(unsafe) var cadence = cadence
    turn = { [weak scheduler] in
      // What becomes due from here on is for the next turn.
      if let scheduler { cadence.advance(now: scheduler.now) }
      action()
    }
    next = { [weak scheduler] cell in
      guard let scheduler else { return false }
      // Such work waits for ever, or until it is cancelled.
      guard !cadence.isOver else { return true }
      scheduler.enqueue(ScheduledWork(cell), at: cadence.due, tolerance: tolerance)
      return true
    }
  }
}
