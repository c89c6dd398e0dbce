/// What is known of each key, as a value: one method per event, and each returns what to do.
///
/// Whatever it lets go of it returns, so that it is released outside of the lock.
///
/// ```
///              demand             finish                      due, or refresh
///  (nothing) ─────────▶ computing ──────▶ value ◀──────────────────────────────▶ renewing
///      ▲                    │               │                   finish
///      └── forget, evict ───┴── failure ◀───┘ (expired: computing again)
/// ```
///
/// Invariants:
/// - `index` leads to a slot with that key; a slot without a key is in `free`.
/// - Values, failures and what is renewed are in the eviction order, if there is a bound; what is
///   computed for the first time is not, and nothing that is computed is ever evicted.
@usableFromInline
struct MemoTable<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Cell = Segment<Value>

  @usableFromInline
  enum Content: Sendable {
    case none
    case computing(Cell)
    case value(Value)
    case failure(Failure)
    case renewing(Renewal)
  }

  /// An old value, and the cell of the new one. Rare: slots are small for what is frequent.
  @usableFromInline
  final class Renewal: Sendable {
    @usableFromInline let old: Value
    @usableFromInline let cell: Cell

    @inlinable
    init(_ old: Value, _ cell: Cell) { (self.old, self.cell) = (old, cell) }
  }

  /// One computation of a key: where its value goes, and a number that tells it from those before it in
  /// the same slot. There is no slot for a key that is not equal to itself.
  @usableFromInline
  struct Load: Sendable {
    @usableFromInline let place: Int?
    @usableFromInline let number: UInt32

    @inlinable
    init(place: Int?, number: UInt32) { (self.place, self.number) = (place, number) }
  }

  @usableFromInline
  struct Slot: Sendable {
    @usableFromInline var key: Key?
    @usableFromInline var content: Content
    /// The number of the latest computation.
    @usableFromInline var number: UInt32

    @inlinable
    init(_ key: Key) { (self.key, content, number) = (key, .none, 0) }
  }

  /// From when on a value is computed anew, and until when it is served.
  @usableFromInline
  struct Dates: Sendable {
    @usableFromInline var refreshes: Int64 = .max
    @usableFromInline var expires: Int64 = .max

    @inlinable
    init() {}
  }

  @usableFromInline var index: [Key: UInt32] = [:]
  @usableFromInline var slots: ContiguousArray<Slot> = []
  @usableFromInline var free: ContiguousArray<UInt32> = []
  /// As many as there are slots where values grow old, and else none.
  @usableFromInline var dates: ContiguousArray<Dates> = []
  @usableFromInline var eviction: Eviction
  @usableFromInline let rules: MemoRules
  @usableFromInline var statistics = MemoStatistics()
  /// How many keys have a value or a failure.
  @usableFromInline var count = 0
  /// Where the search for what has expired goes on.
  @usableFromInline var hand = 0

  @inlinable
  init(_ rules: MemoRules) {
    self.rules = rules
    eviction = Eviction(limit: rules.limit ?? 0)
  }

  // MARK: Demands

  @usableFromInline
  enum Answer: Sendable {
    case value(Value)
    case failure(Failure)
    /// Somebody computes it, or the caller does. What was there before is to be released.
    case pending(Cell, former: Content)
    /// The old value, and what the caller is to compute the new one with.
    case due(Value, Cell)
  }

  /// A key is asked for: the value, if there is nothing else to do.
  @inlinable @inline(__always)
  mutating func hit(_ key: Key, at now: Int64) -> Value? {
    guard let number = index[key] else { return nil }
    let place = Int(number)
    let value: Value
    switch slots[place].content {
    case .value(let known):
      if rules.isTimed, now >= dates[place].refreshes { return nil }
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
    if rules.limit != nil { eviction.used(place) }
  }

  /// A key is asked for. `make` gives a cell that does one computation of it; it runs nothing.
  @inlinable
  mutating func demand(_ key: Key, at now: Int64, _ make: (Load) -> Cell) -> Answer {
    guard let number = index[key] else { return .pending(begin(key, make), former: .none) }
    let place = Int(number)
    let content = slots[place].content
    switch content {
    case .none: break
    case .computing(let cell):
      statistics.hits &+= 1
      return .pending(cell, former: .none)
    case .renewing(let renewal):
      noteHit(place)
      return .value(renewal.old)
    case .value(let value):
      if isServed(place, at: now) {
        noteHit(place)
        if now < dates(of: place).refreshes { return .value(value) }
        return .due(value, renew(place, value, make))
      }
      retire(place)
    case .failure(let failure):
      if isServed(place, at: now) {
        noteHit(place)
        return .failure(failure)
      }
      retire(place)
    }
    return .pending(begin(place, make), former: content)
  }

  /// A key is to be computed anew. `nil` if it is being computed.
  @inlinable
  mutating func refresh(
    _ key: Key, at now: Int64, _ make: (Load) -> Cell
  ) -> (cell: Cell, former: Content)? {
    guard let number = index[key] else { return (begin(key, make), .none) }
    let place = Int(number)
    let content = slots[place].content
    switch content {
    case .computing, .renewing: return nil
    case .value(let value) where isServed(place, at: now):
      return (renew(place, value, make), .none)
    case .none, .value, .failure:
      retire(place)
      return (begin(place, make), content)
    }
  }

  /// What is there, without asking for it.
  @inlinable
  func peek(_ key: Key, at now: Int64) -> Content {
    guard let number = index[key] else { return .none }
    let content = slots[Int(number)].content
    switch content {
    case .none, .computing, .renewing: return content
    case .value, .failure: return isServed(Int(number), at: now) ? content : .none
    }
  }

  // MARK: Computing

  /// A key is computed that has no slot yet.
  @inlinable
  mutating func begin(_ key: Key, _ make: (Load) -> Cell) -> Cell {
    // Nobody can ask again for a key that is not equal to itself: its value is for this demand only.
    guard key == key else { return make(load(for: nil)) }
    return begin(add(key), make)
  }

  @inlinable
  mutating func begin(_ place: Int, _ make: (Load) -> Cell) -> Cell {
    let cell = make(load(for: place))
    slots[place].content = .computing(cell)
    return cell
  }

  @inlinable
  mutating func renew(_ place: Int, _ old: Value, _ make: (Load) -> Cell) -> Cell {
    let cell = make(load(for: place))
    slots[place].content = .renewing(Renewal(old, cell))
    if rules.limit != nil { eviction.pin(place) }
    return cell
  }

  @inlinable
  mutating func load(for place: Int?) -> Load {
    statistics.loads &+= 1
    let load = Load(place: place, number: UInt32(truncatingIfNeeded: statistics.loads))
    if let place { slots[place].number = load.number }
    return load
  }

  /// The slot that still waits for what a computation gives.
  @inlinable
  func place(of load: Load) -> Int? {
    guard let place = load.place, place < slots.count, slots[place].number == load.number else {
      return nil
    }
    switch slots[place].content {
    case .computing, .renewing: return place
    case .none, .value, .failure: return nil
    }
  }

  @usableFromInline
  enum Outcome: Sendable {
    case value(Value, cost: Int)
    case failure(Failure, isRemembered: Bool)
  }

  /// What an event leaves over, to be released outside of the lock.
  @usableFromInline
  struct Leavings: Sendable {
    @usableFromInline var former = Content.none
    @usableFromInline var slots: [Slot] = []

    @inlinable
    init() {}
  }

  /// A computation has come to its end. If the key was forgotten meanwhile, nothing changes.
  @inlinable
  mutating func finish(_ load: Load, _ outcome: Outcome, at now: Int64) -> Leavings {
    var leavings = Leavings()
    if case .failure = outcome { statistics.failures &+= 1 }
    guard let place = place(of: load) else { return leavings }
    leavings.former = slots[place].content
    if case .renewing(let renewal) = leavings.former {
      if rules.limit != nil { eviction.unpin(place) }
      if case .failure = outcome, now < dates(of: place).expires {
        // The old value is better than none; the next attempt is made after the same time.
        slots[place].content = .value(renewal.old)
        if rules.isTimed { dates[place].refreshes = rules.refreshes(after: now) }
        makeRoom(for: 0, &leavings)
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

  @inlinable
  mutating func keep(
    _ content: Content, _ place: Int, _ cost: Int, at now: Int64, _ leavings: inout Leavings
  ) {
    if rules.isTimed {
      if case .value = content { dates[place].refreshes = rules.refreshes(after: now) }
      dates[place].expires = rules.expires(after: now)
      if case .failure = content {
        dates[place].expires = min(rules.expires(after: now), rules.refreshes(after: now))
      }
      dates[place].refreshes = min(dates[place].refreshes, dates[place].expires)
    }
    let isRenewed = if case .renewing = leavings.former { true } else { false }
    if let limit = rules.limit {
      // More than there is room for at all.
      guard cost <= limit else { return leavings.slots.append(remove(place)) }
      if isRenewed {
        slots[place].content = content
        eviction.pin(place)
        makeRoom(for: cost - eviction.cost(of: place), &leavings)
        return eviction.unpin(place, cost: cost)
      }
      makeRoom(for: cost, &leavings)
      eviction.admit(place, hash: slots[place].key.hashValue, cost: cost)
    }
    slots[place].content = content
    if !isRenewed { count += 1 }
  }

  // MARK: Letting go

  /// A key is to be forgotten, whatever is there.
  @inlinable
  mutating func forget(_ key: Key) -> Slot? { index[key].map { remove(Int($0)) } }

  /// All keys are to be forgotten. Gives the table that held them away.
  @inlinable
  mutating func forgetAll() -> MemoTable {
    let former = self
    self = MemoTable(rules)
    // Computations go on being counted: their numbers tell them apart.
    statistics = former.statistics
    return former
  }

  /// Evicts until something of a cost finds room, or nothing can go.
  @inlinable
  mutating func makeRoom(for cost: Int, _ leavings: inout Leavings) {
    guard rules.limit != nil else { return }
    while !eviction.hasRoom(for: cost), let (place, isFromSmall) = eviction.removeFirst() {
      statistics.evictions &+= 1
      if isFromSmall { eviction.remember(hash: slots[place].key.hashValue) }
      leavings.slots.append(remove(place))
    }
  }

  /// Looks at two more slots, and lets go of what has expired there. Each computation does: what
  /// nobody asks for again goes without a timer, and without a search through everything.
  @inlinable
  mutating func sweep(at now: Int64, _ leavings: inout Leavings) {
    guard rules.isTimed else { return }
    for _ in 0..<2 {
      hand = hand + 1 < slots.count ? hand + 1 : 0
      switch slots[hand].content {
      case .value, .failure: if !isServed(hand, at: now) { leavings.slots.append(remove(hand)) }
      case .none, .computing, .renewing: break
      }
    }
  }

  // MARK: Slots

  @inlinable
  mutating func add(_ key: Key) -> Int {
    let place: Int
    if let last = free.popLast() {
      place = Int(last)
      slots[place] = Slot(key)
    } else {
      place = slots.count
      slots.append(Slot(key))
      if rules.isTimed { dates.append(Dates()) }
    }
    index[key] = UInt32(place)
    return place
  }

  /// Empties a slot, and gives what was in it away.
  @inlinable
  mutating func remove(_ place: Int) -> Slot {
    let slot = slots[place]
    retire(place)
    if let key = slot.key { index[key] = nil }
    slots[place].key = nil
    slots[place].content = .none
    free.append(UInt32(place))
    return slot
  }

  /// What is there is served no more.
  @inlinable
  mutating func retire(_ place: Int) {
    switch slots[place].content {
    case .none, .computing: return
    case .value, .failure, .renewing: break
    }
    count -= 1
    slots[place].content = .none
    if rules.limit != nil { eviction.remove(place) }
  }

  @inlinable
  func dates(of place: Int) -> Dates { rules.isTimed ? dates[place] : Dates() }

  @inlinable
  func isServed(_ place: Int, at now: Int64) -> Bool { now < dates(of: place).expires }
}
