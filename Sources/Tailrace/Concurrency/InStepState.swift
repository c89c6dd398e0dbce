/// The positions of the readers of one list, as a value: who may go on, and who waits for whom.
///
/// A position is the cost of all elements that a reader has taken: their number, unless the user
/// counts otherwise. A reader may take an element while it is less than the distance ahead of the
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
/// A reader counts its elements itself when this value need not be asked; `locate` reads that
/// count. The position known here may lag behind it. Only when a reader waits must the slowest one
/// report its next move; its position is then exact.
struct InStepState<Waiter: Sendable>: Sendable {
  /// The current position of a reader. If `isAwaited`, that reader calls `moved` as soon as it goes
  /// on from there.
  typealias Locate = (_ reader: Int, _ isAwaited: Bool) -> Int

  enum Answer: Equatable, Sendable {
    /// Elements may be taken while the reader is before this position.
    case mayRead(before: Int)
    /// The waiter is kept, and returned when asking again is worthwhile.
    case mustWait
  }

  private struct Waiting: Sendable {
    let waiter: Waiter
    let task: UInt
  }

  let distance: Int
  /// The readers that have not left, the slowest first, at their last known positions.
  private var readers: Ranking
  /// The waiting ones of these, at exact positions.
  private var waiting: Ranking
  private var waiters: [Waiting?]
  /// The waiting readers, by their tasks. A task waits in one place at a time.
  private var waitingInTask: [UInt: Int] = [:]
  /// The task in which each reader was seen last; 0 for none.
  private var tasks: [UInt]

  /// - Parameter distance: 1 or more.
  init(readers count: Int, distance: Int) {
    self.distance = distance
    readers = Ranking(count: count, at: 0)
    waiting = Ranking(capacity: count)
    waiters = Array(repeating: nil, count: count)
    tasks = Array(repeating: 0, count: count)
  }

  /// A reader is at its permitted end, and wants another element.
  mutating func demand(
    by reader: Int, at position: Int, in task: UInt, waiter: Waiter, _ locate: Locate
  ) -> Answer {
    readers.move(reader, to: position)
    tasks[reader] = task
    let bound = position - distance
    // Looks further than necessary, or it would soon be asked again.
    var slowest = slowest(ahead: position - distance / 2, locate)
    if slowest.position <= bound { slowest = awaitedSlowest(ahead: bound, locate) }
    if slowest.position > bound {
      let (end, isEndless) = slowest.position.addingReportingOverflow(distance)
      return .mayRead(before: isEndless ? .max : end)
    }
    // The waiting task itself has to move the slowest reader.
    if task != 0, tasks[slowest.item] == task { return .mayRead(before: position + 1) }
    waiting.insert(reader, at: position)
    waiters[reader] = Waiting(waiter: waiter, task: task)
    if task != 0 { waitingInTask[task] = reader }
    return .mustWait
  }

  /// An awaited reader has taken an element. Returns the waiters to wake.
  mutating func moved(
    _ reader: Int, to position: Int, in task: UInt, _ locate: Locate
  ) -> [Waiter] {
    readers.move(reader, to: position)
    tasks[reader] = task
    return release(locate)
  }

  /// A reader takes no more elements: it has ended, failed, been cancelled, or been released.
  /// Returns the waiters to wake.
  mutating func leave(_ reader: Int, _ locate: Locate) -> [Waiter] {
    readers.remove(reader)
    _ = wake(reader)
    return release(locate)
  }

  /// Whether a reader waits.
  func isWaiting(_ reader: Int) -> Bool { waiting.contains(reader) }

  /// Wakes readers that need not wait any longer.
  private mutating func release(_ locate: Locate) -> [Waiter] {
    var woken: [Waiter] = []
    while let first = waiting.first {
      let bound = first.position - distance
      let slowest = awaitedSlowest(ahead: bound, locate)
      if slowest.position > bound {
        if let waiter = wake(first.item) { woken.append(waiter) }
        continue
      }
      // No reader may wait in the task that has to move the slowest reader.
      if let own = waitingInTask[tasks[slowest.item]], let waiter = wake(own) {
        woken.append(waiter)
      }
      break
    }
    return woken
  }

  private mutating func wake(_ reader: Int) -> Waiter? {
    guard let former = waiters[reader].take() else { return nil }
    waiting.remove(reader)
    if waitingInTask[former.task] == reader { waitingInTask[former.task] = nil }
    return former.waiter
  }

  /// The slowest reader, after checking those that may be slower than a bound. It is ahead of the
  /// bound, or exactly there.
  private mutating func slowest(ahead bound: Int, _ locate: Locate) -> Ranking.Entry {
    while let first = readers.first {
      if first.position > bound { return first }
      let position = locate(first.item, false)
      if position == first.position { return first }
      readers.move(first.item, to: position)
    }
    preconditionFailure("a reader that has left asks, or is waited for")
  }

  /// The same; if it is not ahead of the bound, it will report its next move.
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
