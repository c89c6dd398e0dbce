// Several sources as one signal.

extension LazyList {
  /// Returns the elements of several lists, each as soon as it is there.
  ///
  /// ```swift
  /// for await entry in accesses.merging(errors) { show(entry) }
  /// ```
  /// ![The elements of both, when they are there.](marbles-lists-merging)
  ///
  /// The elements of one list keep their order. The signal completes when all have ended.
  ///
  /// - Laziness: deferred. Each subscription walks the lists, from its first read on, and does not
  ///   wait for the reader.
  /// - Isolation: each list is walked in a task of its own, on the executor that the task which
  ///   subscribes prefers.
  /// - Failure: the first one ends the signal, and the walks.
  ///
  /// Replaces `+merge:` and `-merge:`.
  @inlinable
  public func merging(_ others: LazyList...) -> Signal<Element, Failure> {
    let lists = [self] + others
    return Signal { (subscriber: Signal<Element, Failure>.Subscriber) -> Void in
      // The last of them to let go of the subscriber completes it.
      for list in lists { subscriber.walk(list, completing: false) }
    }
  }
}

extension Signal {
  /// Returns the elements of several signals, each as soon as it is there.
  ///
  /// ```swift
  /// let input = presses.merging(keys, gestures)
  /// ```
  /// ![The elements of both, when they are there.](marbles-signal-merging)
  ///
  /// It completes when all have, and fails when the first one does.
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
