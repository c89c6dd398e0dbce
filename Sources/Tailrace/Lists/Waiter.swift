/// A task that waits for a step in flight. It is woken once; later wake-ups say nothing.
@usableFromInline
final class Waiter: Sendable {
  private enum State {
    case new
    case parked(UnsafeContinuation<Void, Never>)
    case woken(Wake)
  }

  private let state = Locked(State.new)
  @usableFromInline let priority = Task.currentPriority
  /// The flight that waits, `nil` for an ordinary reader. Only flights can be part of a cycle.
  @usableFromInline let flight: Flight?

  // Guard: `Flight.waits`. May touch it: `Flight.wait` and `Flight.stopWaiting`.
  nonisolated(unsafe) var isOver = false

  @usableFromInline
  init(flight: Flight?) { self.flight = flight }

  // The answer is in the state, not in the continuation: one that is resumed before its task has
  // suspended hands a value over where the thread sanitizer cannot see it.
  @usableFromInline
  nonisolated(nonsending) func park() async -> Wake {
    await withUnsafeContinuation { continuation in
      let isEarly = state.withLock { state in
        if case .woken = state { return true }
        state = .parked(continuation)
        return false
      }
      if isEarly { continuation.resume() }
    }
    return state.withLock { state in
      guard case .woken(let wake) = state else {
        preconditionFailure("a waiter went on without having been woken")
      }
      return wake
    }
  }

  @usableFromInline
  func wake(_ wake: Wake) {
    let continuation: UnsafeContinuation<Void, Never>? = state.withLock { state in
      switch state {
      case .new:
        state = .woken(wake)
        return nil
      case .parked(let continuation):
        state = .woken(wake)
        return continuation
      case .woken: return nil
      }
    }
    continuation?.resume()
  }
}
