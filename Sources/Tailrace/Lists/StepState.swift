/// The one step that a list may have in flight, as a value.
///
/// Every event is one mutating method that says what to do; nothing is done here. The evaluator
/// isolates the value, asks, and acts after it has let go of its claim. `<doc:TheCell>` draws it.
@usableFromInline
enum StepState<Outcome, Flight: AnyObject, Waiter: AnyObject> {
  /// No step runs. The evaluator holds its producer.
  case idle
  /// A step runs in a task of its own, which holds the producer meanwhile.
  case computing(Flight, waiters: [Waiter])
  /// The step is over; the next reader writes its outcome into the cells.
  case delivered(Outcome)
  /// Nobody can read what a step would give.
  case abandoned

  @usableFromInline
  enum Demand {
    case compute
    case commit(Outcome)
    case wait
    case refuse
  }

  @usableFromInline
  enum Waiting {
    /// The waiter is kept until this flight is over.
    case parked(Flight)
    case retry
  }

  /// A reader wants the next cell and holds the claim.
  @inlinable
  mutating func demand() -> Demand {
    switch self {
    case .idle: return .compute
    // A list that was given to a recursive definition, and has outlived it.
    case .abandoned: return .refuse
    case .computing: return .wait
    case .delivered(let outcome):
      self = .idle
      return .commit(outcome)
    }
  }

  /// The step turned out to need a task. False when there is nothing to begin.
  @inlinable
  mutating func begin(_ flight: Flight) -> Bool {
    guard case .idle = self else { return false }
    self = .computing(flight, waiters: [])
    return true
  }

  @inlinable
  mutating func wait(_ waiter: Waiter) -> Waiting {
    guard case .computing(let flight, var waiters) = self else { return .retry }
    // Empties the stored array first, so that the append does not copy it.
    self = .idle
    waiters.append(waiter)
    self = .computing(flight, waiters: waiters)
    return .parked(flight)
  }

  /// A waiter was cancelled. It may be unknown here: woken in the meantime, or not arrived yet.
  @inlinable
  mutating func leave(_ waiter: Waiter) {
    guard case .computing(let flight, var waiters) = self else { return }
    self = .idle
    if let index = waiters.firstIndex(where: { $0 === waiter }) { waiters.remove(at: index) }
    self = .computing(flight, waiters: waiters)
  }

  /// The step in flight is over. Returns who waits for it.
  ///
  /// Without an outcome the attempt left nothing behind, and the next demand tries again.
  @inlinable
  mutating func finish(_ outcome: Outcome?) -> [Waiter] {
    guard case .computing(_, let waiters) = self else { return [] }
    self = if let outcome { .delivered(outcome) } else { .idle }
    return waiters
  }

  /// The last reference to the unevaluated rest is gone. Returns what must be cancelled.
  @inlinable
  mutating func abandon() -> Flight? {
    defer { self = .abandoned }
    guard case .computing(let flight, _) = self else { return nil }
    return flight
  }

  @inlinable var isComputing: Bool {
    if case .computing = self { true } else { false }
  }
}
