extension MemoTable {
  @usableFromInline
  enum Outcome: Sendable {
    /// - Parameters:
    ///   - lifetime: the value's own.
    ///   - isEqual: whether it equals the former value of the slot.
    case value(Value, cost: Int, lifetime: Int64? = nil, isEqual: Bool = false)
    case failure(Failure, isRemembered: Bool)
  }

  /// What the computation gives to those who wait for it.
  @usableFromInline
  enum Verdict: Sendable {
    case outcome
    /// The expired value stands in for a failure.
    case former(Value)
    /// It was overturned: it begins again, as that asker; `nil` if its key was forgotten.
    case again(Asker?)
  }

  /// The former value of a key, which the result of a computation is compared with.
  @_alwaysEmitIntoClient
  func former(of load: Load) -> Value? {
    guard canCompare, let place = place(of: load), graph?.hasDependents(place) == true else {
      return nil
    }
    switch slots[place] {
    case .renewing(let renewal), .replacing(let renewal): return renewal.old
    case .none, .computing, .value, .failure, .stale: return nil
    }
  }

  /// A computation has ended. If the key was forgotten meanwhile, nothing changes.
  @_alwaysEmitIntoClient
  mutating func finish(
    _ load: Load, _ outcome: Outcome, at now: Int64, in task: UInt32 = 0, _ leavings: inout Leavings
  ) -> Verdict {
    // A computation that was given up has no failure.
    if case .failure(let failure, _) = outcome, observers == nil || place(of: load) != nil {
      statistics.failures &+= 1
      if isReporting, let place = place(of: load), let key = slots.slots[place].key {
        leavings.append(.event(.failure(key, failure)))
      }
    }
    guard let place = place(of: load) else {
      return graph == nil ? .outcome : verdict(ofForgotten: load, &leavings)
    }
    if graph == nil, isFirst(place), case .value(let value, let cost, let lifetime, _) = outcome {
      // Most computations. The cell is moved out: a copy of the content takes some 30 ns.
      swap(&leavings.former, &slots.slots[place].content)
      ages.begin(place, isFailure: false, lifetime: lifetime, at: now)
      keep(.value(value), place, cost, false, &leavings)
      sweep(at: now, &leavings)
      return .outcome
    }
    return finishOther(place, outcome, at: now, in: task, &leavings)
  }

  /// Whether a key is computed, and has no other value meanwhile.
  @_alwaysEmitIntoClient
  func isFirst(_ place: Int) -> Bool {
    if case .computing = slots.slots[place].content { true } else { false }
  }

  /// A computation has ended that replaces something, has failed, or may be what others ask for.
  @_alwaysEmitIntoClient @inline(never)
  mutating func finishOther(
    _ place: Int, _ outcome: Outcome, at now: Int64, in task: UInt32, _ leavings: inout Leavings
  ) -> Verdict {
    if let asker = restart(place, in: task, &leavings) { return .again(asker) }
    leavings.former = slots[place]
    var isRenewed = true
    switch (leavings.former, outcome) {
    case (.renewing(let renewal), .failure)
    where ages.isServed(place, at: now) || ages.standsIn(place, at: now):
      // The old value is better than none.
      restore(place, .value(renewal.old), at: now, &leavings)
      ages.postpone(place, at: now)
      return .outcome
    case (.replacing(let renewal), .failure)
    where renewal.standsIn && ages.standsIn(place, at: now):
      count += 1
      statistics.servedStale &+= 1
      if isReporting, let key = slots.slots[place].key {
        leavings.append(.event(.servedStale(key)))
      }
      confirm(place, &leavings)
      restore(place, .value(renewal.old), at: now, &leavings)
      return .former(renewal.old)
    case (.replacing(let renewal), .failure(_, isRemembered: false)) where !renewal.standsIn:
      // The next value is compared with it.
      fail(place, &leavings)
      restore(place, .stale(renewal.old), at: now, &leavings)
      return .outcome
    case (.renewing, _): break
    case (.replacing(let renewal), _):
      count += 1
      slots[place] = .renewing(renewal)
    default: isRenewed = false
    }
    if isBounded, isRenewed { eviction.unpin(place) }
    switch outcome {
    case .value(let value, let cost, let lifetime, let isEqual):
      let date = ages.date(of: place)
      settle(place, isEqual: isEqual, &leavings)
      ages.begin(place, isFailure: false, lifetime: lifetime, at: now)
      setDoubts(place, since: date, &leavings)
      keep(.value(value), place, cost, isRenewed, &leavings)
      if let graph, graph.freshness(of: place) != .fresh { outdate([place], &leavings) }
    case .failure(let failure, isRemembered: true):
      let date = ages.date(of: place)
      settle(place, isEqual: false, &leavings)
      ages.begin(place, isFailure: true, at: now)
      setDoubts(place, since: date, &leavings)
      keep(.failure(failure), place, 1, isRenewed, &leavings)
      if let graph, graph.freshness(of: place) != .fresh { outdate([place], &leavings) }
    case .failure(_, isRemembered: false):
      fail(place, &leavings)
      remove(place, &leavings)
    }
    sweep(at: now, &leavings)
    return .outcome
  }

  /// A value that was being computed again is put back.
  @_alwaysEmitIntoClient
  mutating func restore(
    _ place: Int, _ content: Content, at now: Int64, _ leavings: inout Leavings
  ) {
    slots[place] = content
    cancel(place, &leavings)
    if isBounded { eviction.unpin(place) }
    makeRoom(for: 0, &leavings)
    sweep(at: now, &leavings)
  }

  @_alwaysEmitIntoClient
  mutating func keep(
    _ content: Content, _ place: Int, _ cost: Int, _ isRenewed: Bool, _ leavings: inout Leavings
  ) {
    if isBounded {
      // It exceeds the whole limit.
      guard cost <= eviction.limit else { return remove(place, &leavings) }
      if isRenewed {
        slots[place] = content
        eviction.pin(place)
      }
      let change = isRenewed ? cost - eviction.cost(of: place) : cost
      makeRoom(for: change, &leavings)
      guard eviction.canCount(change) else { return remove(place, &leavings) }
      if isRenewed { return eviction.unpin(place, cost: cost) }
      eviction.admit(place, hash: slots.slots[place].key.hashValue, cost: cost)
    }
    slots[place] = content
    if !isRenewed { count += 1 }
  }

  // MARK: Known values

  /// A value that came beside others. It is kept if it may not be older than what was forgotten.
  @_alwaysEmitIntoClient
  mutating func keep(
    _ value: Value, for key: Key, _ cost: Int, _ lifetime: Int64?,
    ifNothingForgottenSince forgettings: Int, at now: Int64, _ leavings: inout Leavings
  ) {
    guard !isAbandoned, forgettings == self.forgettings, slots.place(of: key) == nil,
      let place = slots.add(key, .none)
    else { return }
    ages.begin(place, isFailure: false, lifetime: lifetime, at: now)
    keep(.value(value), place, cost, false, &leavings)
  }

  /// The value of a key, served or not, and the number of its computation.
  @_alwaysEmitIntoClient
  func formerValue(of key: Key) -> (Value, UInt32)? {
    guard let place = slots.place(of: key) else { return nil }
    switch slots[place] {
    case .value(let value), .stale(let value): return (value, slots.slots[place].number)
    case .none, .computing, .failure, .renewing, .replacing: return nil
    }
  }

  /// A value is known. A computation in progress is nobody's but of those who wait for it, as after
  /// `forget`.
  ///
  /// - Parameter number: that of the former value, if this one equals it.
  @_alwaysEmitIntoClient
  mutating func set(
    _ value: Value, for key: Key, _ cost: Int, _ lifetime: Int64?, equalTo number: UInt32?,
    at now: Int64, _ leavings: inout Leavings
  ) {
    var isEqual = number.map { formerValue(of: key)?.1 == $0 } ?? false
    if let place = slots.place(of: key), graph?.isUncompared(place) == true { isEqual = false }
    forget(key, &leavings)
    if isAbandoned { return }
    guard let place = slots.place(of: key) ?? slots.add(key, .none) else { return }
    // What was there is kept for a comparison only.
    leavings.append(.content(slots[place]))
    retire(place)
    slots[place] = .none
    _ = load(for: place)
    _ = asker(place, in: 0, &leavings)
    settle(place, isChanged: !isEqual, isCompared: true, wasServed: true, &leavings)
    ages.begin(place, isFailure: false, lifetime: lifetime, at: now)
    setDoubts(place, since: .max, &leavings)
    keep(.value(value), place, cost, false, &leavings)
    sweep(at: now, &leavings)
  }

  // MARK: Letting go

  /// Forgets a key, whatever its content.
  @_alwaysEmitIntoClient
  mutating func forget(_ key: Key, _ leavings: inout Leavings) {
    forgettings &+= 1
    guard let place = slots.place(of: key) else { return }
    if graph == nil { return remove(place, &leavings) }
    forgetInGraph(place, &leavings)
  }

  /// Forgets all keys. Returns the table that held them.
  @_alwaysEmitIntoClient
  mutating func forgetAll() -> MemoTable {
    if graph != nil {
      for place in slots.slots.indices { noteLoss(place) }
    }
    let former = self
    forgettings &+= 1
    (slots, count, freed) = (Slots(), 0, [])
    if observers != nil { observers = [] }
    ages.removeAll()
    eviction = Eviction(limit: eviction.limit)
    graph?.removeAll()
    // Counting continues: the numbers tell computations apart.
    return former
  }

  /// Forgets computations in progress, and keeps the rest.
  @_alwaysEmitIntoClient
  mutating func abandon(_ leavings: inout Leavings) {
    isAbandoned = true
    for place in slots.slots.indices {
      switch slots[place] {
      case .computing: remove(place, &leavings)
      case .renewing(let renewal):
        leavings.append(.slot(slots.slots[place]))
        slots[place] = .value(renewal.old)
        slots.slots[place].number = 0
        if isBounded { eviction.unpin(place) }
        cancel(place, &leavings)
      case .replacing(let renewal):
        leavings.append(.slot(slots.slots[place]))
        if graph == nil {
          slots[place] = .value(renewal.old)
          count += 1
        } else {
          slots[place] = .stale(renewal.old)
          graph?.overrule(place)
        }
        if isBounded { eviction.unpin(place) }
        cancel(place, &leavings)
      case .none, .value, .failure, .stale: break
      }
    }
  }

  /// Evicts until there is room for a cost, or nothing can go.
  @_alwaysEmitIntoClient
  mutating func makeRoom(for cost: Int, _ leavings: inout Leavings) {
    guard isBounded else { return }
    while !eviction.hasRoom(for: cost), let (place, isFromSmall) = eviction.removeFirst() {
      statistics.evictions &+= 1
      let key = slots.slots[place].key
      if isFromSmall { eviction.remember(hash: key.hashValue) }
      if isReporting, let key { leavings.append(.event(.eviction(key))) }
      remove(place, &leavings)
    }
  }

  /// Checks two more slots, and removes expired contents. Each computation does so: results that
  /// are not demanded again go without a timer, and without a search through everything.
  @_alwaysEmitIntoClient
  mutating func sweep(at now: Int64, _ leavings: inout Leavings) {
    guard ages.areKept else { return }
    for _ in 0..<2 {
      let place = ages.next(of: slots.slots.count)
      switch slots[place] {
      case .value, .failure, .stale:
        guard ages.hasExpired(place, at: now), !ages.standsIn(place, at: now) else { break }
        expire(place, at: now, &leavings)
        if !isCompared(place) { remove(place, &leavings) }
      case .none, .computing, .renewing, .replacing: break
      }
    }
  }

  /// Whether the next value of a key is compared with the one that there is, because others were computed from
  /// that, and may still be right.
  @_alwaysEmitIntoClient
  func isCompared(_ place: Int) -> Bool {
    if case .failure = slots[place] { return false }
    return canCompare && graph?.hasDependents(place) == true
  }

  /// Removes a content, and the slot, unless others were computed from it.
  @_alwaysEmitIntoClient
  mutating func remove(_ place: Int, _ leavings: inout Leavings) {
    retire(place)
    if graph == nil { return leavings.append(.slot(slots.remove(place, leaving: .none))) }
    leavings.append(.content(slots[place]))
    empty(place)
    cancel(place, &leavings)
    release([place])
  }

  /// The slot stays, without a content: no computation in progress has its number.
  @_alwaysEmitIntoClient
  mutating func empty(_ place: Int) {
    noteLoss(place)
    slots[place] = .none
    slots.slots[place].number = 0
  }

  /// The content is no longer served, and is computed again or removed next.
  @_alwaysEmitIntoClient
  mutating func retire(_ place: Int) {
    switch slots[place] {
    case .none, .computing: return
    case .value, .failure, .renewing: count -= 1
    case .stale, .replacing: break
    }
    if isBounded { eviction.remove(place) }
  }
}
