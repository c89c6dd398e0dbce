import TailraceSupport

/// The slots that a list has pulled from its source ahead of its readers, as a value.
///
/// Every event is one mutating method that returns what to do; it does nothing else. ``Lookahead``
/// isolates the value, asks it, and acts after it has released its lock.
///
/// ```
///              demand, nothing there; or the task begins, and there is room
///   resting ──────────────────────────────────────────────────────▶ pulling
///      ▲ ◀─────── pulled, and that is enough; or in the way ────────┘ │ │ ▲
///      │                                                              │ │ │ demand
///      │                             over ◀── the end, or a failure ──┘ ▼ │
///      │                                             a failure for now: hesitating
/// ```
///
/// A task that pulls ahead is *called* when a slot is given and there is room. It takes a while to begin. A demand
/// that comes meanwhile pulls for itself what it gets at once, and leaves to the task what has to be waited for:
/// it sleeps while the source rests. One start serves all these demands ("Working ahead").
@usableFromInline
struct LookaheadState<Slot: Sendable, Waiter: AnyObject & Sendable>: Sendable {
  @usableFromInline typealias Puller = Task<Void, Never>

  @usableFromInline
  enum Source: Sendable {
    /// Nothing pulls: there are as many slots as allowed, or there was no demand, or a task is called.
    case resting
    /// The step ahead failed temporarily. It is retried when its element is demanded, and not
    /// before.
    case hesitating
    case pulling
    /// There is nothing more to pull.
    case over((any Error)?)
    /// Nothing can read any more.
    case abandoned
  }

  @usableFromInline
  struct Numbered: Sendable {
    @usableFromInline let number: Int
    @usableFromInline let slot: Slot

    @_alwaysEmitIntoClient
    init(number: Int, slot: Slot) { (self.number, self.slot) = (number, slot) }
  }

  @usableFromInline
  enum Answer: Sendable {
    /// A slot pulled before, and whether the caller is to start a task that pulls ahead.
    case slot(Slot, starts: Bool)
    /// The caller pulls the element. If a task is called, it leaves to that what is not there at once, and waits:
    /// the number is that of slots taken before.
    case pull(orWait: Int?)
    /// Another pull is in progress: wait until it is done, and ask again. The number is that of
    /// slots taken before.
    case wait(after: Int)
    case end
    case failed(any Error)
    /// The last attempt beside the readers has failed: for a demand that has waited for it. Another asks again.
    case failedTransiently(any Error)
    case abandoned
  }

  @usableFromInline
  enum Pulled: Sendable {
    case kept(pullsOn: Bool, wakes: [Waiter])
    /// It is no longer wanted.
    case refused(Slot)
  }

  /// What is left when there will be no more look-ahead, to be told, and released outside of a lock.
  @usableFromInline
  struct Leavings: Sendable {
    @usableFromInline var slots: [Slot] = []
    @usableFromInline var puller: Puller?
    @usableFromInline var waiters: [Waiter] = []
    /// May hold the last reference to a user's error.
    @usableFromInline var source = Source.abandoned

    @_alwaysEmitIntoClient
    init() {}
  }

  /// The maximum number of slots beside the demanded one.
  @usableFromInline let distance: Int
  @usableFromInline var source = Source.resting
  /// Pulled and not demanded yet.
  @usableFromInline var slots = FIFO<Numbered>()
  /// The number of slots given away.
  @usableFromInline var taken = 0
  /// Slots after this number will not be read: the work for that element has failed.
  @usableFromInline var lastNumber = Int.max
  /// The last demand must not cause look-ahead: nothing is pulled ahead until there is another one.
  @usableFromInline var isPaused = false
  /// The failure of the last attempt beside the readers, until a demand for its slot takes it.
  @usableFromInline var lastFailure: (any Error)?
  /// The demands that wait for the current pull.
  @usableFromInline var waiters = WaiterSet<Waiter>()
  @usableFromInline var puller: Puller?
  /// A task was started to pull ahead, and has not begun.
  @usableFromInline var isCalled = false
  /// The highest priority that the puller was made with, or that has waited for it, perhaps before it was known.
  @usableFromInline var raisedTo: UInt8 = 0

  @_alwaysEmitIntoClient
  init(distance: Int) { self.distance = distance }

  /// The next element is demanded.
  ///
  /// - Parameter isLimited: the demand must not cause look-ahead, because look-ahead has caused it.
  @_alwaysEmitIntoClient
  mutating func demand(isLimited: Bool = false) -> Answer {
    isPaused = isLimited
    if let first = slots.popFirst() {
      taken += 1
      return .slot(first.slot, starts: call())
    }
    if let failure = lastFailure.take() { return .failedTransiently(failure) }
    switch source {
    case .resting, .hesitating:
      source = .pulling
      return .pull(orWait: isCalled ? taken : nil)
    case .pulling: return .wait(after: taken)
    case .over(nil): return .end
    case .over(let failure?): return .failed(failure)
    case .abandoned: return .abandoned
    }
  }

  /// Whether the slot after that many is still being pulled, or will be.
  @_alwaysEmitIntoClient
  func isPulling(after taken: Int) -> Bool {
    switch source {
    case .pulling: break
    case .resting where isCalled: break
    case .resting, .hesitating, .over, .abandoned: return false
    }
    return slots.isEmpty && self.taken == taken
  }

  /// A demand is about to wait. False if there is something new to check.
  @_alwaysEmitIntoClient
  mutating func enter(_ waiter: Waiter, after taken: Int) -> Bool {
    guard isPulling(after: taken) else { return false }
    waiters.enter(waiter)
    return true
  }

  /// A demand stops waiting.
  @_alwaysEmitIntoClient
  mutating func leave(_ waiter: Waiter) { waiters.leave(waiter) }

  /// A demand has pulled an element, and takes it. Returns whether the caller is to start a task, and the
  /// demands that came to wait for the pull before this one.
  @_alwaysEmitIntoClient
  mutating func pulledOnDemand() -> (starts: Bool, wakes: [Waiter]) {
    let waiters = wakeAll()
    guard case .pulling = source else { return (false, waiters) }
    source = .resting
    taken += 1
    return (call(), waiters)
  }

  /// Has a task called, if there is room and none pulls or is called. True if the caller is to start it.
  @_alwaysEmitIntoClient
  mutating func call() -> Bool {
    guard case .resting = source, !isCalled, !isPaused, slots.count < distance else { return false }
    (isCalled, raisedTo) = (true, 0)
    return true
  }

  /// The called task runs. True if it pulls; otherwise it is over. There is room: nobody else fills it.
  @_alwaysEmitIntoClient
  mutating func begin() -> Bool {
    isCalled = false
    guard case .resting = source, !isPaused || !waiters.isEmpty else { return false }
    source = .pulling
    return true
  }

  /// The puller ahead has pulled an element.
  @_alwaysEmitIntoClient
  mutating func pulledAhead(_ slot: consuming Slot, _ number: Int) -> Pulled {
    if case .abandoned = source { return .refused(slot) }
    guard number <= lastNumber else { return .refused(slot) }
    slots.append(Numbered(number: number, slot: slot))
    let waiters = wakeAll()
    // Pulling does not go on if it has been given up meanwhile.
    guard case .pulling = source else { return .kept(pullsOn: false, wakes: waiters) }
    // A waiter takes one.
    let pullsOn = !isPaused && slots.count - (waiters.isEmpty ? 0 : 1) < distance
    if !pullsOn { source = .resting }
    return .kept(pullsOn: pullsOn, wakes: waiters)
  }

  /// There is nothing more to pull. Returns the demands that waited for more.
  @_alwaysEmitIntoClient
  mutating func end(with failure: (any Error)?) -> [Waiter] {
    if case .pulling = source { source = .over(failure) }
    return wakeAll()
  }

  /// The pull has failed, and a later attempt may not. Returns those who wait for it.
  ///
  /// - Parameter failure: kept for them; `nil` if a demand has pulled, which is told itself.
  @_alwaysEmitIntoClient
  mutating func failed(_ failure: (any Error)?) -> [Waiter] {
    if case .pulling = source { (source, lastFailure) = (.hesitating, failure) }
    return wakeAll()
  }

  /// The puller has met an obstacle, such as the very list that it pulls ahead for. A demand has to
  /// handle it. Returns the waiters, to do so.
  @_alwaysEmitIntoClient
  mutating func gaveUp() -> [Waiter] {
    if case .pulling = source { source = .resting }
    return wakeAll()
  }

  /// A demand leaves to the called task what is not there at once. Returns whether the caller is to start another
  /// one, because that has begun meanwhile, and is over; and the demands that came to wait for this pull.
  @_alwaysEmitIntoClient
  mutating func leftToTask() -> (starts: Bool, wakes: [Waiter]) {
    let waiters = gaveUp()
    return (call(), waiters)
  }

  @_alwaysEmitIntoClient
  mutating func wakeAll() -> [Waiter] {
    waiters.isEmpty ? [] : waiters.removeAll()
  }

  /// The work for an element has failed: no element after it will ever be read.
  @_alwaysEmitIntoClient
  mutating func failed(_ number: Int) -> Leavings {
    if case .abandoned = source { return Leavings() }
    lastNumber = min(lastNumber, number)
    return stop(.over(nil), keeping: number)
  }

  /// Nothing can read any more.
  @_alwaysEmitIntoClient
  mutating func abandon() -> Leavings { stop(.abandoned, keeping: -1) }

  /// - Parameter last: the number of the last slot that may still be read.
  @_alwaysEmitIntoClient
  mutating func stop(_ source: Source, keeping last: Int) -> Leavings {
    var left = Leavings()
    left.slots = slots.removeLast { $0.number > last }.map(\.slot)
    left.puller = puller.take()
    left.waiters = wakeAll()
    left.source = source
    swap(&left.source, &self.source)
    return left
  }

  /// The task that pulls ahead is known. It is to be cancelled if it is not wanted any more, and to be raised if a
  /// task of higher priority has waited before it was known.
  @_alwaysEmitIntoClient
  mutating func attach(
    _ puller: Puller, madeAt priority: TaskPriority
  ) -> (isWanted: Bool, raised: TaskPriority?) {
    switch source {
    case .over, .abandoned: return (false, nil)
    case .resting, .hesitating, .pulling:
      self.puller = puller
      let waited = raisedTo
      raisedTo = max(waited, priority.rawValue)
      return (true, waited > priority.rawValue ? TaskPriority(rawValue: waited) : nil)
    }
  }

  /// A task of this priority waits. Returns the task to raise.
  @_alwaysEmitIntoClient
  mutating func raise(to priority: TaskPriority) -> Puller? {
    guard raisedTo < priority.rawValue else { return nil }
    raisedTo = priority.rawValue
    return puller
  }
}
