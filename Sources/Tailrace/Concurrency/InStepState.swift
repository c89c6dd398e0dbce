/// Where the readers of one list stand, as a value: who may go on, and who waits for whom.
///
/// A position is the cost of all elements that a reader has taken, which is their number unless the
/// user counts otherwise. A reader may take an element while it is less than the distance ahead of the
/// slowest reader.
///
/// ```
///            demand                  demand, too far ahead
///   ┌──────────────────▶ reading ──────────────────────────▶ waiting
///   │ not begun             │ ▲                                │ │
///   │                       │ └── woken: moved or leave ───────┘ │
///   └─── leave ──────▶ gone ◀──────────── leave ─────────────────┘
/// ```
///
/// A reader counts its elements by itself, where nobody has to ask this value: `locate` looks there.
/// What is known of a position here may be behind it. Only where somebody waits has the slowest reader
/// to tell its next move, and it is known exactly from then on.
struct InStepState<Sleeper: Sendable>: Sendable {
  /// Where a reader stands now. If `isAwaited`, that reader calls `moved` as soon as it has gone on from
  /// there.
  typealias Locate = (_ reader: Int, _ isAwaited: Bool) -> Int

  enum Answer: Equatable, Sendable {
    /// Elements may be taken while the reader stands before this position.
    case mayRead(before: Int)
    /// The sleeper is kept, and given back when it is worth to ask again.
    case mustWait
  }

  private struct Waiting: Sendable {
    let sleeper: Sleeper
    let task: UInt
  }

  let distance: Int
  /// The readers that are not gone, the slowest first, where they were known to stand.
  private var readers: Ranking
  /// Of these the ones that wait; their positions are exact.
  private var waiting: Ranking
  private var sleepers: [Waiting?]
  /// The readers that wait, by the tasks that they wait in. A task waits in one place at a time.
  private var waitingInTask: [UInt: Int] = [:]
  /// The task in which each reader was seen last; 0 for none.
  private var tasks: [UInt]

  /// - Parameter distance: 1 or more.
  init(readers count: Int, distance: Int) {
    self.distance = distance
    readers = Ranking(count: count, at: 0)
    waiting = Ranking(capacity: count)
    sleepers = Array(repeating: nil, count: count)
    tasks = Array(repeating: 0, count: count)
  }

  /// A reader stands where it was allowed to go, and wants another element.
  mutating func demand(
    by reader: Int, at position: Int, in task: UInt, sleeper: Sleeper, _ locate: Locate
  ) -> Answer {
    readers.move(reader, to: position)
    tasks[reader] = task
    let bound = position - distance
    // Looks further than it has to, or it would soon be asked again.
    var slowest = slowest(ahead: position - distance / 2, locate)
    if slowest.position <= bound { slowest = awaitedSlowest(ahead: bound, locate) }
    if slowest.position > bound {
      let (end, isEndless) = slowest.position.addingReportingOverflow(distance)
      return .mayRead(before: isEndless ? .max : end)
    }
    // The task that would wait is the one to move the slowest reader.
    if task != 0, tasks[slowest.item] == task { return .mayRead(before: position + 1) }
    waiting.insert(reader, at: position)
    sleepers[reader] = Waiting(sleeper: sleeper, task: task)
    if task != 0 { waitingInTask[task] = reader }
    return .mustWait
  }

  /// A reader that somebody waits for has taken an element. Returns whom to wake.
  mutating func moved(
    _ reader: Int, to position: Int, in task: UInt, _ locate: Locate
  ) -> [Sleeper] {
    readers.move(reader, to: position)
    tasks[reader] = task
    return release(locate)
  }

  /// A reader takes no more elements: it has ended, failed, was cancelled, or was let go of. Returns whom
  /// to wake.
  mutating func leave(_ reader: Int, _ locate: Locate) -> [Sleeper] {
    readers.remove(reader)
    _ = wake(reader)
    return release(locate)
  }

  /// Whether a reader waits.
  func isWaiting(_ reader: Int) -> Bool { waiting.contains(reader) }

  /// Wakes those who need not wait any longer.
  private mutating func release(_ locate: Locate) -> [Sleeper] {
    var woken: [Sleeper] = []
    while let first = waiting.first {
      let bound = first.position - distance
      let slowest = awaitedSlowest(ahead: bound, locate)
      if slowest.position > bound {
        if let sleeper = wake(first.item) { woken.append(sleeper) }
        continue
      }
      // Nobody may wait in the task that is to move the slowest reader.
      if let own = waitingInTask[tasks[slowest.item]], let sleeper = wake(own) {
        woken.append(sleeper)
      }
      break
    }
    return woken
  }

  private mutating func wake(_ reader: Int) -> Sleeper? {
    guard let former = sleepers[reader].take() else { return nil }
    waiting.remove(reader)
    if waitingInTask[former.task] == reader { waitingInTask[former.task] = nil }
    return former.sleeper
  }

  /// The slowest reader, after looks at those that may be slower than a bound: it is ahead of the bound,
  /// or stands exactly there.
  private mutating func slowest(ahead bound: Int, _ locate: Locate) -> Ranking.Entry {
    while let first = readers.first {
      if first.position > bound { return first }
      let position = locate(first.item, false)
      if position == first.position { return first }
      readers.move(first.item, to: position)
    }
    preconditionFailure("a reader that has left asks, or is waited for")
  }

  /// The same; and if it is not ahead of the bound, it will tell its next move.
  private mutating func awaitedSlowest(ahead bound: Int, _ locate: Locate) -> Ranking.Entry {
    while true {
      let slowest = slowest(ahead: bound, locate)
      if slowest.position > bound { return slowest }
      let position = locate(slowest.item, true)
      if position == slowest.position { return slowest }
      readers.move(slowest.item, to: position)
    }
  }
}
