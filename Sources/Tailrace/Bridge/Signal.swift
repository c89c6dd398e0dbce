/// A push-driven sequence: its source sends elements whenever it likes, and then perhaps an ending.
///
/// A signal is *cold*: each subscription runs its source anew. ``makeSignal(bufferingPolicy:)`` gives
/// a hot one, whose source is not run but sends from wherever it is.
///
/// ```swift
/// let ticks = Signal<Int, Never> { subscriber in
///   for tick in 1...3 { subscriber.send(tick) }
///   subscriber.complete()
/// }
/// for await tick in ticks { print(tick) }
/// // 1
/// // 2
/// // 3
/// print(await ticks.array())   // [1, 2, 3]; the closure ran a second time
/// ```
///
/// What is sent waits in the subscription until it is read: everything, or as much as the
/// ``BufferingPolicy`` says. A failure is an event of its own, is thrown by every kind of reading, and
/// is never dropped.
///
/// - Isolation: the source runs in the task that subscribes; elements reach a loop in its own
///   isolation.
/// - Cancellation: cancelling the task that reads, leaving the loop, and releasing the last copy of
///   an iterator all end the subscription, and run what the source gave to
///   ``Subscriber/onTermination(_:)``.
///
/// Replaces `RACSignal`; a hot one replaces `RACSubject`.
public struct Signal<Element: Sendable, Failure: Error>: Sendable {
  /// Begins a subscription for somebody who reads it.
  @usableFromInline let open: @Sendable () -> Reading<Element, Failure>
  /// Begins a subscription whose events go to a subscriber.
  @usableFromInline let feed: @Sendable (Subscriber) -> Void
  /// Where the handlers of `subscribe` run, if that was said.
  @usableFromInline let scheduler: (any Scheduler)?

  /// A signal that is read from another one, or from a broadcaster.
  @inlinable
  init(
    on scheduler: (any Scheduler)? = nil,
    opening open: @escaping @Sendable () -> Reading<Element, Failure>
  ) {
    self.open = open
    feed = { $0.forward(open(), on: scheduler) }
    self.scheduler = scheduler
  }

  /// Creates a signal whose source is run anew for each subscription.
  ///
  /// ```swift
  /// let values = Signal<Int, Never> { subscriber in
  ///   let observation = model.observe { subscriber.send($0) }
  ///   subscriber.onTermination { _ in observation.stop() }
  /// }
  /// ```
  ///
  /// The signal completes when the source has let go of the subscriber.
  ///
  /// - Laziness: deferred. The source runs in `subscribe`, and at the first `next()` of an iterator.
  /// - Isolation: it runs synchronously in the task that subscribes. It may send on from anywhere
  ///   after it has returned.
  ///
  /// Replaces `+createSignal:`.
  public init(
    bufferingPolicy: BufferingPolicy = .unbounded,
    _ source: @escaping @Sendable (_ subscriber: Subscriber) -> Void
  ) {
    open = { .inbox(InboxReader(Inbox(bufferingPolicy)) { source(Subscriber(.inbox($0))) }) }
    feed = source
    scheduler = nil
  }

  /// Returns a hot signal, and what to send into it with.
  ///
  /// ```swift
  /// let (presses, button) = Signal<Int, Never>.makeSignal()
  /// button.send(1)
  /// async let seen = presses.array()   // [1, 2]
  /// button.send(2)
  /// button.complete()
  /// ```
  ///
  /// Each element goes to all who are subscribed. What is sent before there has been a subscription
  /// waits for the first one. The others get what is sent from then on that they subscribe (in
  /// `subscribe`, or when an iterator is made), and those who come after the ending get the ending
  /// at once. It completes when the last copy of the subscriber is released.
  ///
  /// The subscriber is cancelled when the signal has been released and nobody is subscribed.
  ///
  /// - Parameter bufferingPolicy: what is kept for the first subscription, and for each subscription
  ///   that does not read as fast as is sent. `send` says what became of the element.
  ///
  /// Replaces `RACSubject`; with `memoized()`, `RACReplaySubject`.
  public static func makeSignal(
    bufferingPolicy: BufferingPolicy = .unbounded
  ) -> (signal: Signal, subscriber: Subscriber) {
    make(Broadcaster(bufferingPolicy, replaying: 0, waits: true))
  }

  /// Returns a hot signal that gives everyone who subscribes what was sent last, and what to send
  /// into it with.
  ///
  /// ```swift
  /// let (readings, sensor) = Signal<Int, Never>.makeSignal(replaying: 2)
  /// for reading in 1...3 { sensor.send(reading) }
  /// async let seen = readings.array()   // [2, 3, 4]
  /// sensor.send(4)
  /// sensor.complete()
  /// print(await readings.array())       // [3, 4]
  /// ```
  ///
  /// - Parameters:
  ///   - count: how many elements a subscription begins with: the last ones, also after the ending. 0
  ///     or more.
  ///   - bufferingPolicy: what is kept for each subscription that does not read as fast as is sent; at
  ///     least `count` elements.
  ///   - file: the caller's, for the words of a trap.
  ///   - line: the caller's, too.
  /// - Complexity: memory for `count` elements, beside what waits for slow readers.
  ///
  /// Replaces `+replaySubjectWithCapacity:` and `RACBehaviorSubject`.
  public static func makeSignal(
    replaying count: Int, bufferingPolicy: BufferingPolicy = .unbounded,
    file: StaticString = #fileID, line: UInt = #line
  ) -> (signal: Signal, subscriber: Subscriber) {
    require(
      count >= 0, "makeSignal(replaying:) takes 0 or more, not \(count)", file: file, line: line)
    return make(Broadcaster(bufferingPolicy, replaying: count, waits: false))
  }

  private static func make(
    _ broadcaster: Broadcaster<Element, Failure>
  ) -> (signal: Signal, subscriber: Subscriber) {
    let entrance = Entrance { broadcaster }
    return (
      Signal(opening: { .inbox(entrance.subscribe()) }), Subscriber(.broadcaster(broadcaster))
    )
  }
}

extension Signal: AsyncSequence {
  /// Returns an iterator, which is a subscription. A hot signal is listened to from now on; the
  /// source of a cold one runs at the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(open()) }

  /// Reads a subscription. Its copies read the same subscription, which ends with the last of them.
  ///
  /// - Failure: thrown at its place, and again by every `next()` after it.
  /// - Cancellation: in a cancelled task `next()` ends the subscription. It throws
  ///   `CancellationError` where `Failure` is `any Error`, and returns `nil` otherwise.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let reading: Reading<Element, Failure>

    /// How many elements the subscription's policy has dropped, up to what was read last.
    ///
    /// After the ending it counts all of them. See ``Signal/arrivals`` for a loop that is told where
    /// elements are missing.
    public var droppedCount: Int { reading.droppedCount }

    init(_ reading: Reading<Element, Failure>) { self.reading = reading }

    /// Returns the next element, `nil` at the end and ever after.
    @inlinable
    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: nil)
    }

    /// Returns the next element, `nil` at the end and ever after, without leaving the caller's
    /// isolation.
    @inlinable
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if !Task.isCancelled, let element = reading.pop() { return element }
      switch await reading.event(leavingWhenCancelled: true) {
      case .next(let element): return element
      case .failure(let failure): throw failure
      case .completed: return nil
      case nil:
        guard let cancellation = CancellationError() as? Failure else { return nil }
        throw cancellation
      }
    }
  }
}

@available(*, unavailable)
extension Signal.Iterator: Sendable {}
