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
/// An old value that is not served any more is computed again in the same way, as `renewing`, if it is
/// still of use: because it stands in for a computation that fails, or because it was withdrawn.
///
/// Keys know nothing of each other here: `RecursiveTable` is around this one, and withdraws values.
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
    /// The old value is there until the new one is.
    case renewing(Renewal)
  }

  /// An old value, and the cell of the new one. Rare: slots are sized for frequent contents.
  @usableFromInline
  final class Renewal: Sendable {
    @usableFromInline let old: Value
    @usableFromInline let cell: Cell

    @_alwaysEmitIntoClient
    init(_ old: Value, _ cell: Cell) { (self.old, self.cell) = (old, cell) }
  }

  /// One computation of a key: the place of its value, a number that differs from earlier ones in the
  /// same slot, and whether the old value may turn out to be the right one, so that no closure runs. A key
  /// that does not equal itself has no slot.
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
  /// Whether a use changes something.
  @usableFromInline let notesUses: Bool
  @usableFromInline let isBounded: Bool
  /// Whether somebody wants to know the events.
  @usableFromInline let isReporting: Bool
  @usableFromInline var statistics = MemoStatistics()
  @usableFromInline var ages: Ages
  @usableFromInline var eviction: Eviction
  /// The number of keys with a value or a failure that was not withdrawn.
  @usableFromInline var count = 0
  /// Numbers the computations. 0 means none.
  @usableFromInline var number: UInt32 = 0
  /// How often something was forgotten, or set.
  @usableFromInline var forgettings = 0
  /// For each slot, how many want the result of its computation; `nil` if that does not matter.
  @usableFromInline var observers: ContiguousArray<Int>?
  /// Slots whose content was removed, and which somebody else still uses; `nil` if a slot goes with its
  /// content.
  @usableFromInline var vacated: [Int]?

  /// - Parameters:
  ///   - limit: the maximum cost of all values together.
  ///   - cancelsUnobserved: whether a computation is given up when the last caller that waits for it leaves.
  @_alwaysEmitIntoClient
  init(limit: Int?, _ ages: Ages, isReporting: Bool = false, cancelsUnobserved: Bool = false) {
    isBounded = limit != nil
    // Half the maximum: sums of costs do not overflow.
    eviction = Eviction(limit: min(limit ?? 0, .max / 2))
    self.ages = ages
    notesUses = limit != nil || ages.isIdle
    self.isReporting = isReporting
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
  ///
  /// - Parameter place: where the key was found.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func hit(in place: Int, at now: Int64) -> Value? {
    let value: Value
    switch slots[place] {
    case .value(let known):
      guard ages.isFresh(place, at: now) else { return nil }
      value = known
    case .renewing(let renewal):
      guard ages.isServed(place, at: now) else { return nil }
      value = renewal.old
    case .none, .computing, .failure: return nil
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

  /// A demand waits for a computation that has begun before, or gets a value without using it.
  @_alwaysEmitIntoClient
  mutating func noteHit(_ key: Key, _ leavings: inout Leavings) {
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
      noteHit(key, &leavings)
      return .pending(cell)
    case .renewing(let renewal) where ages.isServed(place, at: now):
      noteHit(place, at: now, &leavings)
      return .value(renewal.old)
    case .renewing(let renewal):
      noteHit(key, &leavings)
      return .pending(renewal.cell)
    case .value(let value) where ages.isServed(place, at: now):
      noteHit(place, at: now, &leavings)
      if ages.isFresh(place, at: now) { return .value(value) }
      return .due(value, renew(place, value, &leavings, make))
    case .failure(let failure) where ages.isServed(place, at: now):
      noteHit(place, at: now, &leavings)
      return .failure(failure)
    case .value(let value) where isUseful(place, at: now):
      return .pending(renew(place, value, &leavings, make))
    case .value, .failure: retire(place)
    }
    leavings.former = content
    return .pending(begin(place, &leavings, make))
  }

  /// Whether a value that is not served is kept while it is computed again.
  @_alwaysEmitIntoClient
  func isUseful(_ place: Int, at now: Int64) -> Bool {
    ages.isWithdrawn(place) || ages.standsIn(place, at: now)
  }

  /// A key is to be computed again. Returns the cell of the computation, and whether it begins now.
  @_alwaysEmitIntoClient
  mutating func refresh(
    _ key: Key, at now: Int64, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> (cell: Cell, isNew: Bool) {
    guard let place = slots.place(of: key) else { return (begin(key, &leavings, make), true) }
    let content = slots[place]
    switch content {
    case .computing(let cell): return (cell, false)
    case .renewing(let renewal): return (renewal.cell, false)
    case .value(let value) where ages.isServed(place, at: now) || isUseful(place, at: now):
      return (renew(place, value, &leavings, make), true)
    case .none, .value, .failure: break
    }
    leavings.former = content
    retire(place)
    return (begin(place, &leavings, make), true)
  }

  /// The result that is served, without a demand.
  @_alwaysEmitIntoClient
  func peek(_ key: Key, at now: Int64) -> Result<Value, Failure>? {
    guard let place = slots.place(of: key) else { return nil }
    switch slots[place] {
    case .value(let value): return ages.isServed(place, at: now) ? .success(value) : nil
    case .renewing(let renewal): return ages.isServed(place, at: now) ? .success(renewal.old) : nil
    case .failure(let failure): return ages.isServed(place, at: now) ? .failure(failure) : nil
    case .none, .computing: return nil
    }
  }

  // MARK: Computing

  /// Starts computing a key that has no slot yet.
  @_alwaysEmitIntoClient
  mutating func begin(_ key: Key, _ leavings: inout Leavings, _ make: (Load) -> Cell) -> Cell {
    // Without a slot, the value is for this demand only.
    guard let place = slots.add(key, .none) else {
      noteLoad(key, &leavings)
      return make(load(for: nil))
    }
    return begin(place, &leavings, make)
  }

  @_alwaysEmitIntoClient
  mutating func begin(_ place: Int, _ leavings: inout Leavings, _ make: (Load) -> Cell) -> Cell {
    noteLoad(slots.slots[place].key, &leavings)
    let cell = make(load(for: place))
    slots[place] = .computing(cell)
    return cell
  }

  /// A value that was withdrawn may still be the right one: whether its closure runs, is seen later.
  @_alwaysEmitIntoClient
  mutating func renew(
    _ place: Int, _ old: Value, _ leavings: inout Leavings, _ make: (Load) -> Cell
  ) -> Cell {
    let isReview = ages.isWithdrawn(place)
    if !isReview { noteLoad(slots.slots[place].key, &leavings) }
    let cell = make(load(for: place, isReview: isReview))
    slots[place] = .renewing(Renewal(old, cell))
    if isBounded { eviction.pin(place) }
    return cell
  }

  /// A closure is about to be run.
  @_alwaysEmitIntoClient
  mutating func noteLoad(_ key: Key?, _ leavings: inout Leavings) {
    statistics.loads &+= 1
    if isReporting, let key { leavings.append(.event(.load(key))) }
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
    case .computing, .renewing: return place
    case .none, .value, .failure: return nil
    }
  }

  // MARK: Withdrawing

  /// Whether a slot has a result that is counted.
  @_alwaysEmitIntoClient
  func isCounted(_ place: Int) -> Bool {
    switch slots[place] {
    case .none, .computing: false
    case .value, .failure, .renewing: !ages.isWithdrawn(place)
    }
  }

  /// A value may not be the right one any more: it is not served, and kept for the next computation.
  @_alwaysEmitIntoClient
  mutating func withdraw(_ place: Int) {
    if isCounted(place) { count -= 1 }
    ages.withdraw(place)
  }

  /// A value that was withdrawn is the right one after all.
  @_alwaysEmitIntoClient
  mutating func readmit(_ place: Int) {
    ages.readmit(place)
    if isCounted(place) { count += 1 }
  }
}
