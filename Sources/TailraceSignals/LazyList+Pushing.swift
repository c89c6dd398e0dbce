import TailraceLists
import TailraceSchedulers

// A list that is pushed: as a signal, or as a stream of the standard library.

extension LazyList {
  /// Returns a signal that walks the list on a scheduler, sending one element in each turn.
  ///
  /// ```swift
  /// let signal = orders.signal(on: QueueScheduler.main)
  /// signal.subscribe { event in show(event) }   // on the main queue, order by order
  /// ```
  ///
  /// Work queued on the scheduler between two elements runs between them. Each subscription walks
  /// the list from its head: it gets all elements, and no element is computed twice.
  ///
  /// - Laziness: deferred; nothing is requested before there is a subscription. The walk does not
  ///   wait for the reader: unread elements are kept. ``stream(on:bufferingPolicy:)`` can wait.
  /// - Isolation: if the walk requests first, the list's plain closures run on the scheduler.
  ///   Handlers of `subscribe` also run there.
  /// - Failure: sent as a failure after the elements before it.
  /// - Cancellation: ending the subscription stops the walk before the next element. Nothing else
  ///   does: if a step of the list cancels the task in which the walk runs, the walk continues in
  ///   another.
  ///
  /// Replaces `-signalWithScheduler:` and, on `.background()`, `-signal`.
  @_alwaysEmitIntoClient
  public func signal(on scheduler: any Scheduler) -> Signal<Element, Failure> {
    Signal { (subscriber: Signal<Element, Failure>.Subscriber) -> Void in
      subscriber.walk(self, on: scheduler) { _ in await scheduler.turn() }
    }.deliver(on: scheduler)
  }

  /// A signal that walks the list without waiting for turns. It yields the scheduler to other work
  /// now and then, because a walk that never waits would otherwise occupy it.
  @_alwaysEmitIntoClient
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
  ///   - bufferingPolicy: how far the walk may get ahead of the reader. `.unbounded`: without
  ///     limit. `.bufferingOldest(n)`: by `n` elements; then it waits, and nothing is lost.
  ///     `.bufferingNewest(n)`: without limit, and the reader gets the newest `n`.
  /// - Laziness: deferred; the walk begins at the first read. Other work of the scheduler gets a
  ///   turn now and then, even if the walk never has to wait.
  /// - Isolation: if the walk requests first, the list's plain closures run on the scheduler.
  /// - Cancellation: releasing the stream and its iterators, or cancelling a task that reads it,
  ///   stops the walk.
  @_alwaysEmitIntoClient
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
  /// Returns the elements as an `AsyncThrowingStream` that is filled on a scheduler. It throws the
  /// list's failure.
  ///
  /// - Cancellation: a read that waits throws `CancellationError`. A read that begins in a cancelled
  ///   task gives `nil`, as with every such stream: after a loop over it, call
  ///   `Task.checkCancellation()`. A loop over the list itself, or over ``signal(on:)``, needs no such
  ///   call.
  @_alwaysEmitIntoClient
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
