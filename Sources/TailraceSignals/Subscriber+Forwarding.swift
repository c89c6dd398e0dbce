import TailraceLists
import TailraceSchedulers
import TailraceSupport

// Sending into a subscriber from a task of the library.

extension Signal.Subscriber {
  /// Runs a closure in a task that is cancelled when the subscription ends.
  @usableFromInline
  func run(
    on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async -> Void
  ) {
    // Not the executor of a list's steps: a step that subscribes does not wait for what this task
    // awaits.
    let task = Task(executorPreference: executor ?? StepExecutor.preferredHome, operation: body)
    onTermination { _ in task.cancel() }
  }

  /// Waits until there is room, the readers have left, or the task is cancelled.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func ready() async {
    switch outlet {
    case .inbox(let inbox): await inbox.ready()
    case .broadcaster(let broadcaster): await broadcaster.ready()
    }
  }

  /// Runs a part of a walk in a task that is cancelled when the subscription ends, and the next part
  /// in another one, until a part says that it was the last.
  ///
  /// A user's closure that runs in the task, such as a plain step of a list, may cancel "the current
  /// task". The subscription has not ended then, and a `nil` that a cancelled reader gets is not the
  /// end of what it reads: the walk goes on in a task that is not cancelled.
  ///
  /// - Parameter part: returns whether the walk goes on in another task.
  @usableFromInline
  func runParts(
    on executor: (any TaskExecutor)?, _ part: @escaping @Sendable () async -> Bool
  ) {
    let current = WalkTask()
    begin(1, of: part, in: current, on: executor ?? StepExecutor.preferredHome)
    onTermination { _ in current.cancel() }
  }

  private func begin(
    _ number: Int, of part: @escaping @Sendable () async -> Bool, in current: WalkTask,
    on executor: (any TaskExecutor)?
  ) {
    current.runs(
      number,
      in: Task(executorPreference: executor) {
        if await part() { begin(number + 1, of: part, in: current, on: executor) }
      })
  }

  /// Sends the elements of a sequence and its ending, with a pause before each.
  ///
  /// - Parameters:
  ///   - completing: false if only a failure is an ending.
  ///   - pause: gets the number of elements sent so far.
  @_alwaysEmitIntoClient
  func walk<Base: AsyncSequence & Sendable>(
    _ sequence: Base, on executor: (any TaskExecutor)? = nil, completing: Bool = true,
    pausing pause: @escaping @Sendable (_ count: Int) async -> Void = { count in
      // A sequence that never waits must not occupy a thread of the pool.
      if count & 255 == 255 { await Task.yield() }
    }
  ) where Base.Element == Element, Base.Failure == Failure {
    // The task takes the sequence: walking must not retain the head of a list.
    let walk = Owned(Walk(sequence))
    runParts(on: executor) {
      guard var iterator = walk.state.takeIterator() else { return false }
      if let held = walk.state.held.take() { await send(whenReady: held) }
      var count = walk.state.count
      do throws(Failure) {
        while true {
          await pause(count)
          // Before evaluation: an element without room must not be evaluated.
          await ready()
          if Task.isCancelled { break }
          guard let element = try await iterator.next(isolation: nil) else {
            if Task.isCancelled { break }
            if let failure = walk.state.doubted { throw failure }
            if completing { complete() }
            return false
          }
          count &+= 1
          walk.state.doubted = nil
          if Task.isCancelled {
            walk.state.held = .some(element)
            break
          }
          await send(whenReady: element)
        }
      } catch {
        guard Task.isCancelled, !isTerminated, error.mayBeCancellation else {
          fail(error)
          return false
        }
        walk.state.doubted = error
      }
      (walk.state.iterator, walk.state.count) = (iterator, count)
      return !isTerminated
    }
  }

  /// Sends the events of another subscription, and reports the elements it dropped.
  @_alwaysEmitIntoClient
  func forward(
    _ reading: Reading<Element, Failure>, on scheduler: (any Scheduler)?, completing: Bool = true
  ) {
    reading.start()
    let progress = Owned((missing: 0, held: Signal<Element, Failure>.Event?.none))
    runParts(on: scheduler) {
      // Leaves when the subscription ends, which ends the reading, not when its task is cancelled.
      while true {
        var next = progress.state.held.take()
        if next == nil { next = await reading.event(leavingWhenCancelled: false) }
        guard let event = next else { return false }
        if Task.isCancelled {
          progress.state.held = event
          return !isTerminated
        }
        let dropped = reading.droppedCount
        if dropped > progress.state.missing { lose(dropped - progress.state.missing) }
        progress.state.missing = dropped
        switch event {
        case .next(let element): await send(whenReady: element)
        case .failure(let failure):
          fail(failure)
          return false
        case .completed:
          if completing { complete() }
          return false
        }
      }
    }
    onTermination { _ in reading.cancel() }
  }
}

/// How far a walk has come.
@usableFromInline
struct Walk<Base: AsyncSequence> where Base.Element: Sendable {
  @usableFromInline var sequence: Base?
  @usableFromInline var iterator: Base.AsyncIterator?
  @usableFromInline var count = 0
  /// An element that was computed when the task had been cancelled, and has not been sent.
  @usableFromInline var held: Base.Element?
  /// A failure that may only say that the task was cancelled. It counts if nothing follows.
  @usableFromInline var doubted: Base.Failure?

  @_alwaysEmitIntoClient
  init(_ sequence: Base) { self.sequence = sequence }

  @_alwaysEmitIntoClient
  mutating func takeIterator() -> Base.AsyncIterator? {
    iterator.take() ?? sequence.take()?.makeAsyncIterator()
  }
}

extension Error {
  /// Whether a sequence may have thrown this only because the task that reads it was cancelled.
  @usableFromInline
  var mayBeCancellation: Bool { self is CancellationError || self is any CancellableFailure }
}

/// The task in which a walk goes on.
final class WalkTask: Sendable {
  private enum State {
    case walking(part: Int, Task<Void, Never>?)
    case cancelled
  }

  private let state = Locked(State.walking(part: 0, nil))

  /// A part runs in a task. The part after it may have said so before.
  func runs(_ part: Int, in task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      guard case .walking(let last, _) = state else { return true }
      if part > last { state = .walking(part: part, task) }
      return false
    }
    if isCancelled { task.cancel() }
  }

  func cancel() {
    let former = state.withLock { state in
      defer { state = .cancelled }
      return state
    }
    if case .walking(_, let task) = former { task?.cancel() }
  }
}
