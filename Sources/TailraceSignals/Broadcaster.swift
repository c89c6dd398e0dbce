import TailraceLists
import TailraceSupport
import TailraceSchedulers

/// A hot signal: each element goes to all listeners, in the same order.
@usableFromInline
final class Broadcaster<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Listener = Inbox<Element, Failure>
  @usableFromInline typealias State = BroadcasterState<Listener, Element, Failure>
  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  /// Taken before a listener's lock, never after it.
  @usableFromInline let state: Locked<State>
  private let policy: Signal<Element, Failure>.BufferingPolicy
  @usableFromInline let canOverflow: Bool
  @usableFromInline let canBeFull: Bool
  /// The turns of the senders that wait for room: the first one looks for it, the others wait behind.
  @usableFromInline let turns = AsyncLock(for: "a signal")
  /// How long a source is kept without listeners, and on which clock.
  private let patience: (duration: Duration, scheduler: any Scheduler)

  /// For elements that senders send. Without a replay, they wait for the first subscription.
  init(
    _ policy: Signal<Element, Failure>.BufferingPolicy, replaying count: Int, waits: Bool
  ) {
    self.policy = policy.raised(to: count)
    canOverflow = policy.overflow != nil
    canBeFull = policy.canBeFull
    patience = (.zero, ImmediateScheduler.shared)
    state = Locked(State(pendingInbox: waits ? Inbox(policy) : nil, replaying: count))
  }

  /// For elements that a source sends, once for all listeners.
  init(
    _ policy: Signal<Element, Failure>.BufferingPolicy, replaying count: Int,
    source: @escaping State.Source, keptFor patience: (duration: Duration, scheduler: any Scheduler)
  ) {
    self.policy = policy.raised(to: count)
    canOverflow = policy.overflow != nil
    canBeFull = policy.canBeFull
    self.patience = patience
    state = Locked(State(source: source, replaying: count, isKept: patience.duration > .zero))
  }

  // MARK: Senders

  @_alwaysEmitIntoClient
  func send(_ element: Element) -> SendResult {
    state.withLock { deliver(element, &$0) }.finish()
  }

  /// Sends an element once every listener has room, no listener is left, or the task is cancelled.
  /// Senders that wait are let through in the order in which they came.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func send(whenReady element: Element) async -> SendResult {
    guard canBeFull else { return send(element) }
    let delivery: Delivery<Element, Failure>? = state.withLock { state in
      if state.queued == 0 || !state.life.isOpen, firstFull(state) == nil {
        return deliver(element, &state)
      }
      state.queued += 1
      return nil
    }
    if let delivery { return delivery.finish() }
    let sent = await sendInTurn(element)
    state.withLock { $0.queued -= 1 }
    if let sent { return sent.finish() }
    // The task was cancelled: nobody else tells the readers that an element is missing.
    lose(1)
    return .dropped(element)
  }

  /// `nil` if the task is cancelled first.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func sendInTurn(
    _ element: Element
  ) async -> Delivery<Element, Failure>? {
    guard await turns.lock() else { return nil }
    defer { turns.unlock() }
    while true {
      // No other sender can fill a listener while the lock is held.
      let (full, delivery) = state.withLock { state in
        let full = firstFull(state)
        return (full, full == nil ? deliver(element, &state) : nil)
      }
      if let delivery { return delivery }
      if Task.isCancelled { return nil }
      await full?.room()
    }
  }

  /// Waits until every listener has room, no listener is left, or the task is cancelled.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func ready() async {
    while canBeFull, !Task.isCancelled, let full = state.withLock({ firstFull($0) }) {
      await full.room()
    }
  }

  @_alwaysEmitIntoClient
  func firstFull(_ state: State) -> Listener? {
    for case let listener? in state.listeners.members
    where listener.state.withLock({ $0.isFull }) { return listener }
    return nil
  }

  @_alwaysEmitIntoClient @inline(__always)
  func deliver(_ element: Element, _ state: inout State) -> Delivery<Element, Failure> {
    guard state.life.isOpen else { return Delivery(.terminated) }
    // Without listeners, the element is dropped or only kept for replay.
    var delivery = Delivery<Element, Failure>(
      state.past.limit > 0 ? .enqueued(remaining: .max) : .dropped(element))
    // By index: iterating the elements would retain each of them ("Signals").
    for index in state.listeners.members.indices where state.listeners.members[index] != nil {
      let sent = state.listeners.members[index].unsafelyUnwrapped.state.withLock {
        $0.send(element)
      }
      if canOverflow, case .dropped = sent.result {
        delivery.overflowed.append(state.listeners.members[index].unsafelyUnwrapped)
      }
      delivery.add(sent)
    }
    delivery.forgotten = state.remember(element)
    return delivery
  }

  /// Tells the listeners that elements are missing here.
  @usableFromInline
  func lose(_ count: Int) {
    let listeners = state.withLock { state in
      state.past.lose(count)
      let listeners = state.listeners.present
      for listener in listeners { listener.state.withLock { $0.lose(count) } }
      return listeners
    }
    if canOverflow { for listener in listeners { listener.settle() } }
  }

  func end(with failure: Failure?) {
    let (aftermaths, remains) = state.withLock { state in
      let (listeners, remains) = state.end(with: failure)
      return (
        listeners.map { listener in
          (listener, listener.state.withLock { $0.end(with: failure) })
        }, remains
      )
    }
    for (listener, aftermath) in aftermaths { listener.act(on: aftermath) }
    act(on: .end(remains))
  }

  func onTermination(_ handler: @escaping Lifecycle<Element, Failure>.Handler) {
    if let how = state.withLock({ $0.life.onTermination(handler) }) { handler(how) }
  }

  var isOver: Bool { state.withLock { !$0.life.isOpen } }

  // MARK: Readers

  /// Subscribes; `nil` if all have left for good.
  func subscribe() -> InboxReader<Element, Failure>? {
    let offered = Listener(policy)
    let (joining, timer) = state.withLock { state in
      offered.state.withLock { $0.buffer.recall(state.past) }
      return state.join(offered)
    }
    timer?.cancel()
    switch joining {
    case .pendingInbox(let pendingInbox, let number): return reader(of: pendingInbox, number)
    case .listens(let number): return reader(of: offered, number)
    case .ended(let failure):
      offered.end(with: failure)
      return InboxReader(offered) { _ in }
    case .cancelled: return nil
    }
  }

  private func reader(of listener: Listener, _ number: Int) -> InboxReader<Element, Failure> {
    listener.onTermination { [self] _ in leave(number) }
    return InboxReader(listener) { [self] _ in
      state.withLock { $0.start(for: number) }?(Signal.Subscriber(.broadcaster(self)))
    }
  }

  private func leave(_ number: Int) {
    let (former, departure) = state.withLock { $0.leave(number) }
    act(on: departure)
    withExtendedLifetime(former) {}
  }

  func becomeUnreachable() {
    let (unused, departure) = state.withLock { $0.becomeUnreachable() }
    unused?.cancel()
    act(on: departure)
  }

  private func act(on departure: State.Departure) {
    switch departure {
    case .nothing: return
    case .keepAlive(let number):
      let timer: ScheduledWork = patience.scheduler.schedule(after: patience.duration) { [self] in
        act(on: state.withLock { $0.timeIsUp(since: number) })
      }
      state.withLock { $0.keep(timer, since: number) }?.cancel()
    case .end(let remains):
      remains.timer?.cancel()
      for handler in remains.handlers { handler() }
    }
  }
}
