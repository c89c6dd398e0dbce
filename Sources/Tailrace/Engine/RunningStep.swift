/// A closure that runs in a task of its own, and its result when there is one.
// Guard: each field's own, below. May touch it: the task that runs, and the stage of the list.
@usableFromInline
final class RunningStep<Input: Sendable, Output: Sendable, Failure: Error>: Completion,
  @unchecked Sendable
{
  @usableFromInline let element: Input
  // Guard: written by the task before the completion says so, read by others after it has.
  @exclusivity(unchecked) @usableFromInline var result: Result<Output, Failure>?
  /// Whether a failure that does not stay has been told to those who have come when it was there.
  // Guard: the claim of the list that the result is for.
  @exclusivity(unchecked) @usableFromInline var isTold = false

  @inlinable
  init(
    _ element: Input, isRetried: Bool,
    _ run: @escaping @Sendable (Input) async -> Result<Output, Failure>
  ) {
    self.element = element
    super.init()
    attach(
      StepTask.atHome { [self] in
        let result = await run(element)
        self.result = .some(result)
        var failure: (any Error)?
        if isRetried, case .failure(let error) = result { failure = error }
        complete(tellingFailure: failure)
      })
  }

  /// A failure is told once: to those who wait for it, or to who comes then.
  @inlinable
  func takeFailure() -> Bool {
    if isTold || hasToldFailure { return false }
    isTold = true
    return true
  }
}

/// Whether a task is done, for those who wait for it as for a cell of a list.
// Guard: a lock of its own. May touch it: anybody.
@usableFromInline
class Completion: @unchecked Sendable {
  private struct State: Sendable {
    var isDone = false
    var hasToldFailure = false
    var waiters: [Waiter] = []
    /// Until it is done.
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())

  @usableFromInline
  init() {}

  @usableFromInline
  func attach(_ task: Task<Void, Never>) {
    state.withLock { state in
      if !state.isDone { state.task = task }
    }
  }

  /// The task is done. A failure that does not stay is told to those who wait.
  @usableFromInline
  func complete(tellingFailure failure: (any Error)?) {
    let (waiters, task) = state.withLock { state in
      defer { (state.waiters, state.task) = ([], nil) }
      state.isDone = true
      return (state.waiters, state.task)
    }
    // Released outside of the lock.
    _ = task
    guard let failure else {
      for waiter in waiters { waiter.wake(.retry) }
      return
    }
    for waiter in waiters where waiter.wake(.failedTransiently(failure)) {
      state.withLock { $0.hasToldFailure = true }
    }
  }

  @usableFromInline var isDone: Bool { state.withLock { $0.isDone } }
  @usableFromInline var hasToldFailure: Bool { state.withLock { $0.hasToldFailure } }

  @usableFromInline
  func cancel() { state.withLock { $0.task }?.cancel() }
}

extension Completion: AwaitedPlace {
  @usableFromInline var task: StepTask? { nil }
  @usableFromInline var title: String { "LazyList" }

  @usableFromInline
  func isMissing(_ mark: Published) -> Bool { !isDone }

  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
  ) async -> Wake {
    let waiter = Waiter()
    let (isWaiting, task) = state.withLock { state in
      guard !state.isDone else { return (false, Task<Void, Never>?.none) }
      state.waiters.append(waiter)
      return (true, state.task)
    }
    guard isWaiting else { return .retry }
    defer { state.withLock { $0.waiters.removeAll { $0 === waiter } } }
    task?.raise(to: Task.currentPriority)
    return await waiter.wait(cancellable: cancellable) { task?.raise(to: $0) }
  }
}
