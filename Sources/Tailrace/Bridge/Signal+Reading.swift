extension Signal {
  /// Runs a handler for each event, one after another, in a task.
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
  /// The subscription exists when this method returns: it gets what a hot signal sends next, and a
  /// cold signal's source has run. The task ends with the signal, or when it is cancelled.
  ///
  /// - Isolation: the handler runs in the task, on the scheduler if the signal has one
  ///   (``deliver(on:)``). It may send into the signal: that event is handled after it returns.
  /// - Cancellation: ends the subscription at once, even while the handler runs. The handler is
  ///   not called again, not even for the ending.
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

  /// Returns all elements once the signal has completed.
  ///
  /// ```swift
  /// await ticks.array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: exhaustive; it never returns if the signal never ends.
  /// - Failure: thrown; the elements before it are lost.
  /// - Cancellation: ends the subscription and throws `CancellationError` where `Failure` is `any
  ///   Error`; otherwise waits for the complete result, as `Task.value` does.
  ///
  /// Replaces `-collect` and `-toArray`, without blocking.
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

  /// Returns the elements as a list that memoizes them for all its readers.
  ///
  /// ```swift
  /// let history = presses.memoized()
  /// async let all = history.array()
  /// async let first = history.head()   // the same subscription, also if it asks an hour later
  /// ```
  /// ![A late reader gets all that has been, at once.](marbles-signal-memoized)
  ///
  /// - Laziness: stepwise. The first demand subscribes, once. Elements sent after that are kept
  ///   for the list, however slowly it is read.
  /// - Failure: remembered at its position.
  /// - Cancellation: ends one reader. The subscription ends when the last reference to the rest of
  ///   the list is released.
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
