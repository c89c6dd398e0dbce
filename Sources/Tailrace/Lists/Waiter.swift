/// A task that waits for a step in flight. It is woken once; later wake-ups say nothing.
@usableFromInline
final class Waiter: Sendable {
  private enum State {
    case new
    case parked(UnsafeContinuation<Wake, Never>)
    case woken(Wake)
    case done
  }

  private let state = Locked(State.new)
  @usableFromInline let priority = Task.currentPriority
  /// The flight that waits, `nil` for an ordinary reader. Only flights can be part of a cycle.
  @usableFromInline let flight: Flight?

  // Guard: `Flight.waits`. May touch it: `Flight.wait` and `Flight.stopWaiting`.
  nonisolated(unsafe) var isOver = false

  @usableFromInline
  init(flight: Flight?) { self.flight = flight }

  @usableFromInline
  nonisolated(nonsending) func park() async -> Wake {
    await withUnsafeContinuation { continuation in
      let early: Wake? = state.withLock { state in
        if case .woken(let wake) = state {
          state = .done
          return wake
        }
        state = .parked(continuation)
        return nil
      }
      if let early { continuation.resume(returning: early) }
    }
  }

  @usableFromInline
  func wake(_ wake: Wake) {
    let continuation: UnsafeContinuation<Wake, Never>? = state.withLock { state in
      switch state {
      case .new:
        state = .woken(wake)
        return nil
      case .parked(let continuation):
        state = .done
        return continuation
      case .woken, .done: return nil
      }
    }
    continuation?.resume(returning: wake)
  }
}
