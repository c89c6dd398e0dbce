import TailraceLists

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
  ///   (``deliver(on:)``), or on its actor if it is isolated to one. In code of the main actor it is
  ///   isolated to that, as the closure of a `Task` is; a handler that is to run elsewhere says so:
  ///   `{ @concurrent event in … }`. It may send into the signal: that event is handled after it
  ///   returns.
  /// - Cancellation: ends the subscription at once, even while the handler runs, and even if the
  ///   scheduler has had no turn for it yet. The source is told in a job of its own, which the task
  ///   waits for before it ends, and not inside of `cancel()`. The handler is not called again, not
  ///   even for the ending: on the actor or the scheduler where it runs, no call begins after
  ///   `cancel()` has returned. A task that has not begun to run, on a signal without a scheduler or
  ///   on a platform without immediate tasks, ends the subscription as soon as it begins.
  ///
  /// Replaces `-subscribeNext:error:completed:`, and the task its `RACDisposable`.
  @_alwaysEmitIntoClient @discardableResult
  public func subscribe(
    @_inheritActorContext
    _ handler: @escaping @Sendable @isolated(any) (_ event: Event) async -> Void
  ) -> Task<Void, Never> {
    let reading = open()
    reading.start()
    let leaving = LeavingJob<Element, Failure>()
    guard let scheduler, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return Task(executorPreference: self.scheduler) {
        await withTaskCancellationHandler {
          await reading.handle(with: handler)
        } onCancel: {
          leaving.start(reading)
        }
        await leaving.end()
      }
    }
    // The task begins here, and goes to the scheduler from here: a cancellation finds its handler
    // even before the scheduler has given the task a turn.
    return Task.immediate {
      await withTaskCancellationHandler {
        await withTaskExecutorPreference(scheduler) { @concurrent () async -> Void in
          await reading.handle(with: handler)
        }
      } onCancel: {
        leaving.start(reading)
      }
      await leaving.end()
    }
  }

  /// Returns all elements once the signal has completed.
  ///
  /// ```swift
  /// await ticks.array()   // [1, 2, 3]
  /// ```
  ///
  /// Elements that the signal's ``BufferingPolicy`` dropped are missing without a sign: an
  /// iterator counts them (``Iterator/droppedCount``).
  ///
  /// - Laziness: exhaustive; it never returns if the signal never ends.
  /// - Failure: thrown; the elements before it are lost.
  /// - Cancellation: ends the subscription and throws `CancellationError` where `Failure` is `any
  ///   Error`, `Failure.cancelled` where it is a ``CancellableFailure``; otherwise waits for the
  ///   complete result, as `Task.value` does.
  ///
  /// Replaces `-collect` and `-toArray`, without blocking.
  @_alwaysEmitIntoClient
  public func array() async throws(Failure) -> [Element] {
    var elements: [Element] = []
    var iterator = makeAsyncIterator()
    while let element = try await iterator._nextForFold(isolation: nil) { elements.append(element) }
    return elements
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
  /// The list keeps what it has read. Sent elements that are not read yet wait in the
  /// subscription, as the signal's ``BufferingPolicy`` says: `.unbounded` keeps everything, and a
  /// bounded policy drops elements of a list that is read too slowly. The list does not show where.
  ///
  /// - Laziness: stepwise. The first request subscribes, once.
  /// - Failure: kept at its position.
  /// - Cancellation: ends one reader. The subscription ends when the last reference to the rest of
  ///   the list is released.
  ///
  /// Replaces `-sequence`, `-replayLazily` and `RACMulticastConnection`.
  @_alwaysEmitIntoClient
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

extension Reading {
  /// Runs a handler for each event, up to the ending, or until the task is cancelled.
  @_alwaysEmitIntoClient
  func handle(with handler: @Sendable @isolated(any) (Event) async -> Void) async {
    while let event = await event(leavingWhenCancelled: true) {
      await Self.call(handler, with: event, in: handler.isolation)
      if event.isEnding { return }
    }
  }

  /// Runs a handler in its isolation, unless the task was cancelled on the way there: code on the
  /// actor may cancel it while it waits for the actor.
  @_alwaysEmitIntoClient
  static func call(
    _ handler: @Sendable @isolated(any) (Event) async -> Void, with event: Event,
    in isolation: isolated (any Actor)?
  ) async {
    if !Task.isCancelled { await handler(event) }
  }
}

extension Signal.Event {
  @_alwaysEmitIntoClient
  var isEnding: Bool { if case .next = self { false } else { true } }
}
