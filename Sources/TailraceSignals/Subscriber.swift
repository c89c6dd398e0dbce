import TailraceLists

extension Signal {
  /// An event of a signal: an element, or its ending.
  ///
  /// A `switch` needs no `failure` case where `Failure` is `Never`.
  public enum Event: Sendable {
    /// An element was sent.
    case next(Element)
    /// The signal failed; nothing follows.
    case failure(Failure)
    /// The signal ended; nothing follows.
    case completed
  }

  /// The fate of a sent element.
  public enum SendResult: Sendable {
    /// It will be read. This many more fit before one is dropped.
    case enqueued(remaining: Int)
    /// This element will not be read. It is the sent one, or an older one that made room for it,
    /// or the sent one if a hot signal has no subscriptions left.
    case dropped(Element)
    /// Not sent: the signal has ended or was cancelled.
    case terminated
  }

  /// Why sending has no effect any more.
  public enum Termination: Sendable {
    /// The readers have left.
    case cancelled
    /// The end was sent, or the subscriber was released without one.
    case completed
    /// A failure was sent, or the reader fell behind by more than its policy allows.
    case failed(Failure)

    init(_ failure: Failure?) {
      if let failure { self = .failed(failure) } else { self = .completed }
    }
  }

  /// Sends into a signal, from any task or thread, also from synchronous code.
  ///
  /// Sending never blocks. Elements sent after an ending are dropped. When the last copy of a
  /// subscriber is released without an ending, the signal completes: nothing more can be sent, and
  /// readers must not wait forever.
  ///
  /// Replaces `id<RACSubscriber>`.
  public struct Subscriber: Sendable {
    /// An inbox is called directly: a call through a protocol would not be specialised
    /// ("Signals").
    @usableFromInline
    enum Outlet: Sendable {
      case inbox(Inbox<Element, Failure>)
      case broadcaster(Broadcaster<Element, Failure>)

      func end(with failure: Failure?) {
        switch self {
        case .inbox(let inbox): inbox.end(with: failure)
        case .broadcaster(let broadcaster): broadcaster.end(with: failure)
        }
      }
    }

    /// Shared by all copies of the subscriber, and by nothing else.
    @usableFromInline
    final class Life: Sendable {
      private let outlet: Outlet

      init(_ outlet: Outlet) { self.outlet = outlet }

      deinit { outlet.end(with: nil) }
    }

    /// Stored beside the life, which holds it too: sending then follows one reference less.
    @usableFromInline let outlet: Outlet
    @usableFromInline let life: Life

    init(_ outlet: Outlet) {
      self.outlet = outlet
      life = Life(outlet)
    }

    /// Sends an element.
    ///
    /// Replaces `-sendNext:`.
    @_alwaysEmitIntoClient @discardableResult
    public func send(_ element: Element) -> SendResult {
      switch outlet {
      case .inbox(let inbox): inbox.send(element)
      case .broadcaster(let broadcaster): broadcaster.send(element)
      }
    }

    /// Sends an element, waiting until there is room for it.
    ///
    /// ```swift
    /// let lines = Signal<String, any Error>(bufferingPolicy: .bufferingOldest(100)) {
    ///   subscriber in
    ///   for try await line in socket.lines { await subscriber.send(whenReady: line) }
    /// }
    /// ```
    ///
    /// A source that can wait loses nothing, and memory is bounded: the source stays as far ahead
    /// of the slowest reader as the policy allows. It does not wait if the policy keeps everything
    /// or drops older elements. Once it has to wait, it waits until a quarter of the buffer is free:
    /// a wake-up costs as much as many elements.
    ///
    /// Senders that wait are let through one by one, in the order in which they came. ``send(_:)``,
    /// which does not wait, takes what room there is.
    ///
    /// - Cancellation: in a cancelled task it does not wait, and may return `.dropped`. That element is
    ///   counted as every dropped one is (``Signal/BufferingPolicy``).
    @_alwaysEmitIntoClient @discardableResult
    public nonisolated(nonsending) func send(whenReady element: Element) async -> SendResult {
      switch outlet {
      case .inbox(let inbox): await inbox.send(whenReady: element)
      case .broadcaster(let broadcaster): await broadcaster.send(whenReady: element)
      }
    }

    /// Sends the end.
    ///
    /// ```swift
    /// let (presses, button) = Signal<Int, Never>.makeSignal()
    /// button.complete()
    /// button.send(1)
    /// await presses.array()   // []; what is sent after the end is dropped
    /// ```
    ///
    /// Replaces `-sendCompleted`.
    public func complete() { outlet.end(with: nil) }

    /// Sends a failure, which is also an ending.
    ///
    /// ```swift
    /// let (downloads, subscriber) = Signal<Int, any Error>.makeSignal()
    /// subscriber.send(1)
    /// subscriber.fail(Offline())
    /// try await downloads.array()   // throws: Offline()
    /// ```
    ///
    /// Replaces `-sendError:`.
    public func fail(_ failure: Failure) { outlet.end(with: failure) }

    /// Tells the readers that elements are missing here.
    @_alwaysEmitIntoClient
    func lose(_ count: Int) {
      switch outlet {
      case .inbox(let inbox): inbox.lose(count)
      case .broadcaster(let broadcaster): broadcaster.lose(count)
      }
    }

    /// Whether sending has no effect: the readers have left, or an ending was sent.
    public var isTerminated: Bool {
      switch outlet {
      case .inbox(let inbox): inbox.isOver
      case .broadcaster(let broadcaster): broadcaster.isOver
      }
    }

    /// Runs a closure when the subscription is cancelled, completes or fails, as a disposable is
    /// disposed of in each case.
    ///
    /// <!-- not run: what it ends is not shown -->
    /// ```swift
    /// subscriber.onTermination { how in
    ///   if case .cancelled = how { print("nobody wants to know") }
    ///   updates.stop()
    /// }
    /// ```
    ///
    /// It runs once, in the task or on the thread that ends the subscription, or at once if that
    /// has already ended. Of several handlers, the one registered last runs first. A handler that
    /// holds the subscriber keeps it from being released.
    ///
    /// Replaces the `RACDisposable` that a signal's block returns.
    public func onTermination(_ handler: @escaping @Sendable (_ how: Termination) -> Void) {
      switch outlet {
      case .inbox(let inbox): inbox.onTermination(handler)
      case .broadcaster(let broadcaster): broadcaster.onTermination(handler)
      }
    }
  }
}

extension Signal.Event: Equatable where Element: Equatable, Failure: Equatable {}
extension Signal.Event: Hashable where Element: Hashable, Failure: Hashable {}
extension Signal.SendResult: Equatable where Element: Equatable {}
extension Signal.Termination: Equatable where Failure: Equatable {}
