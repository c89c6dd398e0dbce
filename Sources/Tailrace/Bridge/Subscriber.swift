extension Signal {
  /// Something that happens in a signal: an element, or its ending.
  ///
  /// Where `Failure` is `Never` a `switch` needs no case for it.
  public enum Event: Sendable {
    /// An element was sent.
    case next(Element)
    /// It has failed; nothing comes after this.
    case failure(Failure)
    /// It has ended; nothing comes after this.
    case completed
  }

  /// What became of an element that was sent.
  public enum SendResult: Sendable {
    /// It will be read. There is room for that many more, before something is dropped.
    case enqueued(remaining: Int)
    /// This element will not be read: the one that was sent, or an older one that made room for it,
    /// or the one sent if a hot signal has no subscriptions any more.
    case dropped(Element)
    /// Nobody is interested any more: it has ended, or was cancelled.
    case terminated
  }

  /// Why sending is in vain.
  public enum Termination: Sendable {
    /// Nobody reads any more.
    case cancelled
    /// The end was sent, or the subscriber was released without one.
    case completed
    /// A failure was sent, or the reader fell behind by more than its policy allows.
    case failed(Failure)

    init(_ failure: Failure?) {
      if let failure { self = .failed(failure) } else { self = .completed }
    }
  }

  /// What a source sends with, from any task or thread, also from synchronous code.
  ///
  /// Sending never blocks, and what comes after an ending is dropped. When the last copy of a
  /// subscriber is released and no ending was sent, the signal completes: nobody can send any more,
  /// and its readers must not wait for ever.
  ///
  /// Replaces `id<RACSubscriber>`.
  public struct Subscriber: Sendable {
    /// An inbox is called directly, because a call through a protocol would not be specialised
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

    /// Shared by all copies, and by nobody else.
    @usableFromInline
    final class Life: Sendable {
      private let outlet: Outlet

      init(_ outlet: Outlet) { self.outlet = outlet }

      deinit { outlet.end(with: nil) }
    }

    /// Beside the life that holds it, too, because to send is to follow one reference less.
    @usableFromInline let outlet: Outlet
    @usableFromInline let life: Life

    init(_ outlet: Outlet) {
      self.outlet = outlet
      life = Life(outlet)
    }

    /// Sends an element.
    ///
    /// Replaces `-sendNext:`.
    @inlinable @discardableResult
    public func send(_ element: Element) -> SendResult {
      switch outlet {
      case .inbox(let inbox): inbox.send(element)
      case .broadcaster(let broadcaster): broadcaster.send(element)
      }
    }

    /// Sends an element when there is room for it, and waits until then.
    ///
    /// ```swift
    /// let lines = Signal<String, any Error>(bufferingPolicy: .bufferingOldest(100)) { subscriber in
    ///   for try await line in socket.lines { await subscriber.send(whenReady: line) }
    /// }
    /// ```
    ///
    /// So a source that can wait loses nothing, and memory is bounded: it stays as far ahead of the
    /// slowest reader as the policy says. It does not wait where the policy keeps everything, or drops
    /// what is older.
    ///
    /// - Cancellation: in a cancelled task it does not wait, and the element may be `.dropped`.
    @inlinable @discardableResult
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

    /// Sends a failure, which is an ending, too.
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
    @inlinable
    func lose(_ count: Int) {
      switch outlet {
      case .inbox(let inbox): inbox.lose(count)
      case .broadcaster(let broadcaster): broadcaster.lose(count)
      }
    }

    /// Whether sending is in vain: nobody reads any more, or there has been an ending.
    public var isTerminated: Bool {
      switch outlet {
      case .inbox(let inbox): inbox.isOver
      case .broadcaster(let broadcaster): broadcaster.isOver
      }
    }

    /// Runs a closure when sending becomes in vain: when the subscription is cancelled, and also
    /// when it completes or fails, as a disposable is disposed of in each case.
    ///
    /// <!-- not run: what it ends is not shown -->
    /// ```swift
    /// subscriber.onTermination { how in
    ///   if case .cancelled = how { print("nobody wants to know") }
    ///   updates.stop()
    /// }
    /// ```
    ///
    /// It runs once, in the task or on the thread that ends the subscription, and at once if that
    /// has happened already. Of several, the one that was registered last runs first. A handler that
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
