// Steps that nobody waits for: what lists that cancel them do, and what stages pass on.
//
// A list's task that waits says with what (`stepWaits`). When the last reader that waits for its step
// leaves, that is woken with the absence `unwaited`: the stage of a list stops waiting for its source,
// where it may have been the last reader; and a source that is told to cancel unwaited steps cancels
// its own. In both the step has changed nothing, and the next demand takes it again.

import TailraceSupport

extension ListTask {
  /// Runs a step in a child of the list's task, which is cancelled as soon as nobody waits for it.
  ///
  /// - Returns: `nil` if nobody waited, whatever the cancelled step has given.
  @usableFromInline
  nonisolated(nonsending) func whileAwaited<Result: Sendable>(
    _ step: @escaping @Sendable () async -> Result
  ) async -> Result? {
    let waiter = Waiter()
    guard executor.waits(with: waiter) else { return nil }
    return await withTaskGroup { group in
      group.addTask {
        let result = await step()
        waiter.wake(.lookAgain)
        return result
      }
      let isAwaited = if case .lookAgain = await waiter.park() { true } else { false }
      executor.goesOn()
      if !isAwaited { group.cancelAll() }
      let result = await group.next()
      return isAwaited ? result : nil
    }
  }
}

extension StepExecutor {
  /// The list's task is about to wait. False if nobody waits for its step. For the task itself.
  nonisolated func waits(with waiter: Waiter) -> Bool {
    // One that works ahead of its readers has no list, and goes on without them.
    list?.stepWaits(with: waiter, isDriven: isDriven) ?? true
  }

  /// The list's task does not wait any more.
  nonisolated func goesOn() { list?.stepGoesOn() }
}

extension Evaluator {
  @usableFromInline
  nonisolated func stepWaits(with waiter: Waiter, isDriven: Bool) -> Bool {
    queue.state.withLock { $0.stepWaits(with: waiter, isRun: isDriven) }
  }

  @usableFromInline
  nonisolated func stepGoesOn() { _ = waiting.load()?.state.withLock { $0.stepGoesOn() } }

  /// A reader begins an attempt, and will wait for it if the step suspends.
  @usableFromInline
  nonisolated func runs(attempt: UInt32) { queue.state.withLock { $0.runs(attempt) } }

  /// The reader that has begun an attempt does not wait for it.
  @usableFromInline
  nonisolated func departs(attempt: UInt32) {
    waiting.load()?.state.withLock { $0.departs(attempt) }?.wake(.unwaited)
  }
}
