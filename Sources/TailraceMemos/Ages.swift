import TailraceLists

/// Until when remembered results are served, as a value: dates for each slot, in nanoseconds.
///
/// This is the one place that says so. A result is served until the first of its dates; one that was
/// withdrawn has none, because what it was computed from may have changed, and is served again after
/// `readmit`. If nothing grows old and nothing is withdrawn, nothing is kept.
///
/// ```
///              an input is out of date, or its date has come
///   served ───────────────────────────────────────────────▶ withdrawn
///     ▲  ▲                                                    │   │
///     │  └──────── readmit: no input has changed ─────────────┘   │
///     └─────────── begin: computed again ─────────────────────────┘
/// ```
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

  /// Whether results grow old.
  @usableFromInline let isTimed: Bool
  /// Whether there is something to look at before a result is served.
  @usableFromInline var areKept: Bool
  /// Whether a use makes a result live longer.
  @usableFromInline let isIdle: Bool
  private let lifetime: Int64
  private let refreshing: Int64
  private let serving: Int64
  @usableFromInline private(set) var dates: ContiguousArray<Dates> = []
  /// For each slot, until when its content is fresh: the first of its dates, or `withdrawn`.
  @usableFromInline private(set) var freshness: ContiguousArray<Int64> = []
  @usableFromInline static var withdrawn: Int64 { .min }
  /// The slot that was checked last.
  private(set) var hand = 0

  @usableFromInline
  init(lifetime: Lifetime, refreshingAfter: Duration?, servingStaleFor: Duration? = nil) {
    refreshing = refreshingAfter.map(Self.nanoseconds) ?? .max
    serving = max(0, servingStaleFor.map(Self.nanoseconds) ?? 0)
    switch lifetime {
    case .endless:
      (self.lifetime, isIdle, isTimed) = (.max, false, refreshingAfter != nil)
    case .fixed(let lifetime):
      (self.lifetime, isIdle, isTimed) = (Self.nanoseconds(lifetime), false, true)
    case .idle(let lifetime):
      (self.lifetime, isIdle, isTimed) = (Self.nanoseconds(lifetime), true, true)
    case .each:
      (self.lifetime, isIdle, isTimed) = (.max, false, true)
    }
    areKept = isTimed
  }

  /// The same rules, for future slots.
  @usableFromInline
  mutating func removeAll() { (dates, freshness, hand) = ([], [], 0) }

  /// Whether the content of a slot is served.
  @_alwaysEmitIntoClient
  func isServed(_ place: Int, at now: Int64) -> Bool {
    guard areKept else { return true }
    if isWithdrawn(place) { return false }
    return !isTimed || now < dates[place].expires && now < dates[place].doubts
  }

  /// Whether the content of a slot is served, and need not be computed again.
  @_alwaysEmitIntoClient @inline(__always)
  func isFresh(_ place: Int, at now: Int64) -> Bool {
    !areKept || now < freshness[place]
  }

  /// Whether the lifetime of the content of a slot has ended.
  @_alwaysEmitIntoClient
  func hasExpired(_ place: Int, at now: Int64) -> Bool {
    isTimed && place < dates.count && now >= dates[place].expires
  }

  /// Whether what a slot's content was computed from has to be looked at.
  @_alwaysEmitIntoClient
  func isDoubtful(_ place: Int, at now: Int64) -> Bool {
    isTimed && place < dates.count && now >= dates[place].doubts
  }

  /// Whether an expired value stands in for a computation that fails.
  @usableFromInline
  func standsIn(_ place: Int, at now: Int64) -> Bool {
    serving > 0 && isTimed && now < Self.sum(dates[place].expires, serving)
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
    while freshness.count <= place {
      freshness.append(.max)
      if isTimed { dates.append(Dates()) }
    }
    freshness[place] = .max
    var new = Dates()
    new.refreshes = Self.sum(now, refreshing)
    new.expires = Self.sum(now, lifetime ?? self.lifetime)
    if isFailure { new.expires = min(new.expires, new.refreshes) }
    set(place) { $0 = new }
  }

  /// A new computation of a value failed: the next attempt is made after the same time.
  @usableFromInline
  mutating func postpone(_ place: Int, at now: Int64) {
    let date = Self.sum(now, refreshing)
    set(place) { $0.refreshes = date }
  }

  /// A result that was withdrawn stays so.
  private mutating func set(_ place: Int, _ change: (inout Dates) -> Void) {
    guard isTimed, place < dates.count else { return }
    change(&dates[place])
    if !isWithdrawn(place) { freshness[place] = first(place) }
  }

  private func first(_ place: Int) -> Int64 {
    isTimed ? max(dates[place].first, Self.withdrawn + 1) : .max
  }

  /// A slot has no key any more.
  @usableFromInline
  mutating func end(_ place: Int) {
    if place < freshness.count { freshness[place] = .max }
    set(place) { $0 = Dates() }
  }

  // MARK: What results were computed from

  @_alwaysEmitIntoClient
  func isWithdrawn(_ place: Int) -> Bool {
    areKept && place < freshness.count && freshness[place] == Self.withdrawn
  }

  /// What a result was computed from may not be right any more.
  @usableFromInline
  mutating func withdraw(_ place: Int) { freshness[place] = Self.withdrawn }

  /// It is, after all.
  @usableFromInline
  mutating func readmit(_ place: Int) { freshness[place] = first(place) }

  /// The date from which what is computed from this slot has to be looked at.
  @usableFromInline
  func date(of place: Int) -> Int64 {
    isTimed && place < dates.count ? min(dates[place].expires, dates[place].doubts) : .max
  }

  /// Notes the earliest date of all that a slot's content was computed from.
  @usableFromInline
  mutating func setDoubts(_ place: Int, _ date: Int64) { set(place) { $0.doubts = date } }

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
