import TailraceSupport

/// The positions of the readers of one list, as a value: who may go on, and who waits for whom.
///
/// A position is the cost of all elements that a reader has taken: their number, unless the user
/// counts otherwise. A reader may take an element while it is less than the distance ahead of the
/// slowest reader.
///
/// Positions decide, and nothing else. The task in which a reader was last seen tells nothing: its
/// iterator may have been handed over, and the address of a task that has ended is used again. So a
/// task that reads several readers waits as any other does, and must not let one of them get
/// further ahead of another than the distance.
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
struct LockstepState<Waiter: Sendable>: Sendable {
  /// The current position of a reader. If `isAwaited`, that reader calls `moved` as soon as it goes
  /// on from there.
  typealias Locate = (_ reader: Int, _ isAwaited: Bool) -> Int

  enum Answer: Equatable, Sendable {
    /// Elements may be taken while the reader is before this position.
    case mayRead(before: Int)
    /// The waiter is kept, and returned when asking again is worthwhile.
    case mustWait
  }

  /// How a reader is getting on.
  enum Standing: Equatable, Sendable {
    /// It has not asked for an element. Those that are waited for include it.
    case notRead
    case reading
    /// It is at the distance from these, the slowest, which are at that position.
    case waiting(for: [Int], at: Int)
    /// It has left.
    case over
  }

  let distance: Int
  /// The readers that have not left, the slowest first, at their last known positions.
  private var readers: Ranking
  /// The waiting ones of these, at exact positions.
  private var waiting: Ranking
  private var waiters: [Waiter?]
  /// The readers that have asked for an element.
  private var haveAsked: [Bool]

  /// - Parameter distance: 1 or more.
  init(readers count: Int, distance: Int) {
    self.distance = distance
    readers = Ranking(count: count, at: 0)
    waiting = Ranking(capacity: count)
    waiters = Array(repeating: nil, count: count)
    haveAsked = Array(repeating: false, count: count)
  }

  /// A reader is at its permitted end, and wants another element.
  mutating func demand(
    by reader: Int, at position: Int, waiter: Waiter, _ locate: Locate
  ) -> Answer {
    readers.move(reader, to: position)
    haveAsked[reader] = true
    let bound = position - distance
    // Looks further than necessary, or it would soon be asked again.
    var slowest = slowest(ahead: position - distance / 2, locate)
    if slowest.position <= bound { slowest = awaitedSlowest(ahead: bound, locate) }
    if slowest.position > bound {
      let (end, isEndless) = slowest.position.addingReportingOverflow(distance)
      return .mayRead(before: isEndless ? .max : end)
    }
    waiting.insert(reader, at: position)
    waiters[reader] = waiter
    return .mustWait
  }

  /// An awaited reader has taken an element. Returns the waiters to wake.
  mutating func moved(_ reader: Int, to position: Int, _ locate: Locate) -> [Waiter] {
    readers.move(reader, to: position)
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

  /// How a reader is getting on. Changes nothing, and nobody is awaited for it.
  func standing(of reader: Int, _ locate: Locate) -> Standing {
    guard readers.contains(reader) else { return .over }
    guard waiting.contains(reader) else { return haveAsked[reader] ? .reading : .notRead }
    var slowest: (readers: [Int], position: Int) = ([], .max)
    for item in haveAsked.indices where readers.contains(item) {
      let position = locate(item, false)
      if position < slowest.position { slowest = ([], position) }
      if position == slowest.position { slowest.readers.append(item) }
    }
    return .waiting(for: slowest.readers, at: slowest.position)
  }

  /// Wakes readers that need not wait any longer.
  private mutating func release(_ locate: Locate) -> [Waiter] {
    var woken: [Waiter] = []
    while let first = waiting.first {
      let bound = first.position - distance
      guard awaitedSlowest(ahead: bound, locate).position > bound else { break }
      if let waiter = wake(first.item) { woken.append(waiter) }
    }
    return woken
  }

  private mutating func wake(_ reader: Int) -> Waiter? {
    guard let waiter = waiters[reader].take() else { return nil }
    waiting.remove(reader)
    return waiter
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

extension LockstepState: Equatable, Hashable where Waiter: Hashable {}
