/// What a list has pulled from its source ahead of its readers, as a value.
///
/// Every event is one mutating method that says what to do; nothing is done here. ``Lookahead``
/// isolates the value, asks, and acts when it has let go of its lock.
///
/// ```
///              demand, nothing there; or given, and there is room
///   resting ──────────────────────────────────────────────────────▶ pulling
///      ▲ ◀──────────────── pulled, and that is enough ──────────────┘ │ │ ▲
///      │                                                              │ │ │ demand
///      │                             over ◀── the end, or a failure ──┘ ▼ │
///      │                                             a failure for now: hesitating
/// ```
struct LookaheadState<Slot: Sendable, Failure: Error, Sleeper: Sendable>: Sendable {
  typealias Puller = Task<Void, Never>

  private enum Source {
    /// Nobody pulls: there is as much as may be, or nobody has asked.
    case resting
    /// The step ahead failed in a way that a retry may mend: it is tried again when its element is
    /// demanded, and not before.
    case hesitating
    case pulling
    /// There is nothing more to pull.
    case over(Failure?)
    /// Nobody can read any more.
    case abandoned
  }

  private struct Numbered {
    let number: Int
    let slot: Slot
  }

  enum Demand: Sendable {
    /// What was pulled before, and whether somebody is to pull on.
    case slot(Slot, pullsOn: Bool)
    /// The caller pulls the element.
    case pull
    /// Somebody pulls it already: sleep until that is done, and ask again.
    case wait(for: Puller?)
    case end
    case failed(Failure)
    case failedTransiently(Failure)
    case abandoned
  }

  enum Pulled: Sendable {
    case kept(pullsOn: Bool, wakes: Sleeper?)
    /// It is not wanted any more.
    case refused
  }

  /// How many slots there may be beside the one that is demanded.
  private let distance: Int
  private var source = Source.resting
  /// Pulled and not demanded yet.
  private var slots = FIFO<Numbered>()
  private var pulls = 0
  /// Who comes behind this number will not be read: what was made of that element has failed.
  private var lastNumber = Int.max
  /// How many slots were taken by what itself looks ahead, since the last true demand. They are no
  /// reason to look further ahead: where a list is defined by what looks ahead of it, that would go on
  /// for ever.
  private var takenAhead = 0
  /// The demand that waits for what is being pulled.
  private var sleeper: Sleeper?
  /// What that demand finds: an attempt that failed and left nothing behind.
  private var transientFailure: Failure?
  private var puller: Puller?

  init(distance: Int) { self.distance = distance }

  /// The next element is demanded, by a reader or by what looks ahead itself.
  mutating func demand(isAhead: Bool = false) -> Demand {
    if let (slot, pullsOn) = demandNow(isAhead: isAhead) { return .slot(slot, pullsOn: pullsOn) }
    if let failure = transientFailure.take() { return .failedTransiently(failure) }
    switch source {
    case .resting, .hesitating:
      source = .pulling
      return .pull
    case .pulling: return .wait(for: puller)
    case .over(nil): return .end
    case .over(let failure?): return .failed(failure)
    case .abandoned: return .abandoned
    }
  }

  /// The next element if it has been pulled and is ready, and whether somebody is to pull on.
  mutating func demandNow(
    isAhead: Bool = false, ifReady isReady: (Slot) -> Bool = { _ in true }
  ) -> (slot: Slot, pullsOn: Bool)? {
    guard let first = slots.first, isReady(first.slot), slots.popFirst() != nil else { return nil }
    takenAhead = isAhead ? takenAhead + 1 : 0
    return (first.slot, !isAhead && pullsAhead())
  }

  /// A demand would sleep. False if there is something new to look at.
  mutating func sleep(_ sleeper: Sleeper) -> Bool {
    guard slots.isEmpty, transientFailure == nil, case .pulling = source else { return false }
    self.sleeper = sleeper
    return true
  }

  /// The number of the element that was just pulled: what a failure of it will be known by.
  mutating func number() -> Int {
    defer { pulls += 1 }
    return pulls
  }

  /// A demand has pulled an element, and takes it. Returns whether somebody is to pull on.
  mutating func pulledOnDemand(isAhead: Bool = false) -> Bool {
    guard case .pulling = source else { return false }
    source = .resting
    if !isAhead { takenAhead = 0 }
    return !isAhead && pullsAhead()
  }

  /// Whoever pulls ahead has pulled an element.
  mutating func pulledAhead(_ slot: Slot, _ number: Int) -> Pulled {
    if case .abandoned = source { return .refused }
    guard number <= lastNumber else { return .refused }
    slots.append(Numbered(number: number, slot: slot))
    let sleeper = sleeper.take()
    // It can have failed before it got here.
    guard case .pulling = source else { return .kept(pullsOn: false, wakes: sleeper) }
    // Who sleeps takes one.
    let pullsOn = slots.count + takenAhead - (sleeper == nil ? 0 : 1) < distance
    if !pullsOn { source = .resting }
    return .kept(pullsOn: pullsOn, wakes: sleeper)
  }

  /// There is nothing more to pull. Returns who has been waiting for more.
  mutating func end(with failure: Failure?) -> Sleeper? {
    if case .pulling = source { source = .over(failure) }
    return sleeper.take()
  }

  /// Whoever pulls has failed, and a later attempt may not. Nobody hears of it who does not wait.
  mutating func failedTransiently(_ failure: Failure) -> Sleeper? {
    guard case .pulling = source else { return nil }
    source = .hesitating
    if sleeper != nil { transientFailure = failure }
    return sleeper.take()
  }

  /// Whoever pulls ahead would have to ask the very list that it pulls ahead for: that is for a demand
  /// to do. Returns who sleeps, to do it.
  mutating func gaveUp() -> Sleeper? {
    guard case .pulling = source else { return nil }
    source = .resting
    return sleeper.take()
  }

  /// What was made of an element has failed: no element behind it will ever be read.
  mutating func failed(_ number: Int) -> (slots: [Slot], puller: Puller?) {
    if case .abandoned = source { return ([], nil) }
    source = .over(nil)
    lastNumber = min(lastNumber, number)
    return (slots.removeLast { $0.number > number }.map(\.slot), puller.take())
  }

  /// Nobody can read any more.
  mutating func abandon() -> (slots: [Slot], puller: Puller?, sleeper: Sleeper?) {
    source = .abandoned
    return (slots.removeLast { _ in true }.map(\.slot), puller.take(), sleeper.take())
  }

  /// The task that pulls ahead is known. False if it is to be cancelled.
  mutating func attach(_ puller: Puller) -> Bool {
    switch source {
    case .over, .abandoned: return false
    case .resting, .hesitating, .pulling:
      self.puller = puller
      return true
    }
  }

  private mutating func pullsAhead() -> Bool {
    guard case .resting = source, slots.count < distance else { return false }
    source = .pulling
    return true
  }
}
