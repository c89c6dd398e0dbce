import TailraceLists
import TailraceSupport

/// One task at a time, in the order of arrival. Taking a free turn costs one lock.
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

/// An event that happens once, and a task that waits for it.
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
    // If the continuation was resumed early, only the lock shows the order to the thread
    // sanitizer.
    state.withLock { _ in }
  }
}
