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
  @inlinable
  nonisolated(nonsending) func ready() async {
    switch outlet {
    case .inbox(let inbox): await inbox.ready()
    case .broadcaster(let broadcaster): await broadcaster.ready()
    }
  }

  /// Sends the elements of a sequence and its ending, with a pause before each.
  ///
  /// - Parameters:
  ///   - completing: false if only a failure is an ending.
  ///   - pause: gets the number of elements sent so far.
  @inlinable
  func walk<Base: AsyncSequence & Sendable>(
    _ sequence: Base, on executor: (any TaskExecutor)? = nil, completing: Bool = true,
    pausing pause: @escaping @Sendable (_ count: Int) async -> Void = { count in
      // A sequence that never waits must not occupy a thread of the pool.
      if count & 255 == 255 { await Task.yield() }
    }
  ) where Base.Element == Element, Base.Failure == Failure {
    // The task takes the sequence: walking must not retain the head of a list.
    let sequence = Owned(Optional(sequence))
    run(on: executor) {
      guard var iterator = sequence.state.take()?.makeAsyncIterator() else { return }
      do throws(Failure) {
        var count = 0
        while true {
          await pause(count)
          // Before evaluation: an element without room must not be evaluated.
          await ready()
          if Task.isCancelled { return }
          guard let element = try await iterator.next(isolation: nil) else { break }
          await send(whenReady: element)
          count &+= 1
        }
        if completing { complete() }
      } catch {
        fail(error)
      }
    }
  }

  /// Sends the events of another subscription, and reports the elements it dropped.
  @inlinable
  func forward(
    _ reading: Reading<Element, Failure>, on scheduler: (any Scheduler)?, completing: Bool = true
  ) {
    reading.start()
    run(on: scheduler) {
      var missing = 0
      while let event = await reading.event(leavingWhenCancelled: true) {
        let dropped = reading.droppedCount
        if dropped > missing { lose(dropped - missing) }
        missing = dropped
        switch event {
        case .next(let element): await send(whenReady: element)
        case .failure(let failure): return fail(failure)
        case .completed: return completing ? complete() : ()
        }
      }
    }
    onTermination { _ in reading.cancel() }
  }
}
