import Tailrace

/// The pending work of a virtual scheduler, as a value: a heap by date, then by arrival.
struct Agenda: Sendable {
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

  /// False if another thread is running the work.
  mutating func begin() -> Bool {
    defer { isBusy = true }
    return !isBusy
  }

  mutating func end() { isBusy = false }

  /// A past date, and none, mean now. Returns the waiters whose number is reached.
  mutating func add(
    _ piece: Piece, at date: VirtualScheduler.Instant?
  ) -> [CheckedContinuation<Void, Never>] {
    if entries.count >= limit {
      entries.removeAll { $0.piece.isOver }
      limit = max(64, entries.count * 2)
    }
    entries.insert(Entry(date: max(date ?? now, now), number: arrivals, piece: piece))
    arrivals += 1
    // Counted only if the number may be reached.
    guard let least = watching.least, least <= entries.count else { return [] }
    return watching.reached(sleeperCount)
  }

  /// True if that many entries sleep; otherwise keeps the continuation until then.
  mutating func isAsleep(_ count: Int, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
    if sleeperCount >= count { return true }
    watching.add(continuation, until: count)
    return false
  }

  private var sleeperCount: Int {
    entries.elements.count { $0.date > now && !$0.piece.isOver }
  }

  /// Takes the next entry due until a date, and advances time to its date.
  mutating func next(until limit: VirtualScheduler.Instant?) -> Entry? {
    while let first = entries.first {
      if first.piece.isOver {
        _ = entries.removeFirst()
        continue
      }
      if let limit, first.date > max(limit, now) { return nil }
      now = first.date
      return entries.removeFirst()
    }
    return nil
  }

  mutating func pass(to date: VirtualScheduler.Instant) { now = max(now, date) }

  var pendingCount: Int { entries.elements.count { !$0.piece.isOver } }

  /// The remaining work.
  mutating func removeAll() -> [ScheduledWork] {
    defer { entries = Heap() }
    return entries.elements.compactMap { if case .work(let work) = $0.piece { work } else { nil } }
  }
}
