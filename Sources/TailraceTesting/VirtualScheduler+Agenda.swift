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

  struct Entry: Sendable {
    let date: VirtualScheduler.Instant
    let number: Int
    let piece: Piece

    func comes(before other: Entry) -> Bool {
      (date, number) < (other.date, other.number)
    }
  }

  private(set) var now = VirtualScheduler.Instant.start
  private var entries: [Entry] = []
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
      for index in (0..<entries.count / 2).reversed() { sink(index) }
      limit = max(64, entries.count * 2)
    }
    entries.append(Entry(date: max(date ?? now, now), number: arrivals, piece: piece))
    arrivals += 1
    rise(entries.count - 1)
  }

  /// Takes the next entry that is due until a date, and lets time pass to its date.
  mutating func next(until limit: VirtualScheduler.Instant?) -> Entry? {
    while let first = entries.first {
      if first.piece.isOver {
        removeFirst()
        continue
      }
      if let limit, first.date > max(limit, now) { return nil }
      removeFirst()
      now = first.date
      return first
    }
    return nil
  }

  mutating func pass(to date: VirtualScheduler.Instant) { now = max(now, date) }

  var pendingCount: Int { entries.count { !$0.piece.isOver } }

  /// The work that was left.
  mutating func removeAll() -> [ScheduledWork] {
    defer { entries = [] }
    return entries.compactMap { if case .work(let work) = $0.piece { work } else { nil } }
  }

  // MARK: The heap

  private mutating func removeFirst() {
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    sink(0)
  }

  private mutating func rise(_ start: Int) {
    var index = start
    while index > 0, entries[index].comes(before: entries[(index - 1) / 2]) {
      entries.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var first = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && entries[child].comes(before: entries[first]) {
        first = child
      }
      guard first != index else { return }
      entries.swapAt(index, first)
      index = first
    }
  }
}
