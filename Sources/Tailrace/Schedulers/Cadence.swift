/// The dates of something that happens again and again, as a value.
///
/// All dates are counted from the first one, so that they do not drift. What comes too late for
/// several dates has missed all but the last of them: ticks coalesce, and are never queued.
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

  /// The tick has happened. The next one is the next on the grid, or the last one that was missed.
  mutating func advance(now: Instant) {
    let elapsed = first.duration(to: now).attoseconds
    tick = max(tick + 1, elapsed / interval.attoseconds)
  }
}
