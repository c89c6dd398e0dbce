extension Signal {
  /// Returns a signal that subscribes to this one once, for all who read it.
  ///
  /// ```swift
  /// let prices = feed.shared(replaying: 1)
  /// prices.subscribe { event in show(event) }    // subscribes to the feed
  /// for await price in prices { show(price) }    // begins with the last price, hears the same feed
  /// ```
  /// ![A late reader begins with the last element.](marbles-signal-shared)
  ///
  /// The first reader subscribes. Each later one begins with the last elements, and goes on with what
  /// is sent from then on: nothing is missing in between, and nothing comes twice. When the last
  /// reader has left, the subscription ends, and the past is forgotten: the next reader is a first one
  /// again. When the signal has ended, it stays so: later readers get the last elements and the ending.
  ///
  /// Readers of a ``makeSignal(bufferingPolicy:)`` share without this.
  ///
  /// - Parameters:
  ///   - count: how many elements a late reader begins with. 0 or more.
  ///   - duration: how long the subscription goes on without a reader, for one who may come. Nothing is
  ///     waited for if nobody can come, because the signal has been released.
  ///   - scheduler: whose clock tells when that is over.
  ///   - bufferingPolicy: what is kept for a reader that does not read as fast as is sent; at least
  ///     `count` elements. A source that uses ``Subscriber/send(whenReady:)`` waits for the slowest
  ///     reader where this says `.bufferingOldest`.
  ///   - file: the caller's, for the words of a trap.
  ///   - line: the caller's, too.
  /// - Laziness: deferred. A reader is subscribed when its iterator is made; this signal is subscribed
  ///   to in `subscribe`, and at the first `next()` of an iterator.
  /// - Isolation: the source runs as that of this signal does, in the task of the first reader. What
  ///   operators derive is read by a task of its own, which runs their closures once for all readers.
  /// - Cancellation: ends a reader; the subscription ends with the last one.
  /// - Complexity: memory for `count` elements, beside what waits for slow readers.
  ///
  /// Replaces `-publish`, `-multicast:`, `-autoconnect`, `-replayLast` and `-replayLazily`.
  public func shared(
    replaying count: Int = 0, keptFor duration: Duration = .zero,
    scheduler: any Scheduler = ImmediateScheduler.shared,
    bufferingPolicy: BufferingPolicy = .unbounded, file: StaticString = #fileID, line: UInt = #line
  ) -> Signal {
    require(count >= 0, "shared(replaying:) takes 0 or more, not \(count)", file: file, line: line)
    let entrance = Entrance { [feed] in
      Broadcaster(bufferingPolicy, replaying: count, source: feed, keptFor: (duration, scheduler))
    }
    return Signal(on: self.scheduler, opening: { .inbox(entrance.subscribe()) })
  }
}
