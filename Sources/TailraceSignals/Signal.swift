import TailraceLists
import TailraceSupport
import TailraceSchedulers

/// A push-driven sequence: its source sends elements at any time, and perhaps an ending.
///
/// A signal is *cold*: each subscription runs its source. ``makeSignal(bufferingPolicy:)``
/// makes a *hot* one, which has no source to run: any code sends into it.
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
/// Sent elements wait in the subscription until they are read: all, or as many as the
/// ``BufferingPolicy`` allows. A failure is a separate event. Every way of reading throws it, and
/// it is never dropped.
///
/// - Isolation: the source runs in the task that subscribes; a loop gets elements in its own
///   isolation.
/// - Cancellation: cancelling the reading task, leaving the loop, or releasing the last copy of an
///   iterator ends the subscription and runs the handlers given to
///   ``Subscriber/onTermination(_:)``. A fold, such as `reduce`, is a question: if the failure cannot
///   say that it was cancelled, it waits for the true answer; ``throwingCancellation`` can say it.
///
/// Replaces `RACSignal`; a hot one replaces `RACSubject`.
public struct Signal<Element: Sendable, Failure: Error>: Sendable {
  /// Begins a subscription for a reader.
  @usableFromInline let open: @Sendable () -> Reading<Element, Failure>
  /// Begins a subscription whose events go to a subscriber.
  @usableFromInline let feed: @Sendable (Subscriber) -> Void
  /// Where the handlers of `subscribe` run, if specified.
  @usableFromInline let scheduler: (any Scheduler)?

  /// A signal that reads another signal or a broadcaster.
  @_alwaysEmitIntoClient
  init(
    on scheduler: (any Scheduler)? = nil,
    opening open: @escaping @Sendable () -> Reading<Element, Failure>
  ) {
    self.open = open
    feed = { $0.forward(open(), on: scheduler) }
    self.scheduler = scheduler
  }

  /// Creates a signal that runs its source for each subscription.
  ///
  /// ```swift
  /// let values = Signal<Int, Never> { subscriber in
  ///   let observation = model.observe { subscriber.send($0) }
  ///   subscriber.onTermination { _ in observation.stop() }
  /// }
  /// ```
  ///
  /// The signal completes when the source has released the subscriber.
  ///
  /// - Laziness: deferred. The source runs in `subscribe`, or at the first `next()` of an
  ///   iterator.
  /// - Isolation: it runs synchronously in the task that subscribes. After it has returned, it may
  ///   continue sending from anywhere.
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

  /// Returns a hot signal, and the subscriber that sends into it.
  ///
  /// ```swift
  /// let (presses, button) = Signal<Int, Never>.makeSignal()
  /// button.send(1)
  /// async let seen = presses.array()   // [1, 2]
  /// button.send(2)
  /// button.complete()
  /// ```
  ///
  /// Each element goes to all current subscriptions. Elements sent before the first subscription
  /// wait for it. Every other subscription gets the elements sent after it began (in `subscribe`,
  /// or when an iterator is made). A subscription made after the ending gets the ending at once.
  /// The signal completes when the last copy of the subscriber is released.
  ///
  /// The subscriber is cancelled when the signal is released and has no subscriptions.
  ///
  /// - Parameter bufferingPolicy: which elements are kept for the first subscription, and for each
  ///   subscription whose reader is slower than the sender. `send` returns what happened to the
  ///   element.
  ///
  /// Replaces `RACSubject`; with `memoized()`, `RACReplaySubject`.
  public static func makeSignal(
    bufferingPolicy: BufferingPolicy = .unbounded
  ) -> (signal: Signal, subscriber: Subscriber) {
    make(Broadcaster(bufferingPolicy, replaying: 0, waits: true))
  }

  /// Returns a hot signal that replays the last elements to each new subscription, and the
  /// subscriber that sends into it.
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
  ///   - count: how many of the last elements a subscription begins with, also after the ending. 0
  ///     or more.
  ///   - bufferingPolicy: which elements are kept for each subscription whose reader is slower
  ///     than the sender; at least `count`.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Complexity: memory for `count` elements, plus those that wait for slow readers.
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
  /// Returns an iterator, which is a subscription. A hot signal delivers to it from now on; a cold
  /// signal's source runs at the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(open()) }

  /// Reads a subscription. Copies read the same one, which ends when the last copy is released.
  ///
  /// Several tasks of an actor may wait at once, each with a copy: an element goes to one of them,
  /// and the ending to all.
  ///
  /// - Failure: thrown at its place, and by every later `next()`.
  /// - Cancellation: in a cancelled task `next()` ends the subscription, for all copies. It throws
  ///   `CancellationError` where `Failure` is `any Error`, `Failure.cancelled` where it is a
  ///   ``CancellableFailure``, and otherwise returns `nil`.
  public struct Iterator: _FoldIteratorProtocol {
    @usableFromInline let reading: Reading<Element, Failure>

    /// How many elements the subscription's policy has dropped before the element read last.
    ///
    /// After the ending it counts all of them. Where it has grown since the element before, elements
    /// are missing.
    public var droppedCount: Int { reading.droppedCount }

    init(_ reading: Reading<Element, Failure>) { self.reading = reading }

    /// Returns the next element, or `nil` once it has ended, staying in the caller's isolation.
    @_alwaysEmitIntoClient
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if !Task.isCancelled, let element = reading.pop() { return element }
      switch await reading.event(leavingWhenCancelled: true) {
      case .next(let element): return element
      case .failure(let failure): throw failure
      case .completed: return nil
      case nil:
        guard let cancellation = Failure.cancellation else { return nil }
        throw cancellation
      }
    }

    @_alwaysEmitIntoClient
    public mutating func _nextForFold(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      let canSayCancelled = Failure.cancellation != nil
      if !canSayCancelled || !Task.isCancelled, let element = reading.pop() { return element }
      switch await reading.event(leavingWhenCancelled: canSayCancelled) {
      case .next(let element): return element
      case .failure(let failure): throw failure
      case .completed: return nil
      case nil:
        guard let cancellation = Failure.cancellation else {
          preconditionFailure("a subscription that nobody could leave was left")
        }
        throw cancellation
      }
    }
  }
}

extension Signal: _FoldableSequence {}

@available(*, unavailable)
extension Signal.Iterator: Sendable {}
