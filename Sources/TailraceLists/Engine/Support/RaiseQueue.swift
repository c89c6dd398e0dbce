import TailraceSupport
internal import Dispatch

/// Raises the priorities of tasks in a loop of its own, on no stack of those who ask for it.
///
/// The runtime raises a task under a lock of that task, and calls the task's escalation handlers
/// there. A step that waits for another list has a handler that raises that list's task. Done in
/// place, this would use stack, and hold a lock, for each of a chain of waiting steps; and two
/// chains that cross would wait for each other's locks. The outermost call may be the runtime's, or
/// a user's `escalatePriority`, and leaves no frame on which the rest could be done after its lock
/// is free. So a raise is only noted, and a job that holds no lock makes it.
///
/// No raise is lost: it is added, or the loop found to have ended, under one lock. The loop ends,
/// because those who add note to which priority they have raised a task, and add it again only for
/// a higher one. There is a job, and an allocation, only while there is something to raise.
private enum RaiseQueue {
  private struct Raise: Sendable {
    let task: Task<Void, Never>
    let priority: TaskPriority
  }

  private static let state = Locked(RaiseQueueState<Raise>())

  fileprivate static func add(_ task: Task<Void, Never>, to priority: TaskPriority) {
    guard state.withLock({ $0.add(Raise(task: task, priority: priority)) }) else { return }
    // Not a task: one would wait for a thread among those that it is to overtake.
    DispatchQueue.global(qos: .userInteractive).async {
      while let raise = state.withLock({ $0.next() }) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
          raise.task.escalatePriority(to: raise.priority)
        }
      }
    }
  }
}

/// What is still to be raised, as a value.
struct RaiseQueueState<Raise: Sendable>: Sendable {
  /// `nil` while no loop runs.
  private var waiting: FIFO<Raise>?

  /// True if the caller is to start the loop.
  mutating func add(_ raise: Raise) -> Bool {
    let starts = waiting == nil
    if starts { waiting = FIFO() }
    waiting?.append(raise)
    return starts
  }

  /// For the loop; `nil` ends it.
  mutating func next() -> Raise? {
    if let raise = waiting?.popFirst() { return raise }
    waiting = nil
    return nil
  }
}

extension Task where Success == Void, Failure == Never {
  /// Raises the priority soon, if the platform can. The caller may be an escalation handler.
  ///
  /// - Important: a caller that may be a handler asks for each priority once: chains of waits may
  ///   become cycles for a moment.
  @usableFromInline
  func raise(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    RaiseQueue.add(self, to: priority)
  }
}
