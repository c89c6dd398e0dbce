/// Why a waiter goes on.
@usableFromInline
package enum ResumeReason: Sendable {
  /// Something changed: look again.
  case lookAgain
  /// The waiting task is cancelled.
  case cancelled
  /// The waiting task takes a step that nobody waits for.
  case unwaited
  /// Nothing will come: what would have brought it is gone.
  case released
  /// There is a failure in the place of an element.
  case failed(any Error)
}

/// A task that waits for a cell. It is woken once; later wake-ups have no effect.
@usableFromInline
package final class Waiter: Sendable {
  private enum State: Sendable {
    case new
    case parked(UnsafeContinuation<Void, Never>)
    case woken(ResumeReason)
  }

  private let state = Locked(State.new)

  @usableFromInline
  package init() {}

  package var isWaiting: Bool {
    state.withLock { if case .woken = $0 { false } else { true } }
  }

  // The answer is in the state, not in the continuation: one resumed before its task has suspended
  // passes a value on where the thread sanitizer cannot see it.
  @usableFromInline
  package nonisolated(nonsending) func park() async -> ResumeReason {
    await withUnsafeContinuation { continuation in
      let isEarly = state.withLock { state in
        if case .woken = state { return true }
        state = .parked(continuation)
        return false
      }
      if isEarly { continuation.resume() }
    }
    return state.withLock { state in
      guard case .woken(let reason) = state else {
        preconditionFailure("a waiter went on without having been woken")
      }
      return reason
    }
  }

  /// Returns false if the waiter was woken before.
  @usableFromInline @discardableResult
  package func wake(_ reason: ResumeReason) -> Bool {
    let former = state.withLock { state in
      let former = state
      if case .woken = former {} else { state = .woken(reason) }
      return former
    }
    switch former {
    case .new: return true
    case .parked(let continuation):
      continuation.resume()
      return true
    case .woken: return false
    }
  }
}

extension Waiter {
  /// Waits to be woken; if allowed, a cancellation wakes it.
  package nonisolated(nonsending) func wait(cancellable: Bool) async -> ResumeReason {
    guard cancellable else { return await park() }
    return await withTaskCancellationHandler {
      await park()
    } onCancel: {
      wake(.cancelled)
    }
  }

  /// Waits for a step, which is raised to the priority of the waiting task, now and later.
  package nonisolated(nonsending) func wait(
    cancellable: Bool, raising raise: @Sendable (TaskPriority) -> Void
  ) async -> ResumeReason {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      raise(Task.currentPriority)
      return await wait(cancellable: cancellable)
    }
    return await withTaskPriorityEscalationHandler {
      // Not before the handler is there: no escalation is missed in between.
      raise(Task.currentPriority)
      return await wait(cancellable: cancellable)
    } onPriorityEscalated: { _, priority in
      raise(priority)
    }
  }
}
