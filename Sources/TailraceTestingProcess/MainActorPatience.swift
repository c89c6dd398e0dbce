import CProcessExecutors
internal import Dispatch
import Synchronization

/// Says so when an exploration does not get the main actor: a process that blocks its main thread for good
/// cannot explore.
final class MainActorPatience: Sendable {
  private let isOver = Atomic(false)

  init(_ patience: Duration = .seconds(10)) {
    let queue = DispatchQueue(label: "explore: waits for the main actor")
    queue.asyncAfter(deadline: .now() + patience / .seconds(1)) { [weak self] in
      guard let self, !isOver.load(ordering: .relaxed) else { return }
      tailrace_say(
        "explore(.wholeProcess) has waited for the main actor for \(patience): something blocks the main "
          + "thread, or the main actor has too much to do")
    }
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}
