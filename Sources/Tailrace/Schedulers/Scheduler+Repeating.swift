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
  /// - Isolation: on the scheduler.
  /// - Cancellation: stops it at once, also from inside; a closure that is running is not interrupted.
  ///
  /// Replaces `-[RACScheduler after:repeatingEvery:withLeeway:schedule:]`.
  @discardableResult
  public func schedule(
    every interval: Duration, after delay: Duration? = nil, tolerance: Duration? = nil,
    _ action: @escaping @Sendable () -> Void
  ) -> ScheduledWork {
    require(
      interval > .zero, "\(Self.self).schedule(every:): \(interval) is no interval; give one > 0")
    let cadence = Cadence(first: date(after: delay ?? interval), interval: interval)
    let first = cadence.due
    let repetition = Repetition(cadence)
    let work = ScheduledWork(
      .repeatedly(
        action,
        next: { work in
          self.enqueue(work, at: repetition.next(after: self.now), tolerance: tolerance)
        }))
    enqueue(work, at: first, tolerance: tolerance)
    return work
  }
}

/// The cadence of one piece of repeated work.
private final class Repetition<Instant: InstantProtocol>: Sendable
where Instant.Duration == Duration {
  // Guard: the phase of the work. May touch it: whoever has ended a turn, before the next is queued.
  private nonisolated(unsafe) var cadence: Cadence<Instant>

  init(_ cadence: Cadence<Instant>) { self.cadence = cadence }

  func next(after now: Instant) -> Instant {
    cadence.advance(now: now)
    return cadence.due
  }
}
