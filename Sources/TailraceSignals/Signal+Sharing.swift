import TailraceLists
import TailraceSupport
import TailraceSchedulers

extension Signal {
  /// Returns a signal that subscribes to this one once for all its readers.
  ///
  /// ```swift
  /// let prices = feed.shared(replaying: 1)
  /// prices.subscribe { event in show(event) }    // subscribes to the feed
  /// for await price in prices { show(price) }   // begins with the last price
  /// ```
  /// ![A late reader begins with the last element.](marbles-signal-shared)
  ///
  /// The first reader subscribes. Each later reader begins with the last elements and continues
  /// with those sent after them, without gap or repetition. When the last reader leaves, the
  /// subscription ends and the past is forgotten: the next reader subscribes again. After the
  /// signal has ended, later readers get the last elements and the ending, and the source is
  /// released.
  ///
  /// Readers of a ``makeSignal(bufferingPolicy:)`` signal share without this.
  ///
  /// - Parameters:
  ///   - count: how many elements a late reader begins with. 0 or more.
  ///   - duration: how long the subscription continues without a reader. It does not wait once the
  ///     signal has been released, because nothing can subscribe then.
  ///   - scheduler: its clock measures the duration.
  ///   - bufferingPolicy: which elements are kept for a reader slower than the sender; at least
  ///     `count`. With `.bufferingOldest`, a source that uses ``Subscriber/send(whenReady:)``
  ///     waits for the slowest reader.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: deferred. Making an iterator subscribes a reader. The subscription to this signal
  ///   begins in `subscribe`, or at the first `next()` of an iterator.
  /// - Isolation: the source runs as this signal's source does, in the task of the first reader. A
  ///   signal derived by operators is read in a separate task, which runs their closures once for
  ///   all readers.
  /// - Failure: an ending like another: later readers get it, too, and nothing is run again. To
  ///   connect again, share it again: <doc:Bridge#Endings>.
  /// - Cancellation: ends one reader; the subscription ends with the last.
  /// - Complexity: memory for `count` elements, plus those that wait for slow readers.
  ///
  /// Replaces `-publish`, `-multicast:`, `-autoconnect`, `-replayLast` and `-replayLazily`.
  public func shared(
    replaying count: Int = 0, keptFor duration: Duration = .zero,
    scheduler: any Scheduler = ImmediateScheduler.shared,
    bufferingPolicy: BufferingPolicy = .unbounded, file: StaticString = #fileID, line: UInt = #line
  ) -> Signal {
    require(count >= 0, "shared(replaying:) takes 0 or more, not \(count)", file: file, line: line)
    let source = SharedSource(feed)
    let entrance = Entrance {
      Broadcaster(
        bufferingPolicy, replaying: count, source: { source.run($0) },
        keptFor: (duration, scheduler))
    }
    return Signal(on: self.scheduler, opening: { .inbox(entrance.subscribe()) })
  }
}

/// The source of a shared signal. It is released when the signal has ended: it then never runs
/// again.
private final class SharedSource<Element: Sendable, Failure: Error>: Sendable {
  typealias Source = @Sendable (Signal<Element, Failure>.Subscriber) -> Void

  private let source: Locked<Source?>

  init(_ source: @escaping Source) { self.source = Locked(source) }

  func run(_ subscriber: Signal<Element, Failure>.Subscriber) {
    guard let source = source.withLock({ $0 }) else { return }
    subscriber.onTermination { [self] how in
      switch how {
      // The next reader is a first one.
      case .cancelled: return
      case .completed, .failed: release()
      }
    }
    source(subscriber)
  }

  private func release() {
    let former = source.withLock { $0.take() }
    withExtendedLifetime(former) {}
  }
}
