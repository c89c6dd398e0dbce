// Sources that take their time: each runs in a task of its own.

extension Signal {
  /// Creates a signal whose source awaits.
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
  /// - Laziness: deferred. The source begins in `subscribe`, and at the first `next()` of an iterator,
  ///   anew for each subscription.
  /// - Isolation: a task of its own, on the executor that the task which subscribes prefers.
  /// - Cancellation: the task is cancelled when nobody is interested any more.
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
  /// Signal(notifications).map(\.title).deliver(on: QueueScheduler.main).subscribe { show($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - sequence: where the elements come from; each subscription makes an iterator of it.
  ///   - bufferingPolicy: how far the source may get ahead of the reader. `.unbounded`: as far as the
  ///     sequence allows. `.bufferingOldest(n)`: `n` elements; then it waits for the reader, and
  ///     nothing is lost. `.bufferingNewest(n)`: as far as the sequence allows, and the reader gets
  ///     the newest `n`.
  /// - Laziness: deferred. Each subscription iterates the sequence, from its first read on.
  /// - Isolation: a task of its own, on the executor that the task which subscribes prefers.
  /// - Failure: sent as a failure after the elements before it.
  // Not of a generic type: a closure could be one, as far as the compiler knows, and a mistake in the
  // closure of another initialiser would be told as one in this call.
  @inlinable
  public init(
    _ sequence: any AsyncSequence<Element, Failure> & Sendable,
    bufferingPolicy: BufferingPolicy = .unbounded
  ) {
    self.init(walking: sequence, bufferingPolicy: bufferingPolicy)
  }

  @inlinable
  init<Base: AsyncSequence & Sendable>(
    walking sequence: Base, bufferingPolicy: BufferingPolicy
  ) where Base.Element == Element, Base.Failure == Failure {
    self.init(bufferingPolicy: bufferingPolicy) { (subscriber: Subscriber) -> Void in
      subscriber.walk(sequence)
    }
  }
}
