/// The dates of something that happens again and again, as a value.
///
/// All dates are counted from the first one, so that they do not drift. What happens late stands for
/// all dates that have passed by then: ticks coalesce, and are never queued.
struct Cadence<Instant: InstantProtocol> where Instant.Duration == Duration {
  private let first: Instant
  private let interval: Duration
  private var tick: Int128 = 0

  init(first: Instant, interval: Duration) {
    self.first = first
    self.interval = min(interval, .farthest)
  }

  /// When the tick is due that is waited for.
  var due: Instant { first.advanced(by: Duration(attoseconds: interval.attoseconds * tick)) }

  /// The tick happens now. The next one is the next on the grid.
  mutating func advance(now: Instant) {
    let elapsed = first.duration(to: now).attoseconds
    tick = max(tick, elapsed / interval.attoseconds) + 1
  }
}
