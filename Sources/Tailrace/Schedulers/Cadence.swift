/// The dates of a repetition, as a value.
///
/// All dates count from the first one, so they do not drift. A late tick stands for all dates
/// passed by then: ticks coalesce and are never queued.
struct Cadence<Instant: InstantProtocol> where Instant.Duration == Duration {
  private let first: Instant
  private let interval: Duration
  private var tick: Int128 = 0
  /// Whether the next date would be beyond the clock's range.
  private(set) var isOver = false

  init(first: Instant, interval: Duration) {
    self.first = first
    self.interval = min(interval, .farthest)
  }

  /// The date of the next tick.
  var due: Instant {
    let (offset, overflows) = interval.attoseconds.multipliedReportingOverflow(by: tick)
    return first.advanced(by: overflows ? .farthest : min(Duration(attoseconds: offset), .farthest))
  }

  /// The tick happens now; moves on to the next date on the grid.
  mutating func advance(now: Instant) {
    let elapsed = first.duration(to: now).attoseconds
    tick = max(tick, elapsed / interval.attoseconds) + 1
    isOver = due <= now
  }
}
