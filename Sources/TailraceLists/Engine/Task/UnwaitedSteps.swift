// Steps that nobody waits for, of lists that cancel them.

import TailraceSupport

extension AsyncSteps {
  /// Runs a step in a child of the task, which is cancelled as soon as nobody waits for it.
  ///
  /// - Returns: `nil` if nobody waited, whatever the cancelled step has given.
  @usableFromInline
  nonisolated(nonsending) func whileAwaited<Result: Sendable>(
    _ step: @escaping @Sendable () async -> Result
  ) async -> Result? {
    let waiter = Waiter()
    guard waiting.withLock({ $0.stepWaits(with: waiter) }) else { return nil }
    return await withTaskGroup { group in
      group.addTask {
        let result = await step()
        waiter.wake(.lookAgain)
        return result
      }
      let isAwaited = if case .lookAgain = await waiter.park() { true } else { false }
      waiting.withLock { $0.stepGoesOn() }
      if !isAwaited { group.cancelAll() }
      let result = await group.next()
      return isAwaited ? result : nil
    }
  }

  /// A reader begins an attempt, and will wait for it if the step suspends.
  @usableFromInline
  func comes(_ attempt: Int) { waiting.withLock { $0.comes(attempt) } }

  /// The reader that has begun an attempt does not wait for it.
  @usableFromInline
  func departs(_ attempt: Int) {
    waiting.withLock { $0.departs(attempt) }?.wake(.unwaited)
  }
}

extension AsyncSteps {
  @usableFromInline
  func departs(_ cell: MissingCell) { if cell.isBegun { departs(cell.mark.count) } }

  @usableFromInline
  func drops(_ cell: MissingCell) {
    guard cell.isBegun else { return }
    waiting.withLock { $0.drops(cell.mark.count) }
  }
}
