extension Signal {
  /// Something that happens in a signal: an element, or its ending.
  ///
  /// Where `Failure` is `Never` a `switch` needs no case for it.
  public enum Event: Sendable {
    case next(Element)
    case failure(Failure)
    case completed
  }

  /// What became of an element that was sent.
  public enum SendResult: Sendable {
    /// It will be read. There is room for so many more, before something is dropped.
    case enqueued(remaining: Int)
    /// This element will not be read: the one that was sent, or an older one that made room for it,
    /// or the one sent if a hot signal has no subscriptions any more.
    case dropped(Element)
    /// Nobody is interested any more: it has ended, or was cancelled.
    case terminated
  }

  /// What a source sends with, from any task or thread, also from synchronous code.
  ///
  /// It never blocks, and what comes after an ending is dropped. A source that lets go of its
  /// subscriber without an ending has none: its readers wait until they are cancelled.
  ///
  /// Replaces `id<RACSubscriber>`.
  public struct Subscriber: Sendable {
    /// An inbox is called directly, because a call through a protocol would not be specialised
    /// ("Signals").
    @usableFromInline
    enum Outlet: Sendable {
      case inbox(Inbox<Element, Failure>)
      case hub(Hub<Element, Failure>)
    }

    @usableFromInline let outlet: Outlet

    @usableFromInline
    init(_ outlet: Outlet) { self.outlet = outlet }

    /// Sends an element.
    ///
    /// Replaces `-sendNext:`.
    @inlinable @discardableResult
    public func send(_ element: Element) -> SendResult {
      switch outlet {
      case .inbox(let inbox): inbox.send(element)
      case .hub(let hub): hub.send(element)
      }
    }

    /// Sends the end.
    ///
    /// Replaces `-sendCompleted`.
    public func complete() { end(with: nil) }

    /// Sends a failure, which is an ending, too.
    ///
    /// Replaces `-sendError:`.
    public func fail(_ failure: Failure) { end(with: failure) }

    private func end(with failure: Failure?) {
      switch outlet {
      case .inbox(let inbox): inbox.end(with: failure)
      case .hub(let hub): hub.end(with: failure)
      }
    }

    /// Whether sending is in vain: nobody reads any more, or the ending has been sent.
    public var isCancelled: Bool {
      switch outlet {
      case .inbox(let inbox): inbox.isOver
      case .hub(let hub): hub.isOver
      }
    }

    /// Runs a closure when sending becomes in vain: when the subscription is cancelled, and also
    /// when it completes or fails, as a disposable is disposed of in both cases.
    ///
    /// It runs once, in the task or on the thread that ends the subscription, and at once if that
    /// has happened already. Of several, the one that was registered last runs first.
    ///
    /// Replaces the `RACDisposable` that a signal's block returns.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
      switch outlet {
      case .inbox(let inbox): inbox.onCancel(handler)
      case .hub(let hub): hub.onCancel(handler)
      }
    }
  }
}

extension Signal.Event: Equatable where Element: Equatable, Failure: Equatable {}
extension Signal.Event: Hashable where Element: Hashable, Failure: Hashable {}
extension Signal.SendResult: Equatable where Element: Equatable {}
