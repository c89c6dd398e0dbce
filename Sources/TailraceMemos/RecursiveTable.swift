import TailraceLists

/// A table whose keys are computed from one another: a plain table, and a graph around it.
///
/// The table has the results and says when they are served; the graph knows who asked whom, and says which
/// results may not be right any more. Each event here is one of the table's, with what it means to the
/// graph; and what the graph marks is withdrawn in the table.
///
/// ```
///   (nothing) ──demand──▶ computing ──finish──▶ value ◀──────── all inputs came out equal ────┐
///                                               │  ▲                                         │
///                 an input is out of date, or expires │                                      │
///                                               ▼  └─finish── renewing ◀──demand── withdrawn ─┘
/// ```
///
/// A mark passes many dependents, so it takes several turns under the lock. Until they are done, values
/// that it has not reached are served as before, as is right: the call that began it has not returned. All
/// other events wait, and so does the value from which the mark comes.
///
/// Invariant: between events, a value is withdrawn exactly if its node in the graph is not fresh.
@usableFromInline
struct RecursiveTable<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Table = MemoTable<Key, Value, Failure>
  @usableFromInline typealias Asker = DependencyGraph.Asker

  /// All that there is for keys that are not computed from others.
  @usableFromInline var base: Table
  @usableFromInline var graph = DependencyGraph()
  /// Whether the next value can be compared with a former one.
  @usableFromInline let canCompare: Bool
  /// The last reader has gone: computations that ignore it begin no others.
  @usableFromInline var isAbandoned = false
  /// The key whose new value waits until all are told.
  @usableFromInline var announcing: Int?

  @_alwaysEmitIntoClient
  init(_ base: Table, isRecursive: Bool, canCompare: Bool) {
    (self.base, self.canCompare) = (base, canCompare)
    if isRecursive {
      self.base.vacated = []
      self.base.ages.areKept = true
    }
  }

  // MARK: Demands

  /// A hit of a computation, which depends on the value from now on.
  @_alwaysEmitIntoClient
  mutating func hit(in place: Int, by asker: Asker, in task: UInt32, at now: Int64) -> Value? {
    guard !graph.isMarking, let value = base.hit(in: place, at: now) else { return nil }
    graph.ask(place, by: asker.place, asker.number, .result, in: task)
    return value
  }

  /// A key is demanded, by a computation or from outside.
  @_alwaysEmitIntoClient
  mutating func demand(
    _ key: Key, by asker: Asker?, in task: UInt32, at now: Int64, _ leavings: inout Table.Leavings,
    _ make: (Table.Load) -> Table.Cell
  ) -> Table.Answer {
    if let place = base.slots.place(of: key) { lookAfter(place, at: now, &leavings) }
    let answer = base.demand(key, at: now, &leavings, make)
    if let asker {
      switch answer {
      case .value, .failure, .due: note(key, askedBy: asker, .result, in: task)
      case .pending: note(key, askedBy: asker, awaited(key), in: task)
      }
    }
    return answer
  }

  /// A key is about to be demanded: dates that have come are told, and a value whose inputs are all fresh is
  /// served again.
  @_alwaysEmitIntoClient
  mutating func lookAfter(_ place: Int, at now: Int64, _ leavings: inout Table.Leavings) {
    switch base.slots[place] {
    case .value where !base.ages.isServed(place, at: now):
      expire(place, at: now, &leavings)
      if base.ages.hasExpired(place, at: now) { graph.overrule(place) }
      expireInputs(of: place, at: now, &leavings)
      if graph.isConfirmed(place) { confirm(place) } else { graph.beginReview(place) }
    case .renewing where !base.ages.isWithdrawn(place) && !base.ages.isServed(place, at: now):
      // Its lifetime has ended while it is computed again.
      graph.outdate(place, isKept: canCompare, hasExpired: true)
      base.withdraw(place)
    case .none, .failure: expire(place, at: now, &leavings)
    case .computing, .value, .renewing: break
    }
  }

  /// A key is to be computed again.
  ///
  /// - Returns: the cell of the computation, and whether it begins now; `nil` if the memos are
  ///   released.
  @_alwaysEmitIntoClient
  mutating func refresh(
    _ key: Key, by asker: Asker?, in task: UInt32, at now: Int64,
    _ leavings: inout Table.Leavings, _ make: (Table.Load) -> Table.Cell
  ) -> (cell: Table.Cell, isNew: Bool)? {
    if isAbandoned { return nil }
    if let place = base.slots.place(of: key) {
      switch base.slots[place] {
      case .value where base.ages.isServed(place, at: now): break
      case .value:
        expire(place, at: now, &leavings)
        graph.beginReview(place)
        graph.overrule(place)
      case .renewing:
        // It may be about to confirm the old value.
        if base.ages.isWithdrawn(place) { graph.overrule(place) }
      // There is nothing to compare the next value with. What was computed from a value that was evicted
      // since has to see this one.
      case .none, .computing, .failure: graph.outdate(place, isKept: true)
      }
    }
    let renewal = base.refresh(key, at: now, &leavings, make)
    if let asker { note(key, askedBy: asker, awaited(key), in: task) }
    return renewal
  }

  /// The result that is served, without a demand.
  @_alwaysEmitIntoClient
  mutating func peek(
    _ key: Key, by asker: Asker?, in task: UInt32, at now: Int64
  ) -> Result<Value, Failure>? {
    let result = base.peek(key, at: now)
    if let asker {
      if case .success? = result {
        note(key, askedBy: asker, .looked, in: task)
      } else {
        note(key, askedBy: asker, .absence, in: task)
      }
    }
    return result
  }

  /// A computation has asked for a key, in a task.
  @_alwaysEmitIntoClient
  mutating func note(
    _ key: Key, askedBy asker: Asker, _ observation: DependencyGraph.Observation, in task: UInt32
  ) {
    var place = base.slots.place(of: key)
    // A key that was looked for has a slot, so that its first value is told to those that saw none.
    if place == nil, observation == .absence { place = base.slots.add(key, .none) }
    guard let place else { return }
    graph.ask(place, by: asker.place, asker.number, observation, in: task)
    if case .none = base.slots[place] { base.vacated?.append(place) }
  }

  /// What somebody depends on who waits for the computation of a key.
  @_alwaysEmitIntoClient
  func awaited(_ key: Key) -> DependencyGraph.Observation {
    .awaited(base.slots.place(of: key).map { base.slots.slots[$0].number } ?? 0)
  }

  // MARK: Reviews

  @usableFromInline
  enum Review: Sendable {
    /// Bring these keys up to date, and come back: those of one list one after the other, the lists at the
    /// same time.
    case demand([[Key]])
    /// All inputs came out equal.
    case unchanged(Value)
    /// Run the closure, as that asker; `nil` if the key was forgotten meanwhile.
    case compute(Asker?)
  }

  /// The task of a computation asks for its next step, before the closure.
  @_alwaysEmitIntoClient
  mutating func review(
    _ key: Key, _ load: Table.Load, in task: UInt32, at now: Int64,
    _ leavings: inout Table.Leavings
  ) -> Review {
    guard let place = base.place(of: load) else {
      if load.isReview { base.noteLoad(key, &leavings) }
      return .compute(nil)
    }
    if load.isReview, case .renewing(let renewal) = base.slots[place] {
      expireInputs(of: place, at: now, &leavings)
      switch graph.review(place) {
      case .demand(let chains):
        return .demand(chains.map { chain in chain.compactMap { base.slots.slots[$0].key } })
      case .isConfirmed:
        base.restore(place, renewal, &leavings)
        confirm(place)
        base.noteHit(key, &leavings)
        return .unchanged(renewal.old)
      case .isLate:
        base.restore(place, renewal, &leavings)
        graph.giveLate(place)
        base.noteHit(key, &leavings)
        return .unchanged(renewal.old)
      case .isOutdated: base.noteLoad(key, &leavings)
      }
    }
    return .compute(begin(place, in: task))
  }

  /// The closure is about to be run.
  @_alwaysEmitIntoClient
  mutating func begin(_ place: Int, in task: UInt32) -> Asker {
    Asker(place, graph.begin(place, in: task))
  }

  /// Whether the inputs of a key are still of interest.
  @_alwaysEmitIntoClient
  func isUnderReview(_ load: Table.Load) -> Bool {
    guard let place = base.place(of: load) else { return false }
    return graph.freshness(of: place) != .outdated
  }

  /// An input could not be brought up to date, so the closure decides.
  @_alwaysEmitIntoClient
  mutating func overrule(_ load: Table.Load) {
    if let place = base.place(of: load), base.ages.isWithdrawn(place) { graph.overrule(place) }
  }

  /// A value is still the right one.
  @_alwaysEmitIntoClient
  mutating func confirm(_ place: Int) {
    let former = base.ages.date(of: place)
    graph.confirm(place)
    setDoubts(place, since: former)
    base.readmit(place)
    announcing = place
  }
}
