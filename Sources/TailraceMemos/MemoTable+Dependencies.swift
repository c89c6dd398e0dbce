// Keys that are computed from other keys. Without a graph nothing here does anything.

extension MemoTable {
  /// The computation that asks for a key, by its number in the graph.
  @usableFromInline
  struct Asker: Sendable {
    @usableFromInline let place: Int
    @usableFromInline let number: UInt32

    @_alwaysEmitIntoClient
    init(_ place: Int, _ number: UInt32) { (self.place, self.number) = (place, number) }
  }

  /// A computation has asked for a key, in a task.
  @_alwaysEmitIntoClient
  mutating func note(
    _ key: Key, askedBy asker: Asker, _ observation: DependencyGraph.Observation,
    in task: UInt32
  ) {
    guard graph != nil else { return }
    var place = slots.place(of: key)
    // A key that was looked for has a slot, so that its first value is told to those that saw none.
    if place == nil, observation == .absence { place = slots.add(key, .none) }
    guard let place else { return }
    graph?.ask(place, by: asker.place, asker.number, observation, in: task)
    if case .none = slots[place] { release([place]) }
  }

  /// What the asker of a demand depends on.
  @_alwaysEmitIntoClient
  func observation(of key: Key, _ answer: Answer) -> DependencyGraph.Observation {
    switch answer {
    case .value, .failure, .due: .result
    case .pending: awaited(key)
    }
  }

  /// What somebody depends on who waits for the computation of a key.
  @_alwaysEmitIntoClient
  func awaited(_ key: Key) -> DependencyGraph.Observation {
    .awaited(slots.place(of: key).map { slots.slots[$0].number } ?? 0)
  }

  // MARK: Demands of values that may not be right any more

  /// A value is demanded that is not served: it has expired, or what it was computed from may have.
  ///
  /// - Returns: `nil` if the value is of no use any more.
  @_alwaysEmitIntoClient
  mutating func replace(
    _ place: Int, _ value: Value, at now: Int64, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> Answer? {
    let hasExpired = ages.hasExpired(place, at: now)
    let standsIn = hasExpired && ages.standsIn(place, at: now)
    guard !hasExpired || standsIn || isCompared(place) else { return nil }
    expire(place, at: now, &leavings)
    count -= 1
    if !hasExpired {
      slots[place] = .stale(value)
      return review(place, value, at: now, &leavings, make)
    }
    noteLoad(place, &leavings)
    let cell = make(load(for: place))
    slots[place] = .replacing(Renewal(value, cell, standsIn: standsIn))
    if isBounded { eviction.pin(place) }
    return .pending(cell)
  }

  /// A value is demanded whose inputs may have changed.
  @_alwaysEmitIntoClient
  mutating func review(
    _ place: Int, _ value: Value, at now: Int64, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> Answer {
    if ages.areKept {
      if ages.hasExpired(place, at: now) { graph?.overrule(place) }
      expireInputs(of: place, at: now, &leavings)
    }
    guard graph?.isConfirmed(place) != false else {
      return .pending(beginReview(place, value, make))
    }
    slots[place] = .value(value)
    count += 1
    confirm(place, &leavings)
    noteHit(place, at: now, &leavings)
    return .value(value)
  }

  @_alwaysEmitIntoClient
  mutating func expireInputs(of place: Int, at now: Int64, _ leavings: inout Leavings) {
    guard ages.areKept else { return }
    for input in graph?.inputs(of: place) ?? [] { expire(input, at: now, &leavings) }
  }

  @_alwaysEmitIntoClient
  mutating func beginReview(_ place: Int, _ value: Value, _ make: (Load) -> Cell) -> Cell {
    graph?.beginReview(place)
    let cell = make(load(for: place, isReview: true))
    slots[place] = .replacing(Renewal(value, cell, isReview: true))
    if isBounded { eviction.pin(place) }
    return cell
  }

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
    _ key: Key, _ load: Load, at now: Int64, in task: UInt32, _ leavings: inout Leavings
  ) -> Review {
    guard let place = place(of: load) else {
      if load.isReview {
        statistics.loads &+= 1
        if isReporting { leavings.append(.event(.load(key))) }
      }
      return .compute(nil)
    }
    if case .replacing(let renewal) = slots[place], renewal.isReview {
      expireInputs(of: place, at: now, &leavings)
      switch graph?.review(place) {
      case .demand(let chains):
        return .demand(chains.map { chain in chain.compactMap { slots.slots[$0].key } })
      case .isConfirmed:
        leavings.former = slots[place]
        slots[place] = .value(renewal.old)
        count += 1
        confirm(place, &leavings)
        endReview(key, place, &leavings)
        return .unchanged(renewal.old)
      case .isLate:
        leavings.former = slots[place]
        slots[place] = .stale(renewal.old)
        var marked: [Int] = []
        graph?.giveLate(place, &marked)
        outdate(marked, &leavings)
        endReview(key, place, &leavings)
        return .unchanged(renewal.old)
      case .isOutdated, nil: break
      }
      noteLoad(place, &leavings)
      leavings.former = slots[place]
      slots[place] = .replacing(Renewal(renewal.old, renewal.cell))
    }
    return .compute(asker(place, in: task, &leavings))
  }

  /// The former value is given. That is a hit.
  @_alwaysEmitIntoClient
  mutating func endReview(_ key: Key, _ place: Int, _ leavings: inout Leavings) {
    statistics.hits &+= 1
    if isReporting { leavings.append(.event(.hit(key))) }
    if isBounded { eviction.unpin(place) }
    makeRoom(for: 0, &leavings)
  }

  /// Whether the inputs of a key are still of interest.
  @_alwaysEmitIntoClient
  func isUnderReview(_ load: Load) -> Bool {
    guard let place = place(of: load) else { return false }
    return graph?.freshness(of: place) != .outdated
  }

  /// An input could not be brought up to date, so the closure decides.
  @_alwaysEmitIntoClient
  mutating func overrule(_ load: Load) {
    if let place = place(of: load) { graph?.overrule(place) }
  }

  /// The closure is about to be run.
  @_alwaysEmitIntoClient
  mutating func asker(_ place: Int, in task: UInt32, _ leavings: inout Leavings) -> Asker? {
    var freed: [Int] = []
    guard let number = graph?.begin(place, in: task, &freed) else { return nil }
    release(freed)
    return Asker(place, number)
  }

  // MARK: The end of a computation

  /// The computation of a key goes on, and its result is not stored.
  @_alwaysEmitIntoClient
  mutating func noteLoss(_ place: Int) {
    if graph?.isOverturned(place) == true { lost.insert(slots.slots[place].number) }
  }

  @_alwaysEmitIntoClient
  mutating func verdict(ofForgotten load: Load, _ leavings: inout Leavings) -> Verdict {
    guard lost.remove(load.number) != nil else { return .outcome }
    statistics.loads &+= 1
    return .again(nil)
  }

  /// A computation begins again if what it asked for was forgotten, or has changed.
  @_alwaysEmitIntoClient
  mutating func restart(_ place: Int, in task: UInt32, _ leavings: inout Leavings) -> Asker? {
    guard graph?.isOverturned(place) == true else { return nil }
    noteLoad(place, &leavings)
    return asker(place, in: task, &leavings)
  }

  /// There is a new result. The former one is still in the leavings.
  @_alwaysEmitIntoClient
  mutating func settle(_ place: Int, isEqual: Bool, _ leavings: inout Leavings) {
    guard graph != nil else { return }
    let isUnlike = !isEqual || graph?.isUncompared(place) == true
    let (isChanged, isCompared, wasServed) =
      switch leavings.former {
      case .renewing: (isUnlike, true, true)
      case .replacing: (isUnlike, true, false)
      // A value that was evicted cannot be compared, and nothing says that it has changed.
      default: (graph?.freshness(of: place) != .fresh, false, false)
      }
    settle(place, isChanged: isChanged, isCompared: isCompared, wasServed: wasServed, &leavings)
  }

  @_alwaysEmitIntoClient
  mutating func settle(
    _ place: Int, isChanged: Bool, isCompared: Bool, wasServed: Bool, _ leavings: inout Leavings
  ) {
    guard graph != nil else { return }
    var (marked, freed): ([Int], [Int]) = ([], [])
    graph?.settle(
      place, load: slots.slots[place].number, isChanged: isChanged, isCompared: isCompared,
      wasServed: wasServed, &marked, &freed)
    outdate(marked, &leavings)
    release(freed)
  }

  /// Notes from when on the inputs of a new result may have expired.
  @_alwaysEmitIntoClient
  mutating func setDoubts(_ place: Int, since former: Int64, _ leavings: inout Leavings) {
    guard graph != nil, ages.areKept else { return }
    var date = Int64.max
    for input in graph?.inputs(of: place) ?? [] { date = min(date, ages.date(of: input)) }
    ages.setDoubts(place, date)
    guard ages.date(of: place) < former else { return }
    // Its dependents would notice too late.
    var marked: [Int] = []
    graph?.doubtDependents(of: place, &marked)
    outdate(marked, &leavings)
  }

  /// A value is still the right one.
  @_alwaysEmitIntoClient
  mutating func confirm(_ place: Int, _ leavings: inout Leavings) {
    guard graph != nil else { return }
    let former = ages.date(of: place)
    var marked: [Int] = []
    graph?.confirm(place, &marked)
    outdate(marked, &leavings)
    setDoubts(place, since: former, &leavings)
  }

  /// There is no new result.
  @_alwaysEmitIntoClient
  mutating func fail(_ place: Int, _ leavings: inout Leavings) {
    var (marked, freed): ([Int], [Int]) = ([], [])
    graph?.fail(place, &marked, &freed)
    outdate(marked, &leavings)
    release(freed)
  }

  /// The computation in progress is given up.
  @_alwaysEmitIntoClient
  mutating func cancel(_ place: Int, _ leavings: inout Leavings) {
    var freed: [Int] = []
    graph?.cancel(place, &freed)
    release(freed)
  }

  // MARK: Marking

  /// Marks what was computed from a result whose lifetime has ended, or that of its inputs.
  @_alwaysEmitIntoClient
  mutating func expire(_ place: Int, at now: Int64, _ leavings: inout Leavings) {
    guard graph != nil, ages.areKept, graph?.freshness(of: place) != .outdated else { return }
    let hasExpired = ages.hasExpired(place, at: now)
    guard hasExpired || ages.isDoubtful(place, at: now) else { return }
    var marked: [Int] = []
    switch slots[place] {
    case .value where !hasExpired: graph?.doubt(place, &marked)
    case .value:
      let isKept = canCompare && graph?.isUncompared(place) != true
      graph?.outdate(place, isKept: isKept, hasExpired: true, &marked)
    case .none, .failure: graph?.outdate(place, isKept: false, hasExpired: true, &marked)
    // It is not served, or is being computed.
    case .computing, .renewing, .stale, .replacing: break
    }
    outdate(marked, &leavings)
  }

  /// The same, for a value that is being computed again.
  @_alwaysEmitIntoClient
  mutating func expireRenewed(_ place: Int, _ leavings: inout Leavings) {
    guard graph != nil else { return }
    var marked: [Int] = []
    graph?.outdate(place, isKept: canCompare, hasExpired: true, &marked)
    outdate(marked, &leavings)
  }

  /// What was computed from a key waits for its next result.
  @_alwaysEmitIntoClient
  mutating func outdate(_ place: Int, isKept: Bool, _ leavings: inout Leavings) {
    var marked: [Int] = []
    graph?.outdate(place, isKept: isKept, &marked)
    outdate(marked, &leavings)
  }

  /// These are not fresh any more, because of others.
  @_alwaysEmitIntoClient
  mutating func outdate(_ marked: [Int], _ leavings: inout Leavings) {
    for place in marked {
      switch slots[place] {
      case .value(let value):
        slots[place] = .stale(value)
        count -= 1
      case .renewing(let renewal):
        slots[place] = .replacing(Renewal(renewal.old, renewal.cell))
        count -= 1
      case .failure:
        leavings.append(.content(slots[place]))
        retire(place)
        slots[place] = .none
        release([place])
      case .none, .computing, .stale, .replacing: continue
      }
      statistics.outdated &+= 1
      if isReporting, let key = slots.slots[place].key { leavings.append(.event(.outdated(key))) }
    }
  }

  /// Forgets a key, and marks what was computed from it. The value is kept for a comparison, if there
  /// can be one.
  @_alwaysEmitIntoClient
  mutating func forgetInGraph(_ place: Int, _ leavings: inout Leavings) {
    guard graph?.hasDependents(place) == true else { return remove(place, &leavings) }
    let content = slots[place]
    let old: Value? =
      switch content {
      case .value(let value), .stale(let value): canCompare ? value : nil
      case .renewing(let renewal), .replacing(let renewal): canCompare ? renewal.old : nil
      case .none, .computing, .failure: nil
      }
    noteLoss(place)
    var (marked, freed): ([Int], [Int]) = ([], [])
    graph?.outdate(place, isKept: old != nil, &marked)
    graph?.cancel(place, &freed)
    graph?.endSettled(place, &freed)
    leavings.append(.content(content))
    if let old {
      switch content {
      case .value: count -= 1
      case .renewing:
        count -= 1
        if isBounded { eviction.unpin(place) }
      case .replacing: if isBounded { eviction.unpin(place) }
      case .none, .computing, .failure, .stale: break
      }
      slots[place] = .stale(old)
      slots.slots[place].number = 0
    } else {
      retire(place)
      empty(place)
    }
    outdate(marked, &leavings)
    release(freed)
  }

  /// These keys may have neither a value nor a dependent any more. Their slots are freed at the end of the
  /// event, which may be about to use them.
  @_alwaysEmitIntoClient
  mutating func release(_ places: [Int]) { freed += places }

  /// The end of an event: frees the slots of keys that have neither a value nor a dependent.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func endEvent(_ leavings: inout Leavings) {
    if !freed.isEmpty { free(&leavings) }
    checkInvariants()
  }

  @_alwaysEmitIntoClient
  mutating func free(_ leavings: inout Leavings) {
    while let place = freed.popLast() {
      guard case .none = slots[place], slots.slots[place].key != nil,
        graph?.hasDependents(place) != true
      else { continue }
      graph?.remove(place, &freed)
      ages.end(place)
      leavings.append(.slot(slots.remove(place, leaving: .none)))
    }
  }
}
