/// What a list has pulled from its source ahead of its readers, as a value.
///
/// Every event is one mutating method that says what to do; nothing is done here. ``Lookahead``
/// isolates the value, asks, and acts when it has let go of its lock.
///
/// ```
///              demand, nothing there; or given, and there is room
///   resting ──────────────────────────────────────────────────────▶ pulling
///      ▲ ◀─────── pulled, and that is enough; or in the way ────────┘ │ │ ▲
///      │                                                              │ │ │ demand
///      │                             over ◀── the end, or a failure ──┘ ▼ │
///      │                                             a failure for now: hesitating
/// ```
@usableFromInline
struct LookaheadState<Slot: Sendable, Sleeper: AnyObject & Sendable>: Sendable {
  @usableFromInline typealias Puller = Task<Void, Never>

  @usableFromInline
  enum Source: Sendable {
    /// Nobody pulls: there is as much as may be, or nobody has asked.
    case resting
    /// The step ahead failed in a way that a retry may mend: it is tried again when its element is
    /// demanded, and not before.
    case hesitating
    case pulling
    /// There is nothing more to pull.
    case over((any Error)?)
    /// Nobody can read any more.
    case abandoned
  }

  @usableFromInline
  struct Numbered: Sendable {
    @usableFromInline let number: Int
    @usableFromInline let slot: Slot

    @inlinable
    init(number: Int, slot: Slot) { (self.number, self.slot) = (number, slot) }
  }

  @usableFromInline
  enum Demand: Sendable {
    /// What was pulled before, and whether somebody is to pull on.
    case slot(Slot, pullsOn: Bool)
    /// The caller pulls the element.
    case pull
    /// Somebody pulls it already: sleep until that is done, and ask again. So many were taken before.
    case wait(after: Int)
    case end
    case failed(any Error)
    case abandoned
  }

  @usableFromInline
  enum Pulled: Sendable {
    case kept(pullsOn: Bool, wakes: [Sleeper])
    /// It is not wanted any more.
    case refused
  }

  /// How many slots there may be beside the one that is demanded.
  @usableFromInline let distance: Int
  @usableFromInline var source = Source.resting
  /// Pulled and not demanded yet.
  @usableFromInline var slots = FIFO<Numbered>()
  /// How many slots were given away.
  @usableFromInline var taken = 0
  /// Who comes behind this number will not be read: what was made of that element has failed.
  @usableFromInline var lastNumber = Int.max
  /// How many slots were taken by what itself looks ahead, since the last true demand. They are no
  /// reason to look further ahead: where a list is defined by what looks ahead of it, that would go on
  /// for ever.
  @usableFromInline var takenAhead = 0
  /// The demands that wait for what is being pulled.
  @usableFromInline var sleepers = WaiterSet<Sleeper, Void>()
  @usableFromInline var puller: Puller?

  @inlinable
  init(distance: Int) { self.distance = distance }

  /// The next element is demanded, by a reader or by what looks ahead itself.
  @inlinable
  mutating func demand(isAhead: Bool = false) -> Demand {
    if let first = slots.popFirst() {
      taken += 1
      takenAhead = isAhead ? takenAhead + 1 : 0
      return .slot(first.slot, pullsOn: !isAhead && pullsAhead())
    }
    switch source {
    case .resting, .hesitating:
      source = .pulling
      return .pull
    case .pulling: return .wait(after: taken)
    case .over(nil): return .end
    case .over(let failure?): return .failed(failure)
    case .abandoned: return .abandoned
    }
  }

  /// Whether the slot after so many is still being pulled.
  @inlinable
  func isPulling(after taken: Int) -> Bool {
    guard case .pulling = source else { return false }
    return slots.isEmpty && self.taken == taken
  }

  /// A demand would sleep. False if there is something new to look at.
  @inlinable
  mutating func sleep(_ sleeper: Sleeper, after taken: Int) -> Bool {
    guard isPulling(after: taken) else { return false }
    sleepers.enter(sleeper)
    return true
  }

  /// A demand does not wait any longer.
  @inlinable
  mutating func leave(_ sleeper: Sleeper) { sleepers.leave(sleeper) }

  /// A demand has pulled an element, and takes it. Returns whether somebody is to pull on.
  @inlinable
  mutating func pulledOnDemand(isAhead: Bool = false) -> Bool {
    guard case .pulling = source else { return false }
    source = .resting
    taken += 1
    if !isAhead { takenAhead = 0 }
    return !isAhead && pullsAhead()
  }

  /// Whoever pulls ahead has pulled an element.
  @inlinable
  mutating func pulledAhead(_ slot: Slot, _ number: Int) -> Pulled {
    if case .abandoned = source { return .refused }
    guard number <= lastNumber else { return .refused }
    slots.append(Numbered(number: number, slot: slot))
    let sleepers = wakeAll()
    // Nobody pulls on where the pull has been given up meanwhile.
    guard case .pulling = source else { return .kept(pullsOn: false, wakes: sleepers) }
    // Who sleeps takes one.
    let pullsOn = slots.count + takenAhead - (sleepers.isEmpty ? 0 : 1) < distance
    if !pullsOn { source = .resting }
    return .kept(pullsOn: pullsOn, wakes: sleepers)
  }

  /// There is nothing more to pull. Returns who has been waiting for more.
  @inlinable
  mutating func end(with failure: (any Error)?) -> [Sleeper] {
    if case .pulling = source { source = .over(failure) }
    return wakeAll()
  }

  /// Whoever pulls has failed, and a later attempt may not. Nobody hears of it who does not wait.
  @inlinable
  mutating func failedTransiently() -> [Sleeper] {
    guard case .pulling = source else { return wakeAll() }
    source = .hesitating
    return wakeAll()
  }

  /// Whoever pulls has met something in the way, such as the very list that it pulls ahead for: that is
  /// for a demand to deal with. Returns who sleeps, to do it.
  @inlinable
  mutating func gaveUp() -> [Sleeper] {
    guard case .pulling = source else { return wakeAll() }
    source = .resting
    return wakeAll()
  }

  @inlinable
  mutating func wakeAll() -> [Sleeper] {
    sleepers.isEmpty ? [] : sleepers.removeAll()
  }

  /// What was made of an element has failed: no element behind it will ever be read.
  @inlinable
  mutating func failed(_ number: Int) -> (slots: [Slot], puller: Puller?, sleepers: [Sleeper]) {
    if case .abandoned = source { return ([], nil, []) }
    source = .over(nil)
    lastNumber = min(lastNumber, number)
    return (slots.removeLast { $0.number > number }.map(\.slot), puller.take(), wakeAll())
  }

  /// Nobody can read any more.
  @inlinable
  mutating func abandon() -> (slots: [Slot], puller: Puller?, sleepers: [Sleeper]) {
    source = .abandoned
    return (slots.removeLast { _ in true }.map(\.slot), puller.take(), wakeAll())
  }

  /// The task that pulls ahead is known. False if it is to be cancelled.
  @inlinable
  mutating func attach(_ puller: Puller) -> Bool {
    switch source {
    case .over, .abandoned: return false
    case .resting, .hesitating, .pulling:
      self.puller = puller
      return true
    }
  }

  @inlinable
  mutating func pullsAhead() -> Bool {
    guard case .resting = source, slots.count < distance else { return false }
    source = .pulling
    return true
  }
}
