import TailraceLists

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
/// A value that is not served any more, but still of use, is replaced instead: one that stands in
/// for a computation that fails, and one that the next is compared with, because others were
/// computed from it (`MemoTable+Dependencies`).
///
/// ```
///   value ──(expired)─────────────────────────────────────────────▶ replacing ──▶ value
///     └───(an input is forgotten, or has changed)──▶ stale ──(demand)───┘
/// ```
///
/// Invariant: if there is a bound, all that have a value or a failure are in the eviction order. A
/// first computation is not, and no computation in progress is ever evicted.
@usableFromInline
struct MemoTable<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Cell = Segment<Value>
  @usableFromInline typealias Slots = SlotMap<Key, Content>
  @usableFromInline typealias Event = MemoEvent<Key>

  @usableFromInline
  enum Content: Sendable {
    case none
    case computing(Cell)
    case value(Value)
    case failure(Failure)
    /// The old value is served until the new one is there.
    case renewing(Renewal)
    /// It may not be the right value any more, and is not served.
    case stale(Value)
    /// The old value is not served.
    case replacing(Renewal)
  }

  /// An old value, and the cell of the new one. Rare: slots are sized for frequent contents.
  @usableFromInline
  final class Renewal: Sendable {
    @usableFromInline let old: Value
    @usableFromInline let cell: Cell
    /// The old value has only expired: it stands in if the computation fails.
    @usableFromInline let standsIn: Bool
    /// What the old value was computed from is looked at first. It may still be the right one.
    @usableFromInline let isReview: Bool

    @_alwaysEmitIntoClient
    init(_ old: Value, _ cell: Cell, standsIn: Bool = false, isReview: Bool = false) {
      (self.old, self.cell, self.standsIn, self.isReview) = (old, cell, standsIn, isReview)
    }
  }

  /// One computation of a key: the place of its value, a number that differs from earlier ones in the
  /// same slot, and whether it is counted only when its closure runs. A key that does not equal itself
  /// has no slot.
  @usableFromInline typealias Load = (place: Int?, number: UInt32, isReview: Bool)

  /// The leftovers of an event: what is released, and what is reported, outside of the lock.
  @usableFromInline
  struct Leavings: Sendable {
    @usableFromInline var former = Content.none
    /// Nothing, for most events.
    @usableFromInline var others: [Leftover] = []

    @_alwaysEmitIntoClient
    init() {}

    @_alwaysEmitIntoClient
    mutating func append(_ leftover: Leftover) { others.append(leftover) }

    /// The slots that were removed.
    var slots: [Slots.Slot] {
      others.compactMap { if case .slot(let slot) = $0 { slot } else { nil } }
    }
  }

  @usableFromInline
  enum Leftover: Sendable {
    case slot(Slots.Slot)
    case content(Content)
    /// Only if somebody wants to know.
    case event(Event)
  }

  @usableFromInline var slots = Slots()
  @usableFromInline var ages: Ages
  @usableFromInline var eviction: Eviction
  @usableFromInline let isBounded: Bool
  /// Whether a use changes something.
  @usableFromInline let notesUses: Bool
  /// Who asked whom; `nil` if no closure asks for other keys.
  @usableFromInline var graph: DependencyGraph?
  /// Whether the next value can be compared with a former one.
  @usableFromInline let canCompare: Bool
  /// Whether somebody wants to know the events.
  @usableFromInline let isReporting: Bool
  @usableFromInline var statistics = MemoStatistics()
  /// The number of keys with a value or a failure.
  @usableFromInline var count = 0
  /// Numbers the computations. 0 means none.
  @usableFromInline var number: UInt32 = 0
  /// The numbers of computations whose key was forgotten after they had been overturned: they begin
  /// again for those who had come to wait in between.
  @usableFromInline var lost: Set<UInt32> = []
  /// How often something was forgotten, or set.
  @usableFromInline var forgettings = 0
  /// The slots that may be free at the end of the event.
  @usableFromInline var freed: [Int] = []
  /// For each slot, how many want the result of its computation; `nil` if that does not matter.
  @usableFromInline var observers: ContiguousArray<Int>?
  /// The last reader has gone: computations that ignore it begin no others.
  @usableFromInline var isAbandoned = false

  /// - Parameters:
  ///   - limit: the maximum cost of all values together.
  ///   - isRecursive: whether keys are computed from other keys.
  ///   - canCompare: whether two values can be compared.
  ///   - cancelsUnobserved: whether a computation is given up when the last caller that waits for it leaves.
  @_alwaysEmitIntoClient
  init(
    limit: Int?, _ ages: Ages, isRecursive: Bool = false, canCompare: Bool = false,
    isReporting: Bool = false, cancelsUnobserved: Bool = false
  ) {
    isBounded = limit != nil
    // Half the maximum: sums of costs do not overflow.
    eviction = Eviction(limit: min(limit ?? 0, .max / 2))
    self.ages = ages
    notesUses = limit != nil || ages.isIdle
    graph = isRecursive ? DependencyGraph() : nil
    (self.canCompare, self.isReporting) = (canCompare, isReporting)
    observers = cancelsUnobserved ? [] : nil
  }

  // MARK: Demands

  @usableFromInline
  enum Answer: Sendable {
    case value(Value)
    case failure(Failure)
    /// A computation is in progress, or the caller starts it.
    case pending(Cell)
    /// The old value, and the cell with which the caller computes the new one.
    case due(Value, Cell)
  }

  /// A key is demanded: the value, if nothing else is to do.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func hit(_ key: Key, at now: Int64) -> Value? {
    guard let place = slots.place(of: key) else { return nil }
    let value: Value
    switch slots[place] {
    case .value(let known):
      guard ages.isFresh(place, at: now) else { return nil }
      value = known
    case .renewing(let renewal):
      guard ages.isServed(place, at: now) else { return nil }
      value = renewal.old
    case .none, .computing, .failure, .stale, .replacing: return nil
    }
    noteHit(place, at: now)
    return value
  }

  @_alwaysEmitIntoClient @inline(__always)
  mutating func noteHit(_ place: Int, at now: Int64) {
    statistics.hits &+= 1
    if notesUses { noteUse(place, at: now) }
  }

  @_alwaysEmitIntoClient @inline(__always)
  mutating func noteUse(_ place: Int, at now: Int64) {
    if isBounded { eviction.used(place) }
    ages.touch(place, at: now)
  }

  @_alwaysEmitIntoClient
  mutating func noteHit(_ place: Int, at now: Int64, _ leavings: inout Leavings) {
    noteHit(place, at: now)
    if isReporting, let key = slots.slots[place].key { leavings.append(.event(.hit(key))) }
  }

  /// A demand waits for a computation that has begun before.
  @_alwaysEmitIntoClient
  mutating func noteJoin(_ key: Key, _ leavings: inout Leavings) {
    statistics.hits &+= 1
    if isReporting { leavings.append(.event(.hit(key))) }
  }

  /// A key is demanded. `make` gives a cell for one computation of it, and runs nothing.
  @_alwaysEmitIntoClient
  mutating func demand(
    _ key: Key, at now: Int64, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> Answer {
    guard let place = slots.place(of: key) else { return .pending(begin(key, &leavings, make)) }
    let content = slots[place]
    switch content {
    case .none: break
    case .computing(let cell):
      noteJoin(key, &leavings)
      return .pending(cell)
    case .replacing(let renewal):
      noteJoin(key, &leavings)
      return .pending(renewal.cell)
    case .renewing(let renewal) where ages.isServed(place, at: now):
      noteHit(place, at: now, &leavings)
      return .value(renewal.old)
    case .renewing(let renewal):
      outlive(place, renewal, at: now, &leavings)
      noteJoin(key, &leavings)
      return .pending(renewal.cell)
    case .value(let value) where ages.isServed(place, at: now):
      noteHit(place, at: now, &leavings)
      if ages.isFresh(place, at: now) { return .value(value) }
      return .due(value, renew(place, value, &leavings, make))
    case .failure(let failure) where ages.isServed(place, at: now):
      noteHit(place, at: now, &leavings)
      return .failure(failure)
    case .value(let value):
      if let answer = replace(place, value, at: now, &leavings, make) { return answer }
      retire(place)
    case .stale(let value): return review(place, value, at: now, &leavings, make)
    case .failure: retire(place)
    }
    leavings.former = content
    expire(place, at: now, &leavings)
    return .pending(begin(place, &leavings, make))
  }

  /// The lifetime of a value has ended while it is computed again: it is not served any more.
  @_alwaysEmitIntoClient
  mutating func outlive(
    _ place: Int, _ renewal: Renewal, at now: Int64, _ leavings: inout Leavings
  ) {
    let standsIn = ages.standsIn(place, at: now)
    expireRenewed(place, &leavings)
    if standsIn || graph != nil {
      slots[place] = .replacing(Renewal(renewal.old, renewal.cell, standsIn: standsIn))
      count -= 1
    } else {
      leavings.append(.content(slots[place]))
      retire(place)
      slots[place] = .computing(renewal.cell)
    }
  }

  /// A key is to be computed again.
  ///
  /// - Returns: the cell of the computation, and whether it begins now; `nil` if the memos are
  ///   released.
  @_alwaysEmitIntoClient
  mutating func refresh(
    _ key: Key, at now: Int64, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> (cell: Cell, isNew: Bool)? {
    if isAbandoned { return nil }
    guard let place = slots.place(of: key) else { return (begin(key, &leavings, make), true) }
    let content = slots[place]
    switch content {
    case .computing(let cell):
      // What was computed from a value that was evicted since has to see this one.
      outdate(place, isKept: true, &leavings)
      return (cell, false)
    case .renewing(let renewal): return (renewal.cell, false)
    case .replacing(let renewal):
      // It may be about to confirm the old value.
      graph?.overrule(place)
      return (renewal.cell, false)
    case .value(let value) where ages.isServed(place, at: now):
      return (renew(place, value, &leavings, make), true)
    case .stale(let value):
      graph?.overrule(place)
      return (beginReview(place, value, make), true)
    case .value(let value):
      if case .pending(let cell)? = replace(place, value, at: now, &leavings, make) {
        graph?.overrule(place)
        return (cell, true)
      }
    case .none, .failure: break
    }
    leavings.former = content
    // There is nothing to compare the next value with.
    outdate(place, isKept: true, &leavings)
    retire(place)
    return (begin(place, &leavings, make), true)
  }

  /// The content, without a demand.
  @_alwaysEmitIntoClient
  func peek(_ key: Key, at now: Int64) -> Content {
    guard let place = slots.place(of: key) else { return .none }
    switch slots[place] {
    case .value, .failure, .renewing:
      return ages.isServed(place, at: now) ? slots[place] : .none
    case .none, .computing, .stale, .replacing: return slots[place]
    }
  }

  // MARK: Computing

  /// Starts computing a key that has no slot yet.
  @_alwaysEmitIntoClient
  mutating func begin(_ key: Key, _ leavings: inout Leavings, _ make: (Load) -> Cell) -> Cell {
    // Without a slot, the value is for this demand only.
    guard let place = slots.add(key, .none) else {
      if isReporting { leavings.append(.event(.load(key))) }
      statistics.loads &+= 1
      return make(load(for: nil))
    }
    return begin(place, &leavings, make)
  }

  @_alwaysEmitIntoClient
  mutating func begin(_ place: Int, _ leavings: inout Leavings, _ make: (Load) -> Cell) -> Cell {
    noteLoad(place, &leavings)
    let cell = make(load(for: place))
    slots[place] = .computing(cell)
    return cell
  }

  @_alwaysEmitIntoClient
  mutating func renew(
    _ place: Int, _ old: Value, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> Cell {
    noteLoad(place, &leavings)
    let cell = make(load(for: place))
    slots[place] = .renewing(Renewal(old, cell))
    if isBounded { eviction.pin(place) }
    return cell
  }

  /// A closure is about to be run.
  @_alwaysEmitIntoClient
  mutating func noteLoad(_ place: Int, _ leavings: inout Leavings) {
    statistics.loads &+= 1
    if isReporting, let key = slots.slots[place].key { leavings.append(.event(.load(key))) }
  }

  @_alwaysEmitIntoClient
  mutating func load(for place: Int?, isReview: Bool = false) -> Load {
    number = number == .max ? 1 : number + 1
    if let place {
      slots.slots[place].number = number
      resetObservers(of: place)
    }
    return (place, number, isReview)
  }

  /// The slot that still waits for a computation's result.
  @_alwaysEmitIntoClient
  func place(of load: Load) -> Int? {
    guard let place = load.place, place < slots.slots.count,
      slots.slots[place].number == load.number
    else { return nil }
    switch slots.slots[place].content {
    case .computing, .renewing, .replacing: return place
    case .none, .value, .failure, .stale: return nil
    }
  }
}
