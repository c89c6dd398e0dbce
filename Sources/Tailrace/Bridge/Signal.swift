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
/// for await tick in ticks { print(tick) }   // 1, 2, 3
/// print(await ticks.array())                // [1, 2, 3]; the closure ran a second time
/// ```
///
/// What is sent waits in the subscription until it is read: everything, or as much as the
/// ``SignalBufferingPolicy`` says. A failure is an event of its own, is thrown by every kind of
/// reading, and is never dropped.
///
/// - Isolation: the source runs in the task that subscribes; elements reach a loop in its own
///   isolation.
/// - Cancellation: cancelling the task that reads, leaving the loop, and releasing the last copy of
///   an iterator all end the subscription, and run what the source gave to
///   ``Subscriber/onCancel(_:)``.
///
/// Replaces `RACSignal`; a hot one replaces `RACSubject`.
public struct Signal<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline let open: @Sendable () -> Reading<Element, Failure>
  /// Where the handlers of `subscribe` run, if that was said.
  @usableFromInline let scheduler: (any Scheduler)?

  init(
    on scheduler: (any Scheduler)? = nil,
    opening open: @escaping @Sendable () -> Reading<Element, Failure>
  ) {
    self.open = open
    self.scheduler = scheduler
  }

  /// A signal whose source is run anew for each subscription.
  ///
  /// ```swift
  /// let values = Signal<Int, Never> { subscriber in
  ///   let observation = model.observe { subscriber.send($0) }
  ///   subscriber.onCancel { observation.stop() }
  /// }
  /// ```
  ///
  /// - Laziness: deferred. The source runs in `subscribe`, and at the first `next()` of an iterator.
  /// - Isolation: it runs synchronously in the task that subscribes. It may send on from anywhere
  ///   after it has returned.
  ///
  /// Replaces `+createSignal:`.
  public init(
    bufferingPolicy: SignalBufferingPolicy = .unbounded,
    _ source: @escaping @Sendable (_ subscriber: Subscriber) -> Void
  ) {
    self.init(opening: { .inbox(InboxReader(Inbox(bufferingPolicy), source)) })
  }

  /// A hot signal, and what to send into it with.
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
  /// at once.
  ///
  /// The subscriber is cancelled when the signal has been released and nobody is subscribed.
  ///
  /// - Parameter bufferingPolicy: what is kept for the first subscription, and for each subscription
  ///   that does not read as fast as is sent. `send` says what became of the element.
  ///
  /// Replaces `RACSubject`; with `memoized()`, `RACReplaySubject`.
  public static func makeSignal(
    bufferingPolicy: SignalBufferingPolicy = .unbounded
  ) -> (signal: Signal, subscriber: Subscriber) {
    let hub = Hub<Element, Failure>(bufferingPolicy)
    let entrance = HubEntrance(hub)
    return (Signal(opening: { .inbox(entrance.hub.subscribe()) }), Subscriber(.hub(hub)))
  }
}

extension Signal: AsyncSequence {
  /// A subscription. A hot signal is listened to from now on; the source of a cold one runs at the
  /// first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(open()) }

  /// Reads a subscription. Its copies read the same subscription, which ends with the last of them.
  ///
  /// - Failure: thrown at its place, and again by every `next()` after it.
  /// - Cancellation: in a cancelled task `next()` ends the subscription. It throws
  ///   `CancellationError` where `Failure` is `any Error`, and returns `nil` otherwise.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let reading: Reading<Element, Failure>

    init(_ reading: Reading<Element, Failure>) { self.reading = reading }

    /// The next element, `nil` at the end and ever after.
    @inlinable
    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: nil)
    }

    /// The next element, `nil` at the end and ever after, without leaving the caller's isolation.
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
