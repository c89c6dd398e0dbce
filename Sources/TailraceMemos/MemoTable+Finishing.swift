extension MemoTable {
  @usableFromInline
  enum Outcome: Sendable {
    /// - Parameters:
    ///   - lifetime: the value's own.
    ///   - isEqual: whether it equals the former value of the slot.
    case value(Value, cost: Int, lifetime: Int64? = nil, isEqual: Bool = false)
    case failure(Failure, isRemembered: Bool)
  }

  /// What has become of the slot of a computation that has ended.
  @usableFromInline
  enum Ending: Sendable {
    /// It has the new result, or would have it if there were room.
    case settled
    /// It has the old value again. If that stands in for the failure, it is given to those who wait.
    case restored(standsIn: Value? = nil)
    /// It has nothing.
    case removed
  }

  /// A computation has ended. If the key was forgotten meanwhile, nothing changes.
  ///
  /// - Returns: the value that stands in for a failure.
  @_alwaysEmitIntoClient
  mutating func finish(
    _ load: Load, _ outcome: Outcome, at now: Int64, _ leavings: inout Leavings
  ) -> Value? {
    let place = place(of: load)
    noteFailure(place, outcome, &leavings)
    guard let place else { return nil }
    let ending = end(place, outcome, at: now, &leavings)
    sweep(at: now, &leavings)
    if case .restored(standsIn: let value) = ending { return value }
    return nil
  }

  @_alwaysEmitIntoClient
  mutating func noteFailure(_ place: Int?, _ outcome: Outcome, _ leavings: inout Leavings) {
    // A computation that was given up has no failure.
    guard case .failure(let failure, _) = outcome, observers == nil || place != nil else { return }
    statistics.failures &+= 1
    if isReporting, let place, let key = slots.slots[place].key {
      leavings.append(.event(.failure(key, failure)))
    }
  }

  /// The computation of a slot has ended.
  @_alwaysEmitIntoClient
  mutating func end(
    _ place: Int, _ outcome: Outcome, at now: Int64, _ leavings: inout Leavings
  ) -> Ending {
    if case .failure(_, let isRemembered) = outcome,
      case .renewing(let renewal) = slots.slots[place].content,
      let ending = restore(place, renewal, isRemembered, at: now, &leavings)
    {
      return ending
    }
    if isCounted(place) { count -= 1 }
    // The cell is moved out: a copy of the content takes some 30 ns.
    swap(&leavings.former, &slots.slots[place].content)
    switch outcome {
    case .value(let value, let cost, let lifetime, _):
      ages.begin(place, isFailure: false, lifetime: lifetime, at: now)
      keep(.value(value), place, cost, &leavings)
      return .settled
    case .failure(let failure, isRemembered: true):
      ages.begin(place, isFailure: true, at: now)
      keep(.failure(failure), place, 1, &leavings)
      return .settled
    case .failure(_, isRemembered: false):
      remove(place, &leavings)
      return .removed
    }
  }

  /// A computation has failed, and there is an old value: that is better than none.
  ///
  /// - Returns: `nil` if it is of no use any more.
  @_alwaysEmitIntoClient
  mutating func restore(
    _ place: Int, _ renewal: Renewal, _ isRemembered: Bool, at now: Int64,
    _ leavings: inout Leavings
  ) -> Ending? {
    var former: Value?
    if ages.isWithdrawn(place) {
      // The next value is compared with it.
      if isRemembered { return nil }
    } else if !ages.hasExpired(place, at: now) {
      ages.postpone(place, at: now)
    } else if ages.standsIn(place, at: now) {
      former = renewal.old
      statistics.servedStale &+= 1
      if isReporting, let key = slots.slots[place].key {
        leavings.append(.event(.servedStale(key)))
      }
    } else {
      return nil
    }
    restore(place, renewal, &leavings)
    return .restored(standsIn: former)
  }

  /// A value that was being computed again is put back.
  @_alwaysEmitIntoClient
  mutating func restore(_ place: Int, _ renewal: Renewal, _ leavings: inout Leavings) {
    leavings.append(.content(slots[place]))
    slots[place] = .value(renewal.old)
    if isBounded { eviction.unpin(place) }
    makeRoom(for: 0, &leavings)
  }

  /// An empty slot gets a result, if there is room.
  @_alwaysEmitIntoClient
  mutating func keep(_ content: Content, _ place: Int, _ cost: Int, _ leavings: inout Leavings) {
    if isBounded {
      // It exceeds the whole limit.
      guard cost <= eviction.limit else { return remove(place, &leavings) }
      let change = cost - eviction.cost(of: place)
      makeRoom(for: change, &leavings)
      guard eviction.canCount(change) else { return remove(place, &leavings) }
      eviction.keep(place, hash: slots.hash(at: place), cost: cost)
    }
    slots[place] = content
    count += 1
  }

  // MARK: Known values

  /// A value that came beside others. It is kept if it may not be older than what was forgotten.
  @_alwaysEmitIntoClient
  mutating func keep(
    _ value: Value, for key: Key, _ cost: Int, _ lifetime: Int64?,
    ifNothingForgottenSince forgettings: Int, at now: Int64, _ leavings: inout Leavings
  ) {
    guard forgettings == self.forgettings, slots.place(of: key) == nil else { return }
    put(value, for: key, cost, lifetime, at: now, &leavings)
  }

  /// A value is known. A computation in progress is nobody's but of those who wait for it, as after
  /// `forget`.
  @_alwaysEmitIntoClient
  mutating func set(
    _ value: Value, for key: Key, _ cost: Int, _ lifetime: Int64?, at now: Int64,
    _ leavings: inout Leavings
  ) {
    forget(key, &leavings)
    put(value, for: key, cost, lifetime, at: now, &leavings)
    sweep(at: now, &leavings)
  }

  /// A key without a content gets a value.
  @_alwaysEmitIntoClient
  mutating func put(
    _ value: Value, for key: Key, _ cost: Int, _ lifetime: Int64?, at now: Int64,
    _ leavings: inout Leavings
  ) {
    guard let place = slots.place(of: key) ?? slots.add(key, .none) else { return }
    _ = load(for: place)
    ages.begin(place, isFailure: false, lifetime: lifetime, at: now)
    keep(.value(value), place, cost, &leavings)
  }

  // MARK: Letting go

  /// Forgets a key, whatever its content.
  @_alwaysEmitIntoClient
  mutating func forget(_ key: Key, _ leavings: inout Leavings) {
    forgettings &+= 1
    if let place = slots.place(of: key) { remove(place, &leavings) }
  }

  /// Forgets all keys. Returns the table that held them.
  @_alwaysEmitIntoClient
  mutating func forgetAll() -> MemoTable {
    let former = self
    forgettings &+= 1
    (slots, count) = (Slots(), 0)
    if vacated != nil { vacated = [] }
    if observers != nil { observers = [] }
    ages.removeAll()
    eviction = Eviction(limit: eviction.limit)
    // Counting continues: the numbers tell computations apart.
    return former
  }

  /// Evicts until there is room for a cost, or nothing can go.
  @_alwaysEmitIntoClient
  mutating func makeRoom(for cost: Int, _ leavings: inout Leavings) {
    guard isBounded else { return }
    while !eviction.hasRoom(for: cost), let (place, isFromSmall) = eviction.removeFirst() {
      statistics.evictions &+= 1
      if isFromSmall { eviction.remember(hash: slots.hash(at: place)) }
      if isReporting, let key = slots.slots[place].key { leavings.append(.event(.eviction(key))) }
      remove(place, &leavings)
    }
  }

  /// Checks two more slots, and removes expired contents. Each computation does so: results that
  /// are not demanded again go without a timer, and without a search through everything.
  @_alwaysEmitIntoClient
  mutating func sweep(at now: Int64, _ leavings: inout Leavings) {
    guard ages.isTimed else { return }
    for _ in 0..<2 { if let place = nextExpired(at: now) { remove(place, &leavings) } }
  }

  /// The next slot, if its content has expired.
  @_alwaysEmitIntoClient
  mutating func nextExpired(at now: Int64) -> Int? {
    let place = ages.next(of: slots.slots.count)
    guard place < slots.slots.count else { return nil }
    switch slots[place] {
    case .value, .failure:
      return ages.hasExpired(place, at: now) && !ages.standsIn(place, at: now) ? place : nil
    case .none, .computing, .renewing: return nil
    }
  }

  /// Removes a content, and the slot, unless somebody else uses it. No computation in progress has its
  /// number then.
  @_alwaysEmitIntoClient
  mutating func remove(_ place: Int, _ leavings: inout Leavings) {
    retire(place)
    if vacated == nil { return leavings.append(.slot(slots.remove(place, leaving: .none))) }
    leavings.append(.content(slots[place]))
    slots[place] = .none
    slots.slots[place].number = 0
    vacated?.append(place)
  }

  /// The content is no longer served, and is computed again or removed next.
  @_alwaysEmitIntoClient
  mutating func retire(_ place: Int) {
    if isCounted(place) { count -= 1 }
    if isBounded { eviction.remove(place) }
  }
}
