/// The dates of a repetition, as a value.
///
/// All dates count from the first one, so they do not drift. A late tick stands for all dates
/// passed by then: ticks coalesce and are never queued. So do those that a clock coarser than the
/// interval shows as one instant.
struct Cadence<Instant: InstantProtocol> where Instant.Duration == Duration {
  private let first: Instant
  private let interval: Duration
  private var tick: Int128 = 0
  /// Whether there is no next date: it would be beyond the longest delay, or the clock's range.
  private(set) var isOver = false

  init(first: Instant, interval: Duration) {
    self.first = first
    self.interval = min(interval, .farthest)
  }

  /// The date of the next tick.
  var due: Instant { date(of: tick) }

  /// The tick happens now; moves on to the next date on the grid.
  mutating func advance(now: Instant) {
    let elapsed = first.duration(to: now).attoseconds
    tick = max(tick, elapsed / interval.attoseconds) + 1
    if due <= now { pass(now) }
  }

  /// Moves on from a date that has passed to the first one that has not.
  ///
  /// The clock rounds dates down if it is coarser than the interval. There may be very many of them
  /// in one of its steps, so they are searched: with steps that double, then halve.
  private mutating func pass(_ now: Instant) {
    var step: Int128 = 1
    while date(of: tick + step) <= now {
      guard offset(of: tick + step) < .farthest else { return isOver = true }
      tick += step
      step *= 2
    }
    // The date of the tick has passed, the one a step later has not.
    while step > 1 {
      step /= 2
      if date(of: tick + step) <= now { tick += step }
    }
    tick += 1
  }

  private func date(of tick: Int128) -> Instant { first.advanced(by: offset(of: tick)) }

  private func offset(of tick: Int128) -> Duration {
    let (offset, overflows) = interval.attoseconds.multipliedReportingOverflow(by: tick)
    return overflows ? .farthest : min(Duration(attoseconds: offset), .farthest)
  }
}
