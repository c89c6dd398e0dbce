import TailraceLists

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
  /// - Parameters:
  ///   - others: the other lists. Lists in an array are merged by `LazyList.merging(_:)` of the array.
  ///   - bufferingPolicy: how far the walks may get ahead of the reader, together.
  ///     `.bufferingOldest(n)`: by `n` elements, and by one that each walk has at hand; then they
  ///     wait, and nothing is lost. `.unbounded`: as far as the lists go. `.bufferingNewest(n)`:
  ///     also, and the reader gets the newest `n`.
  /// - Laziness: deferred. Each subscription walks the lists, from its first read on, ahead of the
  ///   reader by up to 64 elements, or as `bufferingPolicy` says.
  /// - Isolation: each list is walked in a separate task, on the executor that the subscribing
  ///   task prefers.
  /// - Failure: the first failure ends the signal and the walks.
  ///
  /// Replaces `+merge:` and `-merge:`.
  @_alwaysEmitIntoClient
  public func merging(
    _ others: LazyList...,
    bufferingPolicy: Signal<Element, Failure>.BufferingPolicy = .bufferingOldest(64)
  ) -> Signal<Element, Failure> {
    Self.merging([self] + others, bufferingPolicy: bufferingPolicy)
  }

  /// Returns the elements of a collection of lists, each as soon as it is available.
  ///
  /// ```swift
  /// let logs = [accesses, errors]
  /// for await entry in LazyList.merging(logs) { show(entry) }
  /// ```
  ///
  /// As `list.merging(others)`. A collection without lists gives a
  /// signal that completes at once.
  ///
  /// - Laziness: deferred. Each subscription walks the lists, from its first read on, ahead of the
  ///   reader by up to 64 elements, or as `bufferingPolicy` says.
  /// - Isolation: each list is walked in a separate task, on the executor that the subscribing
  ///   task prefers.
  /// - Failure: the first failure ends the signal and the walks.
  /// - Complexity: grows with the number of lists; they are not nested.
  ///
  /// Replaces `+merge:`.
  @_alwaysEmitIntoClient
  public static func merging(
    _ lists: some Collection<LazyList>,
    bufferingPolicy: Signal<Element, Failure>.BufferingPolicy = .bufferingOldest(64)
  ) -> Signal<Element, Failure> {
    let lists = Array(lists)
    return Signal(bufferingPolicy: bufferingPolicy) {
      (subscriber: Signal<Element, Failure>.Subscriber) -> Void in
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
  /// It completes when all signals have completed, and fails with the first failure. Signals in an
  /// array are merged by `Signal.merging(_:)` of the array.
  ///
  /// Replaces `+merge:` and `-merge:`.
  @_alwaysEmitIntoClient
  public func merging(_ others: Signal...) -> Signal { .merging([self] + others) }

  /// Returns the elements of a collection of signals, each as soon as it is sent.
  ///
  /// ```swift
  /// let input = Signal.merging([presses, keys, gestures])
  /// ```
  ///
  /// It completes when all signals have completed, at once if there are none, and fails with the
  /// first failure.
  ///
  /// - Complexity: grows with the number of signals. Merging them one after the other
  ///   (`reduce { $0.merging($1) }`) nests them instead: an element then passes as many tasks.
  ///
  /// Replaces `+merge:`.
  @_alwaysEmitIntoClient
  public static func merging(_ signals: some Collection<Signal>) -> Signal {
    let signals = Array(signals)
    return Signal { (subscriber: Subscriber) -> Void in
      for signal in signals {
        subscriber.forward(signal.open(), on: signal.scheduler, completing: false)
      }
    }
  }
}
