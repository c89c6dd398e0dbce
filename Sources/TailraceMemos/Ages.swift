import TailraceLists

/// The ages of remembered results, as a value: dates for each slot, in nanoseconds.
///
/// If nothing expires there are no dates, and every slot is served for ever.
@usableFromInline
struct Ages: Sendable {
  /// How long a result is served, counted from its computation, or from its last use.
  @usableFromInline
  enum Lifetime: Sendable {
    case endless
    case fixed(Duration)
    case idle(Duration)
    /// Each value has its own. A failure is served until it is due.
    case each
  }

  @usableFromInline
  struct Dates: Sendable {
    /// From here on the value is computed again.
    @usableFromInline var refreshes = Int64.max
    /// Until here it is served.
    @usableFromInline var expires = Int64.max
    /// From here on what it was computed from may have expired.
    @usableFromInline var doubts = Int64.max

    @_alwaysEmitIntoClient
    init() {}

    /// The first of them. It is kept beside them: a demand asks for it each time.
    var first: Int64 { min(refreshes, expires, doubts) }
  }

  @usableFromInline let areKept: Bool
  /// Whether a use makes a result live longer.
  @usableFromInline let isIdle: Bool
  private let lifetime: Int64
  private let refreshing: Int64
  private let serving: Int64
  @usableFromInline private(set) var dates: ContiguousArray<Dates> = []
  /// For each slot, until when its content is fresh.
  @usableFromInline private(set) var freshness: ContiguousArray<Int64> = []
  /// The slot that was checked last.
  private var hand = 0

  @usableFromInline
  init(lifetime: Lifetime, refreshingAfter: Duration?, servingStaleFor: Duration? = nil) {
    refreshing = refreshingAfter.map(Self.nanoseconds) ?? .max
    serving = max(0, servingStaleFor.map(Self.nanoseconds) ?? 0)
    switch lifetime {
    case .endless:
      (self.lifetime, isIdle, areKept) = (.max, false, refreshingAfter != nil)
    case .fixed(let lifetime):
      (self.lifetime, isIdle, areKept) = (Self.nanoseconds(lifetime), false, true)
    case .idle(let lifetime):
      (self.lifetime, isIdle, areKept) = (Self.nanoseconds(lifetime), true, true)
    case .each:
      (self.lifetime, isIdle, areKept) = (.max, false, true)
    }
  }

  /// The same rules, for future slots.
  @usableFromInline
  mutating func removeAll() { (dates, freshness, hand) = ([], [], 0) }

  /// Whether the content of a slot is served.
  @_alwaysEmitIntoClient
  func isServed(_ place: Int, at now: Int64) -> Bool {
    !areKept || now < dates[place].expires && now < dates[place].doubts
  }

  /// Whether the content of a slot is served, and need not be computed again.
  @_alwaysEmitIntoClient @inline(__always)
  func isFresh(_ place: Int, at now: Int64) -> Bool {
    !areKept || now < freshness[place]
  }

  /// Whether the lifetime of the content of a slot has ended.
  @_alwaysEmitIntoClient
  func hasExpired(_ place: Int, at now: Int64) -> Bool {
    areKept && place < dates.count && now >= dates[place].expires
  }

  /// Whether what a slot's content was computed from has to be looked at.
  @_alwaysEmitIntoClient
  func isDoubtful(_ place: Int, at now: Int64) -> Bool {
    areKept && place < dates.count && now >= dates[place].doubts
  }

  /// Whether an expired value stands in for a computation that fails.
  @usableFromInline
  func standsIn(_ place: Int, at now: Int64) -> Bool {
    areKept && now < Self.sum(dates[place].expires, serving)
  }

  /// The content of a slot was used.
  @_alwaysEmitIntoClient
  mutating func touch(_ place: Int, at now: Int64) { if isIdle { prolong(place, at: now) } }

  @usableFromInline
  mutating func prolong(_ place: Int, at now: Int64) {
    let date = Self.sum(now, lifetime)
    set(place) { $0.expires = date }
  }

  /// The content of a slot was computed now. A failure is served no longer than a value is fresh.
  ///
  /// - Parameter lifetime: the content's own.
  @usableFromInline
  mutating func begin(_ place: Int, isFailure: Bool, lifetime: Int64? = nil, at now: Int64) {
    guard areKept else { return }
    while dates.count <= place {
      dates.append(Dates())
      freshness.append(.max)
    }
    var new = Dates()
    new.refreshes = Self.sum(now, refreshing)
    new.expires = Self.sum(now, lifetime ?? self.lifetime)
    if isFailure { new.expires = min(new.expires, new.refreshes) }
    set(place) { $0 = new }
  }

  /// A new computation of a value failed: the next attempt is made after the same time.
  @usableFromInline
  mutating func postpone(_ place: Int, at now: Int64) {
    guard areKept else { return }
    let date = Self.sum(now, refreshing)
    set(place) { $0.refreshes = date }
  }

  private mutating func set(_ place: Int, _ change: (inout Dates) -> Void) {
    change(&dates[place])
    freshness[place] = dates[place].first
  }

  /// A slot has no key any more.
  @usableFromInline
  mutating func end(_ place: Int) { if place < dates.count { set(place) { $0 = Dates() } } }

  // MARK: What results were computed from

  /// The date from which what is computed from this slot has to be looked at. An unused result goes
  /// as an evicted one does, and makes nothing doubtful.
  @usableFromInline
  func date(of place: Int) -> Int64 {
    guard areKept, place < dates.count else { return .max }
    return isIdle ? dates[place].doubts : min(dates[place].expires, dates[place].doubts)
  }

  /// Notes the earliest date of all that a slot's content was computed from.
  @usableFromInline
  mutating func setDoubts(_ place: Int, _ date: Int64) {
    if areKept, place < dates.count { set(place) { $0.doubts = date } }
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
