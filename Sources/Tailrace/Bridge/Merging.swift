// Several sources as one signal.

extension LazyList {
  /// Returns the elements of several lists, each as soon as it is available.
  ///
  /// ```swift
  /// for await entry in accesses.merging(errors) { show(entry) }
  /// ```
  /// ![The elements of both, when they are there.](marbles-lists-merging)
  ///
  /// The elements of each list keep their order. The signal completes when all lists have ended.
  ///
  /// - Laziness: deferred. Each subscription walks the lists, from its first read on, without
  ///   waiting for the reader.
  /// - Isolation: each list is walked in a separate task, on the executor that the subscribing
  ///   task prefers.
  /// - Failure: the first failure ends the signal and the walks.
  ///
  /// Replaces `+merge:` and `-merge:`.
  @inlinable
  public func merging(_ others: LazyList...) -> Signal<Element, Failure> {
    let lists = [self] + others
    return Signal { (subscriber: Signal<Element, Failure>.Subscriber) -> Void in
      // The last one to release the subscriber completes it.
      for list in lists { subscriber.walk(list, completing: false) }
    }
  }
}

extension Signal {
  /// Returns the elements of several signals, each as soon as it is sent.
  ///
  /// ```swift
  /// let input = presses.merging(keys, gestures)
  /// ```
  /// ![The elements of both, when they are there.](marbles-signal-merging)
  ///
  /// It completes when all signals have completed, and fails with the first failure.
  ///
  /// Replaces `+merge:` and `-merge:`.
  @inlinable
  public func merging(_ others: Signal...) -> Signal {
    let signals = [self] + others
    return Signal { (subscriber: Subscriber) -> Void in
      for signal in signals {
        subscriber.forward(signal.open(), on: signal.scheduler, completing: false)
      }
    }
  }
}
