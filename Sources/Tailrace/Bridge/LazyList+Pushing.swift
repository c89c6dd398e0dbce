// A list that is pushed: as a signal, or as one of the standard library's streams.

extension LazyList {
  /// Returns a signal that walks the list on a scheduler, and sends one element in each turn of it.
  ///
  /// ```swift
  /// let signal = orders.signal(on: QueueScheduler.main)
  /// signal.subscribe { event in show(event) }   // on the main queue, order by order
  /// ```
  ///
  /// Work that is queued on the scheduler between two elements runs between them. Each subscription
  /// walks from this list's head, so that each gets everything, and what is evaluated once is not
  /// evaluated again.
  ///
  /// - Laziness: deferred; nothing is demanded before there is a subscription. Then the walk does not
  ///   wait for the reader: what is not read yet is kept. ``stream(on:bufferingPolicy:)`` can wait.
  /// - Isolation: plain closures of the list run on the scheduler when the walk demands first.
  ///   Handlers of `subscribe` run there, too.
  /// - Failure: sent as a failure after the elements before it.
  /// - Cancellation: ending the subscription stops the walk before the next element.
  ///
  /// Replaces `-signalWithScheduler:` and, on `.background()`, `-signal`.
  @inlinable
  public func signal(on scheduler: any Scheduler) -> Signal<Element, Failure> {
    Signal { (subscriber: Signal<Element, Failure>.Subscriber) -> Void in
      subscriber.walk(self, on: scheduler) { _ in await scheduler.turn() }
    }.deliver(on: scheduler)
  }

  /// A signal that walks the list without waiting for a turn, and leaves the scheduler to others now
  /// and then: a walk that never has to wait would have it for itself.
  @inlinable
  func walk(
    on scheduler: any Scheduler, _ policy: Signal<Element, Failure>.BufferingPolicy
  ) -> Signal<Element, Failure> {
    Signal(bufferingPolicy: policy) { (subscriber: Signal<Element, Failure>.Subscriber) -> Void in
      subscriber.walk(self, on: scheduler) { count in
        if count % 64 == 63 { await scheduler.turn() }
      }
    }
  }
}

extension LazyList where Failure == Never {
  /// Returns the elements as an `AsyncStream` that is filled on a scheduler.
  ///
  /// ```swift
  /// for await order in orders.stream(on: QueueScheduler.background()) { show(order) }
  /// ```
  ///
  /// - Parameters:
  ///   - scheduler: where the walk runs.
  ///   - bufferingPolicy: how far the walk may get ahead of the reader. `.unbounded`: as far as it
  ///     likes. `.bufferingOldest(n)`: `n` elements; then it waits for the reader, and nothing is
  ///     lost. `.bufferingNewest(n)`: as far as it likes, and the reader gets the newest `n`.
  /// - Laziness: deferred; the walk begins at the first read. Other work of the scheduler has its turn
  ///   now and then, also while the walk has nothing to wait for.
  /// - Isolation: plain closures of the list run on the scheduler when the walk demands first.
  /// - Cancellation: releasing the stream and its iterators stops the walk, and so does cancelling a
  ///   task that reads it.
  @inlinable
  public func stream(
    on scheduler: any Scheduler,
    bufferingPolicy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Element> {
    let policy: Signal<Element, Failure>.BufferingPolicy =
      switch bufferingPolicy {
      case .unbounded: .unbounded
      case .bufferingOldest(let bound): .bufferingOldest(bound)
      case .bufferingNewest(let bound): .bufferingNewest(bound)
      @unknown default: .unbounded
      }
    return walk(on: scheduler, policy).stream()
  }
}

extension LazyList where Failure == any Error {
  /// Returns the elements as an `AsyncThrowingStream` that is filled on a scheduler. It throws what
  /// the list fails with. In a cancelled task it ends, as every stream of that type does.
  @inlinable
  public func stream(
    on scheduler: any Scheduler,
    bufferingPolicy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy =
      .unbounded
  ) -> AsyncThrowingStream<Element, any Error> {
    let policy: Signal<Element, Failure>.BufferingPolicy =
      switch bufferingPolicy {
      case .unbounded: .unbounded
      case .bufferingOldest(let bound): .bufferingOldest(bound)
      case .bufferingNewest(let bound): .bufferingNewest(bound)
      @unknown default: .unbounded
      }
    return walk(on: scheduler, policy).stream()
  }
}
