internal import Dispatch
import Synchronization
import TailraceSupport

/// Ends the process when a step of an exploration does not end: it blocks its thread, or loops and never
/// suspends, and nothing else can stop it.
///
/// It looks ten times within its patience, and counts how often it has seen the same step. So the time that
/// the process was stopped as a whole counts once.
final class StepWatch: Sendable {
  /// The number of the step that runs; 0 for none.
  private let running = Atomic(0)
  private let tape = Locked(ExplorationTape([]))
  private let patience: Duration
  private let catchesProcess: Bool
  // A queue of its own has a thread, also when all threads of the pool are blocked.
  private let queue = DispatchQueue(label: "explore: the watch")
  // Guard: only the driving thread uses it, one at a time.
  private nonisolated(unsafe) var steps = 0

  init(_ options: ExplorationOptions) {
    (patience, catchesProcess) = (options.stepPatience, options.catcher != nil)
    look(seen: 0, times: 0)
  }

  /// A run begins.
  func watches(_ tape: ExplorationTape) { self.tape.withLock { $0 = tape } }

  /// A step begins, and the one before has ended.
  func begins() {
    steps += 1
    running.store(steps, ordering: .relaxed)
  }

  /// No step runs.
  func rests() { running.store(0, ordering: .relaxed) }

  private func look(seen: Int, times: Int) {
    queue.asyncAfter(deadline: .now() + patience / 10 / .seconds(1)) { [weak self] in
      guard let self else { return }
      let now = running.load(ordering: .relaxed)
      let times = now != 0 && now == seen ? times + 1 : 0
      if times >= 10 { end() }
      look(seen: now, times: times)
    }
  }

  private func end() -> Never {
    let replay = tape.withLock { $0 }.replay(catchingProcess: catchesProcess)
    fatalError(
      "explore: a step has not ended for \(patience): it blocks its thread, or it loops and never suspends. "
        + "Replay it in a debugger: \(replay)")
  }
}
