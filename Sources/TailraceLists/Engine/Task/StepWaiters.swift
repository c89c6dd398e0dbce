/// The readers that wait for a suspended step, as a value: one method per event.
///
/// | Event          | Changes                                                                   |
/// |----------------|---------------------------------------------------------------------------|
/// | `comes`        | a driver that will wait if its step suspends is on its way                  |
/// | `enter`        | it waits, or another reader does                                          |
/// | `departs`      | it will not wait; the step is told if nobody does                         |
/// | `drops`        | it has something else first, and comes back as any reader                 |
/// | `leave`        | a waiter leaves; the step is told if nobody waits any more                |
/// | `stepWaits`    | the step waits, and is to be told if nobody waits for it                  |
/// | `stepGoesOn`   | the step does not wait any more                                           |
/// | `parked`       | the task has parked after an attempt: all who wait for it look again      |
///
/// The next attempt may have begun before `parked` is said of the one before: its readers wait on.
struct StepWaiters<Waiter: AnyObject & Sendable>: Sendable {
  /// Those that wait for the latest attempt.
  private(set) var waiters = WaiterSet<Waiter>()
  /// Those that wait for attempts before it: they are about to be woken.
  private(set) var former = WaiterSet<Waiter>()
  private var latest = 0
  /// The driver of that attempt is on its way to wait; 0 for none.
  private(set) var coming = 0
  /// With it the step waits, to be told when nobody waits for the step.
  private(set) var step: Waiter?

  mutating func comes(_ attempt: Int) {
    follow(attempt)
    coming = attempt
  }

  /// The attempt is under way: the ones before it are over.
  private mutating func follow(_ attempt: Int) {
    guard attempt != latest else { return }
    latest = attempt
    for waiter in waiters.removeAll() { former.enter(waiter) }
  }

  /// - Parameter isBegun: whether the reader has begun the attempt.
  mutating func enter(_ waiter: Waiter, for attempt: Int, isBegun: Bool = false) {
    follow(attempt)
    waiters.enter(waiter)
    if isBegun, attempt == coming { coming = 0 }
  }

  /// Returns the waiter of the step, to be told that nobody waits for it.
  mutating func departs(_ attempt: Int) -> Waiter? {
    guard coming == attempt else { return nil }
    coming = 0
    return unwaited()
  }

  /// The driver was given elements before the missing one, and comes back without its cell. Until it does,
  /// nobody is known to want the step, and the step is not told.
  mutating func drops(_ attempt: Int) { if coming == attempt { coming = 0 } }

  /// Whether somebody waits for a step, or is on the way.
  var isAwaited: Bool { coming != 0 || !waiters.isEmpty || !former.isEmpty }

  /// The waiter may be unknown, because it was woken meanwhile. Returns the waiter of the step, to be
  /// told that nobody waits for it.
  mutating func leave(_ waiter: Waiter) -> Waiter? {
    if waiters.leave(waiter) { return unwaited() }
    former.leave(waiter)
    return nil
  }

  /// False if nobody waits for the step, and it is to stop.
  mutating func stepWaits(with waiter: Waiter) -> Bool {
    guard coming != 0 || !waiters.isEmpty else { return false }
    step = waiter
    return true
  }

  mutating func stepGoesOn() { step = nil }

  private mutating func unwaited() -> Waiter? {
    waiters.isEmpty && coming == 0 ? step.take() : nil
  }

  /// The attempts up to one are over, and the task has parked after it.
  mutating func parked(after attempt: Int) -> [Waiter] {
    let latest = latest <= attempt ? waiters.removeAll() : []
    return former.isEmpty ? latest : former.removeAll() + latest
  }
}
