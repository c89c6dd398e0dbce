internal import Synchronization

/// Work that a scheduler has been given: a handle to cancel it, and to wait for it.
///
/// ```swift
/// let work = scheduler.schedule { print("later") }
/// work.cancel()         // before its turn: it never runs, and its closure is released now
/// await work.value      // returns when it has run, or never will
/// ```
///
/// It is no scoped handle: work whose handle is dropped goes on. No task is made for it.
///
/// - Cancellation: `cancel()` before its turn means that it never runs. Work that repeats itself is
///   not run again. A closure that is running is not interrupted.
///
/// Replaces `RACDisposable` of `-[RACScheduler schedule:]`.
public final class ScheduledWork: Sendable {
  enum Body {
    case once(@Sendable () -> Void)
    /// The second closure brings the work to its next turn.
    case repeatedly(@Sendable () -> Void, next: @Sendable (ScheduledWork) -> Void)
    /// Each turn is given a way to ask for another.
    case recursively(@Sendable (@escaping @Sendable () -> Void) -> Void)
  }

  private let phase = Atomic(WorkPhase.waiting)
  // Guard: the phase. May touch it: whoever moved the phase to running, until it ends the turn;
  // then whoever moved it to over.
  @exclusivity(unchecked) private nonisolated(unsafe) var body: Body?
  private let observers = AtomicLazyReference<WorkObservers>()

  let isRepeating: Bool

  init(_ body: Body) {
    self.body = body
    isRepeating = if case .repeatedly = body { true } else { false }
  }

  /// Whether the work was cancelled before it was over. True also while its last turn still runs.
  public var isCancelled: Bool { phase.load(ordering: .acquiring).isCancelled }

  /// Whether the work is over: it has run for the last time, or never will.
  public var isOver: Bool { phase.load(ordering: .acquiring).isOver }

  /// Never lets the work run again. Before its turn its closure is released at once, by this call.
  ///
  /// May be called from anywhere, more than once, and by the work itself.
  public func cancel() {
    let (isOver, phase) = move { $0.cancel() }
    if isOver { release(phase) }
  }

  /// Waits until the work is over: until it has run for the last time, or has been cancelled and
  /// no turn of it is running.
  ///
  /// - Cancellation: a task that is cancelled goes on waiting, as with `Task.value`.
  public var value: Void {
    get async {
      guard !isOver else { return }
      await withUnsafeContinuation { continuation in
        onEnd { continuation.resume() }
      }
    }
  }

  /// Calls a closure when the work is over, at once if it is; on the thread that ends the work.
  ///
  /// For schedulers that keep something for the work, such as a timer that is to be cancelled.
  public func onEnd(_ action: @escaping @Sendable () -> Void) {
    let observers = observers.storeIfNil(WorkObservers())
    let isOpen = observers.add(action)
    if isOpen, !move({ $0.observe() }).0 { end(observers) } else if !isOpen { action() }
  }

  /// The timer that brings this work to its scheduler.
  func alarm(orMake make: () -> Alarm) -> Alarm {
    let observers = observers.storeIfNil(WorkObservers())
    return observers.alarm.load() ?? observers.alarm.storeIfNil(make())
  }

  // MARK: The turn

  /// Its turn has come. Recursive work is told how to ask for another one.
  func run(again: @escaping @Sendable () -> Void = {}) {
    guard move({ $0.begin() }).0 else { return }
    let next: (@Sendable (ScheduledWork) -> Void)?
    // Called from a copy: who is told to release the body may do so while it is still running.
    switch body.unsafelyUnwrapped {
    case .once(let action):
      action()
      next = nil
    case .repeatedly(let action, let following):
      action()
      next = following
    case .recursively(let action):
      action(again)
      next = { _ in }
    }
    let (isOver, phase) = move { $0.end(continues: next != nil) }
    if isOver { release(phase) } else { next?(self) }
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
    body = nil
    if phase.isObserved, let observers = observers.load() { end(observers) }
  }

  private func end(_ observers: WorkObservers) {
    for action in observers.close() { action() }
  }
}

/// Who wants to hear that a piece of work is over. Made for the work that somebody waits for.
final class WorkObservers: Sendable {
  private enum State {
    case open([@Sendable () -> Void])
    case closed
  }

  private let state = Locked(State.open([]))
  let alarm = AtomicLazyReference<Alarm>()

  /// False when the work is over.
  func add(_ action: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard case .open(var actions) = state else { return false }
      actions.append(action)
      state = .open(actions)
      return true
    }
  }

  func close() -> [@Sendable () -> Void] {
    state.withLock { state in
      guard case .open(let actions) = state else { return [] }
      state = .closed
      return actions
    }
  }
}
