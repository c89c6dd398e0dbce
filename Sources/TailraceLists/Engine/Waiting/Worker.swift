import Synchronization

/// A task that computes elements, in the wait graph.
@usableFromInline
package protocol Worker: AnyObject, Sendable {
  /// Its list's name in errors.
  var title: Title { get }
  /// The position of the element being computed.
  var position: Int { get }
  /// Whether what it waits for is only looked at: in a cycle its wait ends, and no other.
  var yieldsToCycles: Bool { get }
  /// The number of the list whose look-ahead has caused the work, directly or through lists that it demands;
  /// `.max` if none has.
  var cause: Int { get }
}

extension Worker {
  @usableFromInline package var yieldsToCycles: Bool { false }
  @usableFromInline package var cause: Int { .max }
}

/// Records in a task-local which step the running code belongs to.
///
/// Children of a task read its task-locals in place, whatever executor they prefer; tasks that it
/// merely starts have copies, and may live longer. So the address of the value tells
/// whose step waits. The token does not retain its worker: copies of it would retain the list.
// Guard: the task that takes the steps retains the worker until it calls `end`.
@usableFromInline
package final class WorkerToken: @unchecked Sendable {
  private unowned(unsafe) let worker: any Worker
  /// Written before the first step. An executor may start a task while it enqueues the one that
  /// takes the steps: that task has a copy, and may compare before.
  private let address = Atomic<UnsafeRawPointer?>(nil)
  /// The step is over, and its address may be that of a copy now.
  private let isOver = Atomic(false)

  @usableFromInline
  init(_ worker: any Worker) { self.worker = worker }

  @usableFromInline static let current = TaskLocal<WorkerToken?>(wrappedValue: nil)

  private static var currentAddress: UnsafeRawPointer? { current.addressOfValue }

  /// The step that the running code belongs to: code of its task, or of a child.
  package static var runningWorker: (any Worker)? {
    // Mostly there is none.
    guard let currentAddress, let token = current.get(),
      token.address.load(ordering: .relaxed) == currentAddress,
      !token.isOver.load(ordering: .acquiring)
    else { return nil }
    return token.worker
  }

  /// Makes the task that takes a worker's steps. It calls `begin` before them, and `end` after.
  // The task inherits the token as it is made. To set it in the task would switch executors three
  // more times.
  @inlinable
  static func making<Made>(_ worker: any Worker, _ make: (WorkerToken) -> Made) -> Made {
    let token = WorkerToken(worker)
    return current.withValue(token) { make(token) }
  }

  /// The running task is the one whose steps it marks.
  @usableFromInline
  func begin() { address.store(Self.currentAddress, ordering: .relaxed) }

  /// The steps are over. The task retains the worker until then, since the token does not.
  @usableFromInline
  func end(of worker: any Worker) {
    withExtendedLifetime(worker) { isOver.store(true, ordering: .releasing) }
  }
}

// The context of the running code.
extension StepExecutor {
  /// The list whose step the running code belongs to: its task, or a child of that.
  @usableFromInline
  static var current: StepExecutor? {
    WorkerToken.runningWorker as? StepExecutor
  }

  /// The executor on which tasks of the running code may go on after a suspension.
  @usableFromInline
  package static var preferredHome: (any TaskExecutor)? {
    guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else {
      return nil
    }
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
  }

  /// Whether the running step only looks at what it waits for.
  package static func yieldToCycles(_ isOn: Bool) {
    current?.yields.store(isOn, ordering: .relaxed)
  }

  @usableFromInline package nonisolated var yieldsToCycles: Bool { yields.load(ordering: .relaxed) }

  /// Starts a task there.
  // A task told to prefer no executor remembers that, and asks for it at each switch.
  @usableFromInline
  package static func atHome(_ run: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    guard let home = preferredHome else { return Task(operation: run) }
    return Task(executorPreference: home, operation: run)
  }
}
