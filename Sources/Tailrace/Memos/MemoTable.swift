/// The results of all keys, as a value: one method per event, and each returns what to do.
///
/// It returns everything that it removes, to be released outside of the lock.
///
/// ```
///              demand             finish                      due, or refresh
///  (nothing) ─────────▶ computing ──────▶ value ◀──────────────────────────────▶ renewing
///      ▲                    │               │                   finish
///      └── forget, evict ───┴── failure ◀───┘ (expired: computing again)
/// ```
///
/// Invariant: if there is a bound, values, failures and renewals are in the eviction order. A first
/// computation is not, and no computation in progress is ever evicted.
@usableFromInline
struct MemoTable<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Cell = Segment<Value>
  @usableFromInline typealias Slots = SlotMap<Key, Content>

  @usableFromInline
  enum Content: Sendable {
    case none
    case computing(Cell)
    case value(Value)
    case failure(Failure)
    case renewing(Renewal)
  }

  /// An old value, and the cell of the new one. Rare: slots are sized for frequent contents.
  @usableFromInline
  final class Renewal: Sendable {
    @usableFromInline let old: Value
    @usableFromInline let cell: Cell

    @inlinable
    init(_ old: Value, _ cell: Cell) { (self.old, self.cell) = (old, cell) }
  }

  /// One computation of a key: the place of its value, and a number that differs from earlier ones
  /// in the same slot. A key that does not equal itself has no slot.
  @usableFromInline typealias Load = (place: Int?, number: UInt32)

  @usableFromInline var slots = Slots()
  @usableFromInline var ages: Ages
  @usableFromInline var eviction: Eviction
  @usableFromInline let isBounded: Bool
  @usableFromInline var statistics = MemoStatistics()
  /// The number of keys with a value or a failure.
  @usableFromInline var count = 0
  /// The last reader has gone: computations that ignore it begin no others.
  @usableFromInline var isAbandoned = false

  /// - Parameter limit: the maximum cost of all values together.
  @inlinable
  init(limit: Int?, _ ages: Ages) {
    isBounded = limit != nil
    // Half the maximum: sums of costs do not overflow.
    eviction = Eviction(limit: min(limit ?? 0, .max / 2))
    self.ages = ages
  }

  /// Describes a broken invariant; `nil` if all hold. For tests: takes time proportional to the
  /// number of slots.
  var brokenInvariant: String? {
    var known = 0
    for (place, slot) in slots.slots.enumerated() {
      switch slot.content {
      case .none, .computing: break
      case .value, .failure, .renewing: known += 1
      }
      guard let key = slot.key else {
        if case .none = slot.content { continue }
        return "the slot \(place) has a content, and no key"
      }
      if slots.place(of: key) != place { return "the key of the slot \(place) leads elsewhere" }
    }
    if known != count { return "\(known) keys are known, and \(count) are counted" }
    let free = slots.slots.count - slots.index.count
    if free != slots.free.count {
      return "\(free) slots are free, and \(slots.free.count) are listed"
    }
    return nil
  }

  // MARK: Demands

  @usableFromInline
  enum Answer: Sendable {
    case value(Value)
    case failure(Failure)
    /// A computation is in progress, or the caller starts it. Release the former content.
    case pending(Cell, former: Content)
    /// The old value, and the cell with which the caller computes the new one.
    case due(Value, Cell)
  }

  /// A key is demanded: the value, if nothing else is to do.
  @inlinable @inline(__always)
  mutating func hit(_ key: Key, at now: Int64) -> Value? {
    guard let place = slots.place(of: key) else { return nil }
    let value: Value
    switch slots[place] {
    case .value(let known):
      guard ages.isFresh(place, at: now) else { return nil }
      value = known
    case .renewing(let renewal): value = renewal.old
    case .none, .computing, .failure: return nil
    }
    noteHit(place)
    return value
  }

  @inlinable @inline(__always)
  mutating func noteHit(_ place: Int) {
    statistics.hits &+= 1
    if isBounded { eviction.used(place) }
  }

  /// A key is demanded. `make` gives a cell for one computation of it, and runs nothing.
  @inlinable
  mutating func demand(_ key: Key, at now: Int64, _ make: (Load) -> Cell) -> Answer {
    guard let place = slots.place(of: key) else { return .pending(begin(key, make), former: .none) }
    let content = slots[place]
    switch content {
    case .none: break
    case .computing(let cell):
      statistics.hits &+= 1
      return .pending(cell, former: .none)
    case .renewing(let renewal):
      noteHit(place)
      return .value(renewal.old)
    case .value(let value) where ages.isServed(place, at: now):
      noteHit(place)
      if ages.isFresh(place, at: now) { return .value(value) }
      return .due(value, renew(place, value, make))
    case .failure(let failure) where ages.isServed(place, at: now):
      noteHit(place)
      return .failure(failure)
    case .value, .failure: retire(place)
    }
    return .pending(begin(place, make), former: content)
  }

  /// A key is to be computed again. `nil` if it is being computed.
  @inlinable
  mutating func refresh(
    _ key: Key, at now: Int64, _ make: (Load) -> Cell
  ) -> (cell: Cell, former: Content)? {
    if isAbandoned { return nil }
    guard let place = slots.place(of: key) else { return (begin(key, make), .none) }
    let content = slots[place]
    switch content {
    case .computing, .renewing: return nil
    case .value(let value) where ages.isServed(place, at: now):
      return (renew(place, value, make), .none)
    case .none, .value, .failure:
      retire(place)
      return (begin(place, make), content)
    }
  }

  /// The content, without a demand.
  @inlinable
  func peek(_ key: Key, at now: Int64) -> Content {
    guard let place = slots.place(of: key) else { return .none }
    switch slots[place] {
    case .value, .failure: return ages.isServed(place, at: now) ? slots[place] : .none
    case .none, .computing, .renewing: return slots[place]
    }
  }

  // MARK: Computing

  /// Starts computing a key that has no slot yet.
  @inlinable
  mutating func begin(_ key: Key, _ make: (Load) -> Cell) -> Cell {
    // Without a slot, the value is for this demand only.
    guard let place = slots.add(key, .none) else { return make(load(for: nil)) }
    return begin(place, make)
  }

  @inlinable
  mutating func begin(_ place: Int, _ make: (Load) -> Cell) -> Cell {
    let cell = make(load(for: place))
    slots[place] = .computing(cell)
    return cell
  }

  @inlinable
  mutating func renew(_ place: Int, _ old: Value, _ make: (Load) -> Cell) -> Cell {
    let cell = make(load(for: place))
    slots[place] = .renewing(Renewal(old, cell))
    if isBounded { eviction.pin(place) }
    return cell
  }

  @inlinable
  mutating func load(for place: Int?) -> Load {
    statistics.loads &+= 1
    let number = UInt32(truncatingIfNeeded: statistics.loads)
    if let place { slots.slots[place].number = number }
    return (place, number)
  }

  @usableFromInline
  enum Outcome: Sendable {
    case value(Value, cost: Int)
    case failure(Failure, isRemembered: Bool)
  }

  /// The leftovers of an event, to be released outside of the lock.
  @usableFromInline typealias Leavings = (former: Content, slots: [Slots.Slot])

  /// A computation has ended. If the key was forgotten meanwhile, nothing changes.
  @inlinable
  mutating func finish(_ load: Load, _ outcome: Outcome, at now: Int64) -> Leavings {
    var leavings: Leavings = (.none, [])
    if case .failure = outcome { statistics.failures &+= 1 }
    guard let place = place(of: load) else { return leavings }
    leavings.former = slots[place]
    if case .renewing(let renewal) = leavings.former {
      if isBounded { eviction.unpin(place) }
      if case .failure = outcome, ages.isServed(place, at: now) {
        // The old value is better than none.
        slots[place] = .value(renewal.old)
        ages.postpone(place, at: now)
        makeRoom(for: 0, &leavings)
        sweep(at: now, &leavings)
        return leavings
      }
    }
    switch outcome {
    case .value(let value, let cost): keep(.value(value), place, cost, at: now, &leavings)
    case .failure(let failure, isRemembered: true):
      keep(.failure(failure), place, 1, at: now, &leavings)
    case .failure(_, isRemembered: false): leavings.slots.append(remove(place))
    }
    sweep(at: now, &leavings)
    return leavings
  }

  /// The slot that still waits for a computation's result.
  @inlinable
  func place(of load: Load) -> Int? {
    guard let place = load.place, place < slots.slots.count,
      slots.slots[place].number == load.number
    else { return nil }
    switch slots[place] {
    case .computing, .renewing: return place
    case .none, .value, .failure: return nil
    }
  }

  @inlinable
  mutating func keep(
    _ content: Content, _ place: Int, _ cost: Int, at now: Int64, _ leavings: inout Leavings
  ) {
    let isFailure = if case .failure = content { true } else { false }
    ages.begin(place, isFailure: isFailure, at: now)
    let isRenewed = if case .renewing = leavings.former { true } else { false }
    if isBounded {
      // It exceeds the whole limit.
      guard cost <= eviction.limit else { return leavings.slots.append(remove(place)) }
      if isRenewed {
        slots[place] = content
        eviction.pin(place)
      }
      let change = isRenewed ? cost - eviction.cost(of: place) : cost
      makeRoom(for: change, &leavings)
      guard eviction.canCount(change) else { return leavings.slots.append(remove(place)) }
      if isRenewed { return eviction.unpin(place, cost: cost) }
      eviction.admit(place, hash: slots.slots[place].key.hashValue, cost: cost)
    }
    slots[place] = content
    if !isRenewed { count += 1 }
  }

  // MARK: Letting go

  /// Forgets a key, whatever its content.
  @inlinable
  mutating func forget(_ key: Key) -> Slots.Slot? { slots.place(of: key).map { remove($0) } }

  /// Forgets all keys. Returns the table that held them.
  @inlinable
  mutating func forgetAll() -> MemoTable {
    let former = self
    (slots, count) = (Slots(), 0)
    ages.removeAll()
    eviction = Eviction(limit: eviction.limit)
    // Counting continues: the numbers tell computations apart.
    return former
  }

  /// Forgets computations in progress, and keeps the rest.
  @inlinable
  mutating func abandon() -> Leavings {
    var leavings: Leavings = (.none, [])
    isAbandoned = true
    for place in slots.slots.indices {
      switch slots[place] {
      case .computing: leavings.slots.append(remove(place))
      case .renewing(let renewal):
        leavings.slots.append(slots.slots[place])
        slots[place] = .value(renewal.old)
        if isBounded { eviction.unpin(place) }
      case .none, .value, .failure: break
      }
    }
    return leavings
  }

  /// Evicts until there is room for a cost, or nothing can go.
  @inlinable
  mutating func makeRoom(for cost: Int, _ leavings: inout Leavings) {
    guard isBounded else { return }
    while !eviction.hasRoom(for: cost), let (place, isFromSmall) = eviction.removeFirst() {
      statistics.evictions &+= 1
      if isFromSmall { eviction.remember(hash: slots.slots[place].key.hashValue) }
      leavings.slots.append(remove(place))
    }
  }

  /// Checks two more slots, and removes expired contents. Each computation does so: results that
  /// are not demanded again go without a timer, and without a search through everything.
  @inlinable
  mutating func sweep(at now: Int64, _ leavings: inout Leavings) {
    guard ages.areKept else { return }
    for _ in 0..<2 {
      let place = ages.next(of: slots.slots.count)
      switch slots[place] {
      case .value, .failure:
        if !ages.isServed(place, at: now) { leavings.slots.append(remove(place)) }
      case .none, .computing, .renewing: break
      }
    }
  }

  /// Empties a slot, and returns its content.
  @inlinable
  mutating func remove(_ place: Int) -> Slots.Slot {
    retire(place)
    return slots.remove(place, leaving: .none)
  }

  /// The content is no longer served, and is computed again or removed next.
  @inlinable
  mutating func retire(_ place: Int) {
    switch slots[place] {
    case .none, .computing: return
    case .value, .failure, .renewing: break
    }
    count -= 1
    if isBounded { eviction.remove(place) }
  }
}
