import TailraceSupport
internal import Synchronization

/// One piece of work: its closure, its phase, and the observers of its end.
final class WorkCell: Sendable {
  enum Kind: UInt8 { case once, repeatedly, recursively, job, isolatedJob }

  /// Work other than a closure that runs once.
  enum SpecialWork {
    case repetition(Repetition)
    case recursion(Recursion)
    /// A job of a task. Such work has no handle.
    case job(UnownedJob)
  }

  typealias Action = @Sendable () -> Void

  let kind: Kind
  private let phase: Atomic<WorkPhase>
  // Guard: the phase. May touch it: the thread that moved the phase to running, until it ends the
  // turn; then the thread that moved it to over. An optional would be called through a thunk.
  @exclusivity(unchecked) private nonisolated(unsafe) var action: Action
  // Guard: as above. May touch it: as above.
  @exclusivity(unchecked) private nonisolated(unsafe) var special: SpecialWork?
  // Guard: the queue of the work. May touch it: the thread that adds the work, then the drain.
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
    get async { _ = await isEnded(cancellable: false) }
  }

  /// Waits until the work is over. False if the task may be cancelled, and is cancelled first.
  nonisolated(nonsending) func isEnded(cancellable: Bool) async -> Bool {
    guard !isOver else { return true }
    let waiter = Waiter()
    onEnd { waiter.wake(.lookAgain) }
    let mark = Exploring.waits(for: Exploring.Wait("", "work on a scheduler", self))
    defer { mark?.end() }
    if case .cancelled = await waiter.wait(cancellable: cancellable) { return false }
    return true
  }

  func onEnd(_ action: @escaping @Sendable () -> Void) {
    let observers = observers.storeIfNil(WorkObservers())
    let isOpen = observers.add(action)
    if isOpen, !move({ $0.observe() }).0 { end(observers) } else if !isOpen { action() }
  }

  /// The timer that brings this work to its scheduler, if set, until the end.
  var alarm: Alarm? { observers.load()?.alarm }

  /// Stores a timer; at the end it is cancelled and released.
  func keep(_ alarm: Alarm) {
    let observers = observers.storeIfNil(WorkObservers())
    let isOpen = observers.keep(alarm)
    if isOpen, !move({ $0.observe() }).0 { end(observers) } else if !isOpen { alarm.cancel() }
  }

  // MARK: The turn

  /// Enters a queue. False if the work is over.
  func queue() -> Bool {
    switch move({ $0.queue() }).0 {
    case .queued: return true
    case .isOver: return false
    case .isQueued:
      misuse("ScheduledWork: enqueued while it is in a line already; wait for its turn")
    }
  }

  /// The job of this work. Called by the drain.
  var job: UnownedJob? {
    guard kind == .job || kind == .isolatedJob, case .job(let job) = special else { return nil }
    return job
  }

  /// Takes a turn from a queue. If this is the only reference, no other code can cancel the work
  /// or wait for it, and its phase need not change ("Plain closures").
  static func take(_ reference: Unmanaged<WorkCell>) {
    // The only copy: another one would prevent uniqueness.
    var work = reference.takeRetainedValue()
    guard isKnownUniquelyReferenced(&work), work.isPlain else { return work.run() }
    work.perform()
  }

  /// Whether this is a closure that has not run, and that has never been waited for.
  private var isPlain: Bool {
    // A former holder may have cancelled it before releasing it.
    atomicMemoryFence(ordering: .acquiring)
    return kind == .once && phase.load(ordering: .acquiring) == .queued
  }

  private func perform() {
    // Moved out: a copy would cost two atomic counts ("Plain closures").
    var action = Self.nothing
    swap(&action, &self.action)
    action()
  }

  /// Runs its turn. Recursive work gets a function that requests another one.
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

  /// Nothing can continue the work any more.
  func abandon() {
    let (isOver, phase) = move { $0.abandon() }
    if isOver { release(phase) }
  }

  private func move<R>(_ event: (inout WorkPhase) -> R) -> (R, WorkPhase) {
    // An answer that changes nothing, such as *over*, shows also what the thread did that made it so.
    var old = phase.load(ordering: .acquiring)
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

/// The observers of the end of a piece of work. Created only for work with waiters or a timer.
final class WorkObservers: Sendable {
  private enum State {
    case open([@Sendable () -> Void], Alarm?)
    case closed
  }

  private let state = Locked(State.open([], nil))

  /// False when the work is over.
  func add(_ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      // Consumed: a copy of all actions for each of them would be quadratic.
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

  /// The timer to cancel and the actions to call. None is kept: a handle may outlive its work by
  /// far.
  func close() -> (alarm: Alarm?, actions: [@Sendable () -> Void]) {
    state.withLock { state in
      guard case .open(let actions, let alarm) = state else { return (nil, []) }
      state = .closed
      return (alarm, actions)
    }
  }
}
