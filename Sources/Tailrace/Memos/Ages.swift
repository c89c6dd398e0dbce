/// The ages of remembered results, as a value: two dates for each slot, in nanoseconds.
///
/// If nothing expires there are no dates, and every slot is served for ever.
@usableFromInline
struct Ages: Sendable {
  @usableFromInline let areKept: Bool
  private let lifetime: Int64
  private let refreshing: Int64
  /// For each slot, if ages are kept: the date from which its value is computed again, and the date
  /// until which it is served, which is no sooner.
  @usableFromInline private(set) var dates: ContiguousArray<(refreshes: Int64, expires: Int64)> = []
  /// The slot that was checked last.
  private var hand = 0

  @usableFromInline
  init(lifetime: Duration?, refreshingAfter: Duration?) {
    areKept = lifetime != nil || refreshingAfter != nil
    self.lifetime = lifetime.map(Self.nanoseconds) ?? .max
    refreshing = refreshingAfter.map(Self.nanoseconds) ?? .max
  }

  /// The same rules, for future slots.
  @usableFromInline
  mutating func removeAll() { (dates, hand) = ([], 0) }

  /// Whether the content of a slot is served.
  @inlinable
  func isServed(_ place: Int, at now: Int64) -> Bool { !areKept || now < dates[place].expires }

  /// Whether the content of a slot is served, and need not be computed again.
  @inlinable @inline(__always)
  func isFresh(_ place: Int, at now: Int64) -> Bool { !areKept || now < dates[place].refreshes }

  /// The content of a slot was computed now. A failure is served no longer than a value is fresh.
  @usableFromInline
  mutating func begin(_ place: Int, isFailure: Bool, at now: Int64) {
    guard areKept else { return }
    while dates.count <= place { dates.append((.max, .max)) }
    let expires = Self.sum(now, lifetime)
    let refreshes = min(Self.sum(now, refreshing), expires)
    dates[place] = (refreshes, isFailure ? refreshes : expires)
  }

  /// A new computation of a value failed: the next attempt is made after the same time.
  @usableFromInline
  mutating func postpone(_ place: Int, at now: Int64) {
    guard areKept else { return }
    dates[place].refreshes = min(Self.sum(now, refreshing), dates[place].expires)
  }

  /// The next slot to check for expiry, out of that many.
  @usableFromInline
  mutating func next(of count: Int) -> Int {
    hand = hand + 1 < count ? hand + 1 : 0
    return hand
  }

  private static func sum(_ now: Int64, _ age: Int64) -> Int64 {
    let (sum, overflows) = now.addingReportingOverflow(age)
    guard overflows else { return sum }
    return age < 0 ? .min : .max
  }

  /// Does not overflow: the farthest date is 292 years away.
  @usableFromInline
  static func nanoseconds(_ duration: Duration) -> Int64 {
    // `components` traps where the seconds do not fit.
    Int64(clamping: duration.attoseconds / 1_000_000_000)
  }
}
