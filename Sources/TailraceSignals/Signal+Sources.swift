import TailraceLists

// Asynchronous sources: each runs in its own task.

extension Signal {
  /// Creates a signal with an asynchronous source.
  ///
  /// ```swift
  /// let prices = Signal<Price, any Error> { subscriber async throws in
  ///   let socket = try await Socket(to: exchange)
  ///   for try await price in socket.prices { subscriber.send(price) }
  /// }
  /// ```
  ///
  /// When the source returns, the signal completes; when it throws, the signal fails.
  ///
  /// - Laziness: deferred. The source begins in `subscribe`, or at the first `next()` of an
  ///   iterator, once for each subscription.
  /// - Isolation: a separate task, on the executor that the subscribing task prefers.
  /// - Cancellation: the task is cancelled when the subscription ends.
  public init(
    bufferingPolicy: BufferingPolicy = .unbounded,
    _ source: @escaping @Sendable (_ subscriber: Subscriber) async throws(Failure) -> Void
  ) {
    self.init(bufferingPolicy: bufferingPolicy) { (subscriber: Subscriber) -> Void in
      subscriber.run {
        do throws(Failure) {
          try await source(subscriber)
          subscriber.complete()
        } catch {
          subscriber.fail(error)
        }
      }
    }
  }

  /// Creates a signal that sends the elements of an `AsyncSequence`.
  ///
  /// ```swift
  /// Signal(notifications).map(\.title).deliver(on: QueueScheduler.main)
  ///   .subscribe { show($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - sequence: the source of the elements; each subscription makes an iterator of it.
  ///   - bufferingPolicy: how far the source may get ahead of the reader. `.unbounded`: as far as
  ///     the sequence allows. `.bufferingOldest(n)`: by `n` elements; then it waits, and nothing
  ///     is lost. `.bufferingNewest(n)`: as far as the sequence allows, and the reader gets the
  ///     newest `n`.
  /// - Laziness: deferred. Each subscription iterates the sequence, from its first read on.
  /// - Isolation: a separate task, on the executor that the subscribing task prefers.
  /// - Failure: sent as a failure after the elements before it.
  // Not generic: the compiler would consider a closure as the argument, and would report a mistake
  // in the closure of another initialiser as one in this call.
  @_alwaysEmitIntoClient
  public init(
    _ sequence: any AsyncSequence<Element, Failure> & Sendable,
    bufferingPolicy: BufferingPolicy = .unbounded
  ) {
    self.init(walking: sequence, bufferingPolicy: bufferingPolicy)
  }

  @_alwaysEmitIntoClient
  init<Base: AsyncSequence & Sendable>(
    walking sequence: Base, bufferingPolicy: BufferingPolicy
  ) where Base.Element == Element, Base.Failure == Failure {
    self.init(bufferingPolicy: bufferingPolicy) { (subscriber: Subscriber) -> Void in
      subscriber.walk(sequence)
    }
  }
}
