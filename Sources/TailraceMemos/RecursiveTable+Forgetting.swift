extension RecursiveTable {
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
