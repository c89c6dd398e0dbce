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
  mutating func hit(_ key: Key, by asker: Asker, in task: UInt32, at now: Int64) -> Value? {
    guard !graph.isMarking, let value = base.hit(key, at: now) else { return nil }
    note(key, askedBy: asker, .result, in: task)
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

  // MARK: The end of a computation

  /// Whether a computation runs again, and as whom; as nobody if its key was forgotten.
  @usableFromInline
  enum Verdict: Sendable {
    case hasEnded
    case again(Asker?)
  }

  /// A computation has ended. It begins again if what it asked for was forgotten, or has changed.
  @_alwaysEmitIntoClient
  mutating func finish(
    _ key: Key, _ load: Table.Load, as asker: Asker?, _ outcome: Table.Outcome, in task: UInt32,
    at now: Int64, _ leavings: inout Table.Leavings
  ) -> Verdict {
    let place = base.place(of: load)
    base.noteFailure(place, outcome, &leavings)
    guard let place else {
      guard let asker, graph.endForgotten(asker.number) else { return .hasEnded }
      base.noteLoad(key, &leavings)
      return .again(nil)
    }
    if graph.isOverturned(place) {
      base.noteLoad(key, &leavings)
      return .again(begin(place, in: task))
    }
    var isRenewed = false
    if case .renewing = base.slots[place] { isRenewed = true }
    let (isWithdrawn, date) = (base.ages.isWithdrawn(place), base.ages.date(of: place))
    switch base.end(place, outcome, at: now, &leavings) {
    case .settled:
      // A value that was evicted cannot be compared, and nothing says that it has changed.
      var isChanged = graph.freshness(of: place) != .fresh
      if isRenewed {
        isChanged = true
        if case .value(_, _, _, isEqual: true) = outcome { isChanged = graph.isUncompared(place) }
      }
      settle(
        place, load.number, isChanged: isChanged, isCompared: isRenewed,
        wasServed: isRenewed && !isWithdrawn, since: date)
    case .restored where isWithdrawn:
      graph.fail(place)
      if !isCompared(place) { base.remove(place, &leavings) }
    case .restored: graph.cancel(place)
    case .removed: graph.fail(place)
    }
    sweep(at: now, &leavings)
    return .hasEnded
  }

  /// There is a new result.
  @_alwaysEmitIntoClient
  mutating func settle(
    _ place: Int, _ load: UInt32, isChanged: Bool, isCompared: Bool, wasServed: Bool,
    since former: Int64
  ) {
    graph.settle(
      place, load: load, isChanged: isChanged, isCompared: isCompared, wasServed: wasServed)
    setDoubts(place, since: former)
    // It is late.
    if graph.freshness(of: place) != .fresh {
      graph.marked.append(place)
    } else {
      announcing = place
    }
  }

  /// The former value of a key, which the result of a computation is compared with.
  @_alwaysEmitIntoClient
  func former(of load: Table.Load) -> Value? {
    guard let place = base.place(of: load), isCompared(place),
      case .renewing(let renewal) = base.slots[place]
    else { return nil }
    return renewal.old
  }

  /// Whether the next value of a key is compared with the one that there is, because others were computed from
  /// that, and may still be right.
  @_alwaysEmitIntoClient
  func isCompared(_ place: Int) -> Bool { canCompare && graph.hasDependents(place) }

  // MARK: Expiry

  /// Tells those that were computed from a result whose lifetime has ended, or that of its inputs.
  @_alwaysEmitIntoClient
  mutating func expire(_ place: Int, at now: Int64, _ leavings: inout Table.Leavings) {
    let hasExpired = base.ages.hasExpired(place, at: now)
    guard hasExpired || base.ages.isDoubtful(place, at: now),
      graph.freshness(of: place) != .outdated
    else { return }
    switch base.slots[place] {
    case .value where !base.ages.isWithdrawn(place):
      if hasExpired {
        let isKept = canCompare && !graph.isUncompared(place)
        graph.outdate(place, isKept: isKept, hasExpired: true)
      } else {
        graph.doubt(place)
      }
      base.withdraw(place)
    case .none: graph.outdate(place, isKept: false, hasExpired: true)
    case .failure:
      graph.outdate(place, isKept: false, hasExpired: true)
      base.remove(place, &leavings)
    // It is not served, or is being computed.
    case .computing, .value, .renewing: break
    }
  }

  @_alwaysEmitIntoClient
  mutating func expireInputs(of place: Int, at now: Int64, _ leavings: inout Table.Leavings) {
    guard base.ages.isTimed else { return }
    for input in graph.inputs(of: place) where !input.sawNothing {
      expire(Int(input.place), at: now, &leavings)
    }
  }

  /// Notes from when on the inputs of a new result may have expired.
  @_alwaysEmitIntoClient
  mutating func setDoubts(_ place: Int, since former: Int64) {
    guard base.ages.isTimed else { return }
    var date = Int64.max
    for input in graph.inputs(of: place) where !input.sawNothing {
      date = min(date, base.ages.date(of: Int(input.place)))
    }
    base.ages.setDoubts(place, date)
    // Its dependents would notice too late.
    if base.ages.date(of: place) < former { graph.doubtDependents(of: place) }
  }

  /// Looks for two expired results, as the plain table does.
  @_alwaysEmitIntoClient
  mutating func sweep(at now: Int64, _ leavings: inout Table.Leavings) {
    guard base.ages.isTimed else { return }
    for _ in 0..<2 {
      guard let place = base.nextExpired(at: now) else { continue }
      expire(place, at: now, &leavings)
      if !isCompared(place) { base.remove(place, &leavings) }
    }
  }

  // MARK: Known values, and forgetting

  /// The value of a key, served or not, and the number of its computation.
  @_alwaysEmitIntoClient
  func formerValue(of key: Key) -> (Value, UInt32)? {
    guard canCompare, let place = base.slots.place(of: key),
      case .value(let value) = base.slots[place]
    else { return nil }
    return (value, base.slots.slots[place].number)
  }

  /// A value is known. A computation in progress is nobody's but of those who wait for it.
  ///
  /// - Parameter number: that of the former value, if this one equals it.
  @_alwaysEmitIntoClient
  mutating func set(
    _ value: Value, for key: Key, _ cost: Int, _ lifetime: Int64?, equalTo number: UInt32?,
    at now: Int64, _ leavings: inout Table.Leavings
  ) {
    var isEqual = number.map { formerValue(of: key)?.1 == $0 } ?? false
    if let place = base.slots.place(of: key), graph.isUncompared(place) { isEqual = false }
    forget(key, &leavings)
    if isAbandoned { return }
    // What was there is kept for a comparison only.
    if let place = base.slots.place(of: key) { base.remove(place, &leavings) }
    base.put(value, for: key, cost, lifetime, at: now, &leavings)
    guard let place = base.slots.place(of: key) else { return }
    _ = begin(place, in: 0)
    settle(
      place, 0, isChanged: !isEqual, isCompared: true, wasServed: true, since: .max)
    sweep(at: now, &leavings)
  }

  /// Forgets a key, and marks what was computed from it. The value is kept for a comparison, if there
  /// can be one.
  @_alwaysEmitIntoClient
  mutating func forget(_ key: Key, _ leavings: inout Table.Leavings) {
    guard let place = base.slots.place(of: key) else { return base.forget(key, &leavings) }
    guard graph.hasDependents(place) else { return base.forget(key, &leavings) }
    if canCompare, case .renewing(let renewal) = base.slots[place] {
      base.restore(place, renewal, &leavings)
    }
    var isKept = false
    if canCompare, case .value = base.slots[place] { isKept = true }
    graph.outdate(place, isKept: isKept)
    graph.cancel(place)
    graph.endSettled(place)
    if isKept {
      base.forgettings &+= 1
      base.withdraw(place)
    } else {
      base.forget(key, &leavings)
    }
  }

  /// Forgets all keys. Returns what held them.
  @_alwaysEmitIntoClient
  mutating func forgetAll() -> (Table, DependencyGraph) {
    let former = graph
    graph.removeAll()
    announcing = nil
    return (base.forgetAll(), former)
  }

  /// Forgets the computations in progress of some slots, and keeps the rest. False behind the last one.
  @_alwaysEmitIntoClient
  mutating func abandon(
    from place: Int, atMost count: Int, _ leavings: inout Table.Leavings
  ) -> Bool {
    isAbandoned = true
    guard let places = base.slots.places(from: place, atMost: count) else { return false }
    for place in places {
      switch base.slots[place] {
      case .computing: base.remove(place, &leavings)
      case .renewing(let renewal):
        base.restore(place, renewal, &leavings)
        if base.ages.isWithdrawn(place) { graph.overrule(place) }
        graph.cancel(place)
      case .none, .value, .failure: break
      }
    }
    return true
  }

  // MARK: The end of an event

  /// How many slots are looked at in one turn: as many as dependents are marked in one.
  @usableFromInline static var slice: Int { DependencyGraph.usualSlice }

  /// Withdraws what the graph has marked, and frees what nobody needs: a slice of it.
  ///
  /// - Returns: whether there is nothing left.
  @_alwaysEmitIntoClient
  mutating func settleDown(_ leavings: inout Table.Leavings) -> Bool {
    if graph.isMarking { graph.proceed() }
    if !graph.marked.isEmpty { withdrawMarked(&leavings) }
    if let place = announcing { announce(place) }
    if graph.isMarking { return false }
    guard base.vacated?.isEmpty == false || !graph.freed.isEmpty else {
      checkInvariants()
      return true
    }
    return free(&leavings)
  }

  /// A value is not served until all that were computed from its former one are marked.
  @_alwaysEmitIntoClient
  mutating func announce(_ place: Int) {
    if graph.isMarking {
      if case .value = base.slots[place] { base.withdraw(place) }
    } else {
      announcing = nil
      if base.ages.isWithdrawn(place), graph.freshness(of: place) == .fresh { base.readmit(place) }
    }
  }

  @_alwaysEmitIntoClient
  mutating func withdrawMarked(_ leavings: inout Table.Leavings) {
    for place in graph.takeMarked() {
      guard base.isCounted(place) else { continue }
      base.statistics.outdated &+= 1
      if base.isReporting, let key = base.slots.slots[place].key {
        leavings.append(.event(.outdated(key)))
      }
      if case .failure = base.slots[place] {
        base.remove(place, &leavings)
      } else {
        base.withdraw(place)
      }
    }
  }

  /// Frees slots of keys that have neither a result nor a dependent. Each may be the last dependent of
  /// others.
  @_alwaysEmitIntoClient
  mutating func free(_ leavings: inout Table.Leavings) -> Bool {
    var left = Self.slice
    while left > 0, let place = base.vacated?.popLast() ?? graph.freed.popLast() {
      left -= 1
      guard case .none = base.slots[place], base.slots.slots[place].key != nil else { continue }
      graph.cancel(place)
      if graph.hasDependents(place) { continue }
      graph.remove(place)
      base.ages.end(place)
      leavings.append(.slot(base.slots.remove(place, leaving: .none)))
    }
    guard base.vacated?.isEmpty == true, graph.freed.isEmpty else { return false }
    checkInvariants()
    return true
  }
}
