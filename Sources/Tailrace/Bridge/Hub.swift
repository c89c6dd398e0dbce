/// A hot signal: what is sent goes to everyone who is subscribed, in one order for all.
@usableFromInline
final class Hub<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Listener = Inbox<Element, Failure>
  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  /// Its lock is taken before that of a listener, never after it.
  @usableFromInline let state: Locked<HubState<Listener, Failure>>
  private let policy: SignalBufferingPolicy

  init(_ policy: SignalBufferingPolicy) {
    self.policy = policy
    state = Locked(HubState(seat: Inbox(policy)))
  }

  @inlinable
  func send(_ element: Element) -> SendResult {
    let delivery = state.withLock { state in
      guard case .open = state.phase else { return Delivery<Element, Failure>(.terminated) }
      // A reader that has just left its seat to nobody still counts as "nobody listens".
      var delivery = Delivery<Element, Failure>(.dropped(element))
      // By index: a loop over the elements would count a reference to each of them ("Signals").
      for index in state.listeners.indices {
        delivery.add(state.listeners[index].state.withLock { $0.send(element) })
      }
      return delivery
    }
    delivery.reader?.resume()
    for reader in delivery.otherReaders { reader.resume() }
    return delivery.result
  }

  func end(with failure: Failure?) {
    let (aftermaths, handlers) = state.withLock { state in
      let (listeners, handlers) = state.end(with: failure)
      return (
        listeners.map { listener in
          (listener, listener.state.withLock { $0.end(with: failure) })
        }, handlers
      )
    }
    for (listener, aftermath) in aftermaths { listener.act(on: aftermath) }
    for handler in handlers { handler() }
  }

  func subscribe() -> InboxReader<Element, Failure> {
    var inbox = Listener(policy)
    let offered = inbox
    switch state.withLock({ $0.join(offered) }) {
    case .seat(let seat): inbox = seat
    case .listens: break
    case .ended(let failure): inbox.end(with: failure)
    case .abandoned: inbox.cancel()
    }
    inbox.onCancel { [self, unowned inbox] in leave(inbox) }
    return InboxReader(inbox)
  }

  private func leave(_ listener: Listener) {
    for handler in state.withLock({ $0.leave(listener) }) { handler() }
  }

  fileprivate func becomeUnreachable() {
    let (unused, handlers) = state.withLock { $0.becomeUnreachable() }
    unused?.cancel()
    for handler in handlers { handler() }
  }

  func onCancel(_ handler: @escaping Disposal.Handler) {
    if !state.withLock({ $0.onCancel(handler) }) { handler() }
  }

  var isOver: Bool { state.withLock { $0.isOver } }
}

/// What came of sending one element to many.
@usableFromInline
struct Delivery<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline var result: SendResult
  @usableFromInline var isFirst = true
  /// Nearly always there is one at most; an array would have to be allocated.
  @usableFromInline var reader: UnsafeContinuation<Void, Never>?
  @usableFromInline var otherReaders: [UnsafeContinuation<Void, Never>] = []
  /// Released with this value, outside of every lock.
  @usableFromInline var dropped: [Element] = []

  @inlinable
  init(_ result: SendResult) { self.result = result }

  /// The result for all is the worst one: a drop, or the smallest room.
  @inlinable
  mutating func add(
    _ sent: (result: SendResult, reader: UnsafeContinuation<Void, Never>?)
  ) {
    if let reader = sent.reader {
      if self.reader == nil { self.reader = reader } else { otherReaders.append(reader) }
    }
    switch sent.result {
    // It has left, and is about to say so.
    case .terminated: return
    case .dropped(let element):
      if case .dropped = result, !isFirst {
        dropped.append(element)
      } else {
        result = .dropped(element)
      }
    case .enqueued(let remaining):
      if isFirst {
        result = sent.result
      } else if case .enqueued(let least) = result {
        result = .enqueued(remaining: min(least, remaining))
      }
    }
    isFirst = false
  }
}

/// Held by those who can subscribe to a hot signal.
final class HubEntrance<Element: Sendable, Failure: Error>: Sendable {
  let hub: Hub<Element, Failure>

  init(_ hub: Hub<Element, Failure>) { self.hub = hub }

  deinit { hub.becomeUnreachable() }
}
