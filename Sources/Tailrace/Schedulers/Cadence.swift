/// The dates of something that happens again and again, as a value.
///
/// All dates are counted from the first one, so that they do not drift. What happens late stands for
/// all dates that have passed by then: ticks coalesce, and are never queued.
struct Cadence<Instant: InstantProtocol> where Instant.Duration == Duration {
  private let first: Instant
  private let interval: Duration
  private var tick: Int128 = 0
  /// There is no next date: it would be farther away than the clock can count.
  private(set) var isOver = false

  init(first: Instant, interval: Duration) {
    self.first = first
    self.interval = min(interval, .farthest)
  }

  /// When the tick is due that is waited for.
  var due: Instant {
    let (offset, overflows) = interval.attoseconds.multipliedReportingOverflow(by: tick)
    return first.advanced(by: overflows ? .farthest : min(Duration(attoseconds: offset), .farthest))
  }

  /// The tick happens now. The next one is the next on the grid.
  mutating func advance(now: Instant) {
    let elapsed = first.duration(to: now).attoseconds
    tick = max(tick, elapsed / interval.attoseconds) + 1
    isOver = due <= now
  }
}
