import Tailrace

/// One task at a time, first come, first served. Taking a turn that is free takes a lock and no
/// more.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var line: [Bell] = []
  }

  private let state = Locked(State())

  nonisolated(nonsending) func take() async {
    let bell: Bell? = state.withLock { state in
      guard state.isTaken else {
        state.isTaken = true
        return nil
      }
      let bell = Bell()
      state.line.append(bell)
      return bell
    }
    await bell?.wait()
  }

  func give() {
    let next: Bell? = state.withLock { state in
      if state.line.isEmpty {
        state.isTaken = false
        return nil
      }
      return state.line.removeFirst()
    }
    next?.ring()
  }
}

/// Something that happens once, and a task that waits for it.
final class Bell: Sendable {
  private enum State: Sendable {
    case silent
    case awaited(CheckedContinuation<Void, Never>)
    case rung
  }

  private let state = Locked(State.silent)

  func ring() {
    let former = state.withLock { state in
      defer { state = .rung }
      return state
    }
    if case .awaited(let continuation) = former { continuation.resume() }
  }

  nonisolated(nonsending) func wait() async {
    await withCheckedContinuation { continuation in
      let hasRung = state.withLock { state in
        if case .rung = state { return true }
        state = .awaited(continuation)
        return false
      }
      if hasRung { continuation.resume() }
    }
    // The lock says to the thread sanitizer what the continuation does not, if it was resumed early.
    state.withLock { _ in }
  }
}
