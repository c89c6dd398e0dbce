internal import Synchronization

/// What there is of one piece of work: its closure, where it is in its life, who waits for the end.
final class WorkCell: Sendable {
  enum Kind: UInt8 { case once, repeatedly, recursively, job, isolatedJob }

  /// What is not a closure that runs once.
  enum SpecialWork {
    case repetition(Repetition)
    case recursion(Recursion)
    /// A job of a task. Nobody has a handle to such work.
    case job(UnownedJob)
  }

  typealias Action = @Sendable () -> Void

  let kind: Kind
  private let phase: Atomic<WorkPhase>
  // Guard: the phase. May touch it: whoever moved the phase to running, until it ends the turn;
  // then whoever moved it to over. Not an optional, which would call it through a thunk.
  @exclusivity(unchecked) private nonisolated(unsafe) var action: Action
  // Guard: as above. May touch it: as above.
  @exclusivity(unchecked) private nonisolated(unsafe) var special: SpecialWork?
  // Guard: the line that the work is in. May touch it: who adds the work to it, then its drain.
  @exclusivity(unchecked) nonisolated(unsafe) var neighbor: Unmanaged<WorkCell>?
  private let observers = LazyReference<WorkObservers>()

  private static let nothing: Action = {}

  init(_ action: consuming @escaping Action, isQueued: Bool = false) {
    kind = .once
    self.action = action
    phase = Atomic(isQueued ? .queued : .waiting)
  }

  init(_ repetition: Repetition) {
    kind = .repeatedly
    action = Self.nothing
    special = .repetition(repetition)
    phase = Atomic(.waiting)
  }

  init(_ recursion: Recursion) {
    kind = .recursively
    action = Self.nothing
    special = .recursion(recursion)
    phase = Atomic(.waiting)
  }

  init(_ job: UnownedJob, isIsolated: Bool) {
    kind = isIsolated ? .isolatedJob : .job
    action = Self.nothing
    special = .job(job)
    phase = Atomic(.queued)
  }

  var isCancelled: Bool { phase.load(ordering: .acquiring).isCancelled }

  var isOver: Bool { phase.load(ordering: .acquiring).isOver }

  func cancel() {
    let (isOver, phase) = move { $0.cancel() }
    if isOver { release(phase) }
  }

  var value: Void {
    get async {
      guard !isOver else { return }
      let waiter = Waiter()
      onEnd { waiter.wake(.retry) }
      _ = await waiter.park()
    }
  }

  func onEnd(_ action: @escaping @Sendable () -> Void) {
    let observers = observers.storeIfNil(WorkObservers())
    let isOpen = observers.add(action)
    if isOpen, !move({ $0.observe() }).0 { end(observers) } else if !isOpen { action() }
  }

  /// The timer that brings this work to its scheduler: until the end, if it was set before.
  var alarm: Alarm? { observers.load()?.alarm }

  /// Keeps a timer, which is cancelled at the end and let go of.
  func keep(_ alarm: Alarm) {
    let observers = observers.storeIfNil(WorkObservers())
    let isOpen = observers.keep(alarm)
    if isOpen, !move({ $0.observe() }).0 { end(observers) } else if !isOpen { alarm.cancel() }
  }

  // MARK: The turn

  /// Takes a place in a line. False if the work is over.
  func queue() -> Bool {
    switch move({ $0.queue() }).0 {
    case .queued: return true
    case .isOver: return false
    case .isQueued:
      fatalError("ScheduledWork: enqueued while it is in a line already; wait for its turn")
    }
  }

  /// The job that this work stands for. To be asked by the drain.
  var job: UnownedJob? {
    guard kind == .job || kind == .isolatedJob, case .job(let job) = special else { return nil }
    return job
  }

  /// Its turn in a line has come. If nobody else knows the work, nobody can cancel it or wait for
  /// it, and its phase need not be moved ("Plain closures").
  static func take(_ reference: Unmanaged<WorkCell>) {
    // The only copy: one more, and nothing would ever be unique.
    var work = reference.takeRetainedValue()
    guard isKnownUniquelyReferenced(&work), work.isPlain else { return work.run() }
    work.perform()
  }

  /// Whether this is a closure that is still to run, and that nobody has ever waited for.
  private var isPlain: Bool {
    // Who knew it may have cancelled it before letting go.
    atomicMemoryFence(ordering: .acquiring)
    return kind == .once && phase.load(ordering: .acquiring) == .queued
  }

  private func perform() {
    // Moved out, not copied: a copy is two atomic counts ("Plain closures").
    var action = Self.nothing
    swap(&action, &self.action)
    action()
  }

  /// Its turn has come. Recursive work is told how to ask for another one.
  func run(again: (@Sendable () -> Void)? = nil) {
    guard move({ $0.begin() }).0 else { return }
    switch special {
    case nil:
      perform()
      end(continues: false)
    case .repetition(let repetition):
      repetition.turn()
      if end(continues: true), !repetition.next(self) { abandon() }
    case .recursion(let recursion):
      if let again { recursion.turn(again) }
      end(continues: true)
    case .job: fatalError("ScheduledWork: a job is not run this way")
    }
  }

  /// The turn is over. False if it was the last.
  @discardableResult
  private func end(continues: Bool) -> Bool {
    let (isOver, phase) = move { $0.end(continues: continues) }
    if isOver { release(phase) }
    return !isOver
  }

  /// Nobody can continue the work any more.
  func abandon() {
    let (isOver, phase) = move { $0.abandon() }
    if isOver { release(phase) }
  }

  private func move<R>(_ event: (inout WorkPhase) -> R) -> (R, WorkPhase) {
    var old = phase.load(ordering: .relaxed)
    while true {
      var new = old
      let result = event(&new)
      if new == old { return (result, new) }
      let (exchanged, found) = phase.weakCompareExchange(
        expected: old, desired: new, ordering: .acquiringAndReleasing)
      if exchanged { return (result, new) }
      old = found
    }
  }

  private func release(_ phase: WorkPhase) {
    action = Self.nothing
    special = nil
    if phase.isObserved, let observers = observers.load() { end(observers) }
  }

  private func end(_ observers: WorkObservers) {
    let (alarm, actions) = observers.close()
    alarm?.cancel()
    for action in actions { action() }
  }
}

/// Who wants to hear that a piece of work is over. Made for the work that somebody waits for, and for
/// work that has a timer.
final class WorkObservers: Sendable {
  private enum State {
    case open([@Sendable () -> Void], Alarm?)
    case closed
  }

  private let state = Locked(State.open([], nil))

  /// False when the work is over.
  func add(_ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      // Consumed, because a copy of all actions for each of them would be quadratic.
      switch consume state {
      case .open(var actions, let alarm):
        actions.append(action)
        state = .open(actions, alarm)
        return true
      case .closed:
        state = .closed
        return false
      }
    }
  }

  var alarm: Alarm? {
    state.withLock { state in if case .open(_, let alarm) = state { alarm } else { nil } }
  }

  /// False when the work is over.
  func keep(_ alarm: Alarm) -> Bool {
    state.withLock { state in
      guard case .open(let actions, _) = state else { return false }
      state = .open(actions, alarm)
      return true
    }
  }

  /// What is to be cancelled and called. Nothing of it is kept: a handle may outlive its work by far.
  func close() -> (alarm: Alarm?, actions: [@Sendable () -> Void]) {
    state.withLock { state in
      guard case .open(let actions, let alarm) = state else { return (nil, []) }
      state = .closed
      return (alarm, actions)
    }
  }
}
