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
///   │ not read              │ ▲                                │ │
///   │                       │ └── woken: moved or leave ───────┘ │
///   └─── leave ──────▶ over ◀──────────── leave ─────────────────┘
/// ```
///
/// A reader counts its elements itself when this value need not be asked; `locate` reads that
/// count. Only when a reader waits must the slowest one report its next move. There are few readers, so
/// each question looks at all of them.
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

  fileprivate enum Phase: Sendable {
    case notRead
    case reading
    case waiting(Waiter, at: Int)
    case over
  }

  let distance: Int
  private var phases: [Phase]

  /// - Parameter distance: 1 or more.
  init(readers count: Int, distance: Int) {
    self.distance = distance
    phases = Array(repeating: .notRead, count: count)
  }

  /// A reader is at its permitted end, and wants another element.
  mutating func demand(
    by reader: Int, at position: Int, waiter: Waiter, _ locate: Locate
  ) -> Answer {
    phases[reader] = .reading
    let bound = position - distance
    let slowest = slowest(awaitedUpTo: bound, locate)
    if slowest > bound {
      let (end, isEndless) = slowest.addingReportingOverflow(distance)
      return .mayRead(before: isEndless ? .max : end)
    }
    phases[reader] = .waiting(waiter, at: position)
    return .mustWait
  }

  /// An awaited reader has taken an element. Returns the waiters to wake.
  mutating func moved(_ locate: Locate) -> [Waiter] { release(locate) }

  /// A reader takes no more elements: it has ended, failed, been cancelled, or been released.
  /// Returns the waiters to wake.
  mutating func leave(_ reader: Int, _ locate: Locate) -> [Waiter] {
    phases[reader] = .over
    return release(locate)
  }

  /// Whether a reader waits.
  func isWaiting(_ reader: Int) -> Bool {
    if case .waiting = phases[reader] { true } else { false }
  }

  /// How a reader is getting on. Changes nothing, and nobody is awaited for it.
  func standing(of reader: Int, _ locate: Locate) -> Standing {
    switch phases[reader] {
    case .notRead: return .notRead
    case .reading: return .reading
    case .over: return .over
    case .waiting:
      let positions = present.map { (reader: $0, position: locate($0, false)) }
      let slowest = positions.map(\.position).min() ?? .max
      return .waiting(
        for: positions.filter { $0.position == slowest }.map(\.reader), at: slowest)
    }
  }

  /// The readers that have not left.
  private var present: [Int] {
    phases.indices.filter { if case .over = phases[$0] { false } else { true } }
  }

  /// The waiting reader that is the furthest behind.
  private var firstWaiting: (reader: Int, waiter: Waiter, position: Int)? {
    var first: (reader: Int, waiter: Waiter, position: Int)?
    for (reader, phase) in phases.enumerated() {
      if case .waiting(let waiter, let position) = phase, position < first?.position ?? .max {
        first = (reader, waiter, position)
      }
    }
    return first
  }

  /// Wakes readers that need not wait any longer.
  private mutating func release(_ locate: Locate) -> [Waiter] {
    var woken: [Waiter] = []
    while let first = firstWaiting {
      let bound = first.position - distance
      guard slowest(awaitedUpTo: bound, locate) > bound else { break }
      phases[first.reader] = .reading
      woken.append(first.waiter)
    }
    return woken
  }

  /// The position of the slowest reader. If it is not ahead of a bound, that reader reports its next move.
  private func slowest(awaitedUpTo bound: Int, _ locate: Locate) -> Int {
    while true {
      var (slowest, position) = (0, Int.max)
      for reader in phases.indices {
        if case .over = phases[reader] { continue }
        let own = locate(reader, false)
        if own < position { (slowest, position) = (reader, own) }
      }
      if position > bound { return position }
      // It may have gone on meanwhile.
      if locate(slowest, true) == position { return position }
    }
  }
}

extension LockstepState.Phase: Equatable, Hashable where Waiter: Hashable {}
extension LockstepState: Equatable, Hashable where Waiter: Hashable {}
