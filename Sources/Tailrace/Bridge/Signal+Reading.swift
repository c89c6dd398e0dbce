extension Signal {
  /// Runs a handler for each event, one after the other, in a task.
  ///
  /// <!-- not run: nobody presses -->
  /// ```swift
  /// let task = presses.subscribe { event in
  ///   switch event {
  ///   case .next(let press): print(press)
  ///   case .completed: print("done")
  ///   }
  /// }
  /// task.cancel()   // disposes: the handler runs no more, the source is told
  /// ```
  ///
  /// The subscription exists when this returns: what a hot signal sends next is seen, and the source
  /// of a cold one has run. The task ends with the signal, or when it is cancelled.
  ///
  /// - Isolation: the handler runs in the task, on the scheduler if the signal has one
  ///   (``deliver(on:)``). It may send into the signal: that is handled after it.
  /// - Cancellation: ends the subscription at once, also while the handler runs. It is not called
  ///   again, not even for the ending.
  ///
  /// Replaces `-subscribeNext:error:completed:`, and the task its `RACDisposable`.
  @inlinable @discardableResult
  public func subscribe(
    _ handler: @escaping @Sendable (_ event: Event) async -> Void
  ) -> Task<Void, Never> {
    let reading = open()
    reading.start()
    return Task(executorPreference: scheduler) {
      await withTaskCancellationHandler {
        while let event = await reading.event(leavingWhenCancelled: true) {
          await handler(event)
          if event.isEnding { return }
        }
      } onCancel: {
        reading.cancel()
      }
    }
  }

  /// Returns all elements, when the signal has completed.
  ///
  /// ```swift
  /// await ticks.array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: exhaustive; of a signal that has no end, it never returns.
  /// - Failure: thrown; the elements before it are lost.
  /// - Cancellation: ends the subscription and throws `CancellationError` where `Failure` is `any
  ///   Error`; otherwise it waits for the true answer, as `Task.value` does.
  ///
  /// Replaces `-collect` and `-toArray`, and blocks nobody.
  @inlinable
  public func array() async throws(Failure) -> [Element] {
    let reading = open()
    let canSayCancelled = CancellationError() is Failure
    var elements: [Element] = []
    while true {
      switch await reading.event(leavingWhenCancelled: canSayCancelled) {
      case .next(let element): elements.append(element)
      case .completed: return elements
      case .failure(let failure): throw failure
      case nil:
        guard let cancellation = CancellationError() as? Failure else {
          preconditionFailure("a subscription that nobody could leave was left")
        }
        throw cancellation
      }
    }
  }

  /// Returns the elements as a list, which remembers them for all its readers.
  ///
  /// ```swift
  /// let history = presses.memoized()
  /// async let all = history.array()
  /// async let first = history.head()   // the same subscription, also if it asks an hour later
  /// ```
  /// ![A late reader gets all that has been, at once.](marbles-signal-memoized)
  ///
  /// - Laziness: stepwise. The first demand subscribes, once. What is sent from then on is kept for
  ///   the list, however slowly that is read.
  /// - Failure: remembered at its position.
  /// - Cancellation: ends a reader. The subscription ends when the last reference to the rest of the
  ///   list is gone.
  ///
  /// Replaces `-sequence`, `-replayLazily` and `RACMulticastConnection`.
  @inlinable
  public func memoized() -> LazyList<Element, Failure> {
    let source = Owned((open: Optional(open), reading: Reading<Element, Failure>?.none))
    return LazyList(inTask: { steps in
      await steps.take {
        if let open = source.state.open.take() { source.state.reading = open() }
        switch await source.state.reading?.event(leavingWhenCancelled: true) {
        case .next(let element): return .element(element)
        case .failure(let failure): return .nothing(.failed(failure))
        case .completed: return .nothing(.end)
        case nil: return .nothing(.cancelled)
        }
      }
    })
  }
}

extension Signal.Event {
  @inlinable
  var isEnding: Bool { if case .next = self { false } else { true } }
}
