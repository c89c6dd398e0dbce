import Tailrace

/// What a virtual scheduler has to do, and when, as a value: a heap by date, then by arrival.
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
  /// When there are that many entries, those that were cancelled are thrown out.
  private var limit = 64

  /// False if somebody runs the work already.
  mutating func begin() -> Bool {
    defer { isBusy = true }
    return !isBusy
  }

  mutating func end() { isBusy = false }

  /// A date that is past, and none, mean now.
  mutating func add(_ piece: Piece, at date: VirtualScheduler.Instant?) {
    if entries.count >= limit {
      entries.removeAll { $0.piece.isOver }
      limit = max(64, entries.count * 2)
    }
    entries.insert(Entry(date: max(date ?? now, now), number: arrivals, piece: piece))
    arrivals += 1
  }

  /// Takes the next entry that is due until a date, and lets time pass to its date.
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

  /// The work that was left.
  mutating func removeAll() -> [ScheduledWork] {
    defer { entries = Heap() }
    return entries.elements.compactMap { if case .work(let work) = $0.piece { work } else { nil } }
  }
}
