/// How many values are remembered, and for how long, as numbers.
@usableFromInline
struct MemoRules: Sendable {
  /// What all values may cost together.
  @usableFromInline let limit: Int?
  /// In nanoseconds.
  @usableFromInline let lifetime: Int64
  @usableFromInline let refreshing: Int64
  @usableFromInline let isTimed: Bool

  @usableFromInline
  init(limit: Int?, lifetime: Duration?, refreshingAfter: Duration?) {
    // Half of all there is: sums of costs do not overflow.
    self.limit = limit.map { min($0, Int.max / 2) }
    self.lifetime = lifetime.map(Self.nanoseconds) ?? .max
    refreshing = refreshingAfter.map(Self.nanoseconds) ?? .max
    isTimed = lifetime != nil || refreshingAfter != nil
  }

  @usableFromInline
  func expires(after now: Int64) -> Int64 { Self.sum(now, lifetime) }

  @usableFromInline
  func refreshes(after now: Int64) -> Int64 { Self.sum(now, refreshing) }

  private static func sum(_ now: Int64, _ age: Int64) -> Int64 {
    let (sum, overflows) = now.addingReportingOverflow(age)
    return overflows ? .max : sum
  }

  /// Does not overflow: the farthest is 292 years away.
  @usableFromInline
  static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflows else { return seconds < 0 ? .min : .max }
    return sum(whole, attoseconds / 1_000_000_000)
  }
}
