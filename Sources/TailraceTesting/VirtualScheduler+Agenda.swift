import Tailrace

/// The pending work of a virtual scheduler, as a value: a heap by date, then by arrival.
///
/// No entry is dated before `now`, and `now` does not decrease. Other threads may add work at any
/// time, so finding nothing due and passing on to the new time are one event.
///
/// | event | `now` becomes | and |
/// |---|---|---|
/// | `add` | the same | an earlier date than `now` means `now` |
/// | `next`, with work due | the date of that work | the work is taken |
/// | `next`, with none due | the limit, if it is later | all that remains is later still |
/// | `next` without a limit, with no work | the same | |
struct Agenda: Sendable {
  typealias Continuation = CheckedContinuation<Void, Never>

  enum Piece: Sendable {
    case work(ScheduledWork)
    case job(UnownedJob)

    var isOver: Bool {
      if case .work(let work) = self { work.isOver } else { false }
    }
  }

  struct Entry: Ordered, Sendable {
    let date: VirtualScheduler.Instant
    let number: Int
    let piece: Piece

    func comes(before other: Entry) -> Bool {
      (date, number) < (other.date, other.number)
    }
  }

  private(set) var now = VirtualScheduler.Instant.start
  private var entries = Heap<Entry>()
  private var arrivals = 0
  private var isBusy = false
  /// At this many entries, the cancelled ones are removed.
  private var limit = 64
  /// Waiters for a number of sleeping entries.
  private var watching = CountWaiters()
  /// Waiters for an entry that sleeps until a date, which is later than `now`.
  private var watchingDates: [(date: VirtualScheduler.Instant, Continuation)] = []
  /// The waiters whose date has come.
  private var missed: [Continuation] = []

  /// False if another thread is running the work.
  mutating func begin() -> Bool {
    defer { isBusy = true }
    return !isBusy
  }

  mutating func end() { isBusy = false }

  /// A past date, and none, mean now. Returns the waiters whose number is reached, and those for the
  /// date.
  mutating func add(_ piece: Piece, at date: VirtualScheduler.Instant?) -> [Continuation] {
    if entries.count >= limit {
      entries.removeAll { $0.piece.isOver }
      limit = max(64, entries.count * 2)
    }
    let date = max(date ?? now, now)
    entries.insert(Entry(date: date, number: arrivals, piece: piece))
    arrivals += 1
    let watchers = takeWatchers { $0 == date }
    // Counted only if the number may be reached.
    guard let least = watching.least, least <= entries.count else { return watchers }
    return watchers + watching.reached(sleeperCount)
  }

  private mutating func takeWatchers(
    _ isTaken: (VirtualScheduler.Instant) -> Bool
  ) -> [Continuation] {
    guard !watchingDates.isEmpty else { return [] }
    defer { watchingDates.removeAll { isTaken($0.date) } }
    return watchingDates.filter { isTaken($0.date) }.map(\.1)
  }

  /// True if an entry sleeps until a date, or that has come; otherwise keeps the continuation until
  /// then.
  mutating func isAsleep(
    until date: VirtualScheduler.Instant, _ continuation: Continuation
  ) -> Bool {
    if date <= now || entries.elements.contains(where: { $0.date == date && !$0.piece.isOver }) {
      return true
    }
    watchingDates.append((date, continuation))
    return false
  }

  /// Returns the waiters whose date has come.
  mutating func takeMissed() -> [Continuation] {
    defer { missed = [] }
    return missed
  }

  /// True if that many entries sleep; otherwise keeps the continuation until then.
  mutating func isAsleep(_ count: Int, _ continuation: Continuation) -> Bool {
    if sleeperCount >= count { return true }
    watching.add(continuation, until: count)
    return false
  }

  private var sleeperCount: Int {
    entries.elements.count { $0.date > now && !$0.piece.isOver }
  }

  /// Takes the next entry due until a date, and advances time to its date; if there is none, to the
  /// given one.
  mutating func next(until limit: VirtualScheduler.Instant?) -> Entry? {
    while let first = entries.first {
      if first.piece.isOver {
        _ = entries.removeFirst()
        continue
      }
      if let limit, first.date > max(limit, now) { break }
      pass(to: first.date)
      return entries.removeFirst()
    }
    if let limit { pass(to: limit) }
    return nil
  }

  private mutating func pass(to date: VirtualScheduler.Instant) {
    guard date > now else { return }
    now = date
    missed += takeWatchers { $0 <= date }
  }

  /// The date of the next entry.
  var nextDate: VirtualScheduler.Instant? {
    entries.elements.lazy.filter { !$0.piece.isOver }.map(\.date).min()
  }

  var pendingCount: Int { entries.elements.count { !$0.piece.isOver } }

  /// The remaining work.
  mutating func removeAll() -> [ScheduledWork] {
    defer { entries = Heap() }
    return entries.elements.compactMap { if case .work(let work) = $0.piece { work } else { nil } }
  }
}
