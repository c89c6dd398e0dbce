/// Decides when the one task runs that works for all who wait: a value with one method for each event.
///
/// Each run of the task has a number. A run that is over may still be on its way to learn it, so
/// whatever it says later is compared with the number of the present run.
///
/// | event | what follows |
/// |---|---|
/// | somebody waits | a run is started, if there is none |
/// | some are told, or cancelled | they go on |
/// | nobody waits any more | the run is cancelled; if it lingers, it goes on until `end` |
/// | a run is over by itself | the next one that waits starts another |
///
/// What follows is collected in `effects`, and done by the shell outside of the lock.
package struct WhileAwaited<Outcome: Sendable, Continuation: Sendable>: Sendable {
  package typealias Waiters = PositionWaiters<Outcome, Continuation>

  package enum Action: Hashable, Sendable {
    case start(Int)
    /// This run, and no other that was started meanwhile.
    case cancel(Int)
    /// Tell those whose deadline has come at this time.
    case setAlarm(Int, at: Duration)
  }

  package struct Effects: Sendable {
    package var actions: [Action] = []
    package var woken: [Waiters.Woken] = []
  }

  /// Whether a run goes on when nobody waits any more.
  private let lingers: Bool
  private var waiters = Waiters()
  private var run = 0
  private var alarm: (number: Int, time: Duration)?
  private var alarms = 0
  private var effects = Effects()

  package init(lingers: Bool) { self.lingers = lingers }

  /// How many wait.
  package var count: Int { waiters.count }
  /// Whether the run with this number is the present one.
  package func isPresent(_ run: Int) -> Bool { isRunning && run == self.run }
  /// Whether there is a run that is wanted.
  package private(set) var isRunning = false

  // MARK: Those that wait

  /// A task begins to wait. Returns its number.
  package mutating func enter(_ position: Int, deadline: Duration? = nil) -> Int {
    if !isRunning {
      isRunning = true
      run += 1
      effects.actions.append(.start(run))
    }
    if let deadline { setAlarm(deadline) }
    return waiters.enter(position, deadline: deadline)
  }

  /// The task has a continuation now. Returns the outcome if the task was told already.
  package mutating func wait(_ number: Int, _ continuation: Continuation) -> Outcome? {
    waiters.wait(number, continuation)
  }

  /// Ends the waiting of one task, which is cancelled. No run is cancelled by this: that would run other
  /// code in the middle of a cancellation. The task calls `left` when it goes on.
  package mutating func cancel(_ number: Int, _ outcome: Outcome) {
    effects.woken += waiters.tell(number, outcome)
  }

  /// A task that has waited goes on.
  package mutating func left() { endIfUnwanted() }

  /// Ends the waiting of all tasks whose position fulfils a condition. Returns how many those are.
  @discardableResult
  package mutating func wake(_ outcome: Outcome, if isReady: (_ position: Int) -> Bool) -> Int {
    let before = waiters.count
    effects.woken += waiters.wake(outcome) { position, _ in isReady(position) }
    endIfUnwanted()
    return before - waiters.count
  }

  // MARK: The task

  /// The present run is not wanted any more, unless somebody waits.
  package mutating func end() {
    guard isRunning, waiters.count == 0 else { return }
    isRunning = false
    effects.actions.append(.cancel(run))
  }

  /// A run is over by itself. False if it was over before.
  @discardableResult
  package mutating func isOver(_ run: Int) -> Bool {
    guard isPresent(run) else { return false }
    isRunning = false
    return true
  }

  private mutating func endIfUnwanted() { if !lingers { end() } }

  // MARK: Deadlines

  /// One alarm for all: it goes off at the first deadline.
  private mutating func setAlarm(_ deadline: Duration) {
    if let alarm, alarm.time <= deadline { return }
    alarms += 1
    alarm = (alarms, deadline)
    effects.actions.append(.setAlarm(alarms, at: deadline))
  }

  /// An alarm goes off: those whose deadline has come are told.
  package mutating func alarm(_ number: Int, at now: Duration, _ outcome: Outcome) {
    guard alarm?.number == number else { return }
    alarm = nil
    effects.woken += waiters.wake(outcome) { _, deadline in deadline.map { $0 <= now } ?? false }
    if let next = waiters.nextDeadline { setAlarm(next) }
    endIfUnwanted()
  }

  // MARK: Effects

  /// Takes what is to be done outside of the lock.
  package mutating func takeEffects() -> Effects {
    defer { effects = Effects() }
    return effects
  }
}
