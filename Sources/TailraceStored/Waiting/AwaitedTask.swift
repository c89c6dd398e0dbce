import TailraceLists
import TailraceSupport

/// The shell of ``WhileAwaited``: contents behind a lock, the one task that changes them while somebody
/// waits, and those that wait.
///
/// `update` is the only way to change the contents. What a change decides is done after it, outside of
/// the lock.
final class AwaitedTask<Contents: Sendable, Outcome: Sendable>: Sendable {
  typealias Awaited = WhileAwaited<Outcome, TaskContinuation<Outcome>>
  /// What a run of the task does.
  typealias Work = @Sendable (_ run: Int) async -> Void

  private struct State: Sendable {
    var contents: Contents
    var awaited: Awaited
    /// The task of the present run.
    var task: (run: Int, task: Task<Void, Never>)?
  }

  /// What somebody finds who looks whether there is something to wait for.
  enum Wait: Sendable {
    case over(Outcome)
    case waits(number: Int)
  }

  let clock: any Clock<Duration>
  let now: @Sendable () -> Duration
  private let timedOut: Outcome
  private let cancelled: Outcome
  private let state: Locked<State>

  /// - Parameters:
  ///   - lingers: whether the task goes on when nobody waits any more.
  ///   - timedOut: what those are told whose deadline has come.
  ///   - cancelled: what those are told whose task is cancelled.
  init(
    _ contents: Contents, lingers: Bool, clock: any Clock<Duration>,
    now: @escaping @Sendable () -> Duration, timedOut: Outcome, cancelled: Outcome
  ) {
    self.clock = clock
    self.now = now
    self.timedOut = timedOut
    self.cancelled = cancelled
    state = Locked(State(contents: contents, awaited: Awaited(lingers: lingers)))
  }

  /// Changes the contents, and does what follows, also if the change throws.
  @discardableResult
  func update<Value: Sendable, Failure: Error>(
    _ change: (inout Contents, inout Awaited) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try update(change, work: nil)
  }

  /// Waits until the task is told something.
  ///
  /// - Parameters:
  ///   - enter: looks whether there is something to wait for, and enters the task if so.
  ///   - work: what a run does that this starts.
  nonisolated(nonsending) func wait(
    _ enter: (inout Contents, inout Awaited) -> Wait, work: @escaping Work
  ) async -> Outcome {
    let number: Int
    switch update(enter, work: work) {
    case .over(let outcome): return outcome
    case .waits(let found): number = found
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: TaskContinuation<Outcome>) in
        let early = state.withLock { $0.awaited.wait(number, continuation) }
        if let early { continuation.resume(returning: early) }
      }
    } onCancel: {
      // The clock is not asked here: it would run under the lock of the task.
      update { $1.cancel(number, cancelled) }
    }
    update { $1.left() }
    return outcome
  }

  private func update<Value: Sendable, Failure: Error>(
    _ change: (inout Contents, inout Awaited) throws(Failure) -> Value, work: Work?
  ) throws(Failure) -> Value {
    let (result, effects) = state.withLock { state in
      let result = Result { () throws(Failure) in
        try change(&state.contents, &state.awaited)
      }
      return (result, state.awaited.takeEffects())
    }
    for action in effects.actions {
      switch action {
      case .start(let run):
        guard let work else { preconditionFailure("only who waits can start a run") }
        start(run, work)
      case .cancel(let run):
        let task = state.withLock { state in
          state.task?.run == run ? state.task.take()?.task : nil
        }
        task?.cancel()
      case .setAlarm(let number, let time): setAlarm(number, at: time)
      }
    }
    for waiter in effects.woken { waiter.continuation.resume(returning: waiter.outcome) }
    return try result.get()
  }

  private func start(_ run: Int, _ work: @escaping Work) {
    let task = Task { await work(run) }
    let surplus = state.withLock { state -> Task<Void, Never>? in
      // It was told to stop, or was over, before it could be kept.
      guard state.awaited.isPresent(run) else { return task }
      defer { state.task = (run, task) }
      // Its run is over: nothing is left to do for it.
      return state.task?.task
    }
    surplus?.cancel()
  }

  private func setAlarm(_ number: Int, at time: Duration) {
    Task { [weak self, clock, now] in
      try? await clock.sleep(for: time - now())
      self?.alarm(number)
    }
  }

  private func alarm(_ number: Int) {
    let now = now()
    update { $1.alarm(number, at: now, timedOut) }
  }
}
