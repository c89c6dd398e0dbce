import TailraceLists
import TailraceSupport

/// One subscription: senders put elements in, its reader takes them out. Copies of an iterator are
/// several readers of one isolation, of which each waits in its own task.
///
/// A reader takes all elements at once, and is woken only when it sleeps. This makes an element
/// cheap ("Signals").
@usableFromInline
final class Inbox<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline
  typealias State = InboxState<Element, Failure, UnsafeContinuation<Void, Never>, Waiter>
  @usableFromInline typealias SendResult = Signal<Element, Failure>.SendResult

  @usableFromInline let state: Locked<State>
  @usableFromInline let canOverflow: Bool
  @usableFromInline let canBeFull: Bool
  /// The turns of the senders that wait for room: the first one looks for it, the others wait behind.
  @usableFromInline let turns = AsyncLock(for: "a signal")

  @usableFromInline
  init(_ policy: Signal<Element, Failure>.BufferingPolicy) {
    state = Locked(State(policy))
    canOverflow = policy.overflow != nil
    canBeFull = policy.canBeFull
  }

  // MARK: Senders

  @_alwaysEmitIntoClient
  func send(_ element: Element) -> SendResult {
    let (result, reader) = state.withLock { $0.send(element) }
    reader?.resume()
    if canOverflow, case .dropped = result { settle() }
    return result
  }

  /// Sends an element once there is room, the reader has left, or the task is cancelled. Senders that
  /// wait are let through in the order in which they came.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func send(whenReady element: Element) async -> SendResult {
    guard canBeFull else { return send(element) }
    if let (result, reader) = state.withLock({ $0.offer(element) }) {
      reader?.resume()
      return result
    }
    let result = await sendInTurn(element)
    state.withLock { $0.leaveLine() }
    // The task was cancelled: nobody else tells the reader that an element is missing.
    if case .dropped = result { lose(1) }
    return result
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func sendInTurn(_ element: Element) async -> SendResult {
    guard await turns.lock() else { return .dropped(element) }
    defer { turns.unlock() }
    while true {
      let sent = state.withLock { $0.isFull ? nil : $0.send(element) }
      if let (result, reader) = sent {
        reader?.resume()
        return result
      }
      if Task.isCancelled { return .dropped(element) }
      await room()
    }
  }

  /// Waits until there is room, the reader has left, or the task is cancelled.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func ready() async {
    while canBeFull, !Task.isCancelled, state.withLock({ $0.isFull }) { await room() }
  }

  /// Sleeps until there may be room again, or until the task is cancelled.
  @usableFromInline
  nonisolated(nonsending) func room() async {
    let sender = Waiter()
    guard let number = state.withLock({ $0.sleep(sender: sender) }) else { return }
    let mark = Exploring.waits(for: Exploring.Wait("room in ", "Signal<\(Element.self)>", self))
    defer { mark?.end() }
    if case .cancelled = await sender.wait(cancellable: true) {
      let former = state.withLock { $0.leave(sender: number) }
      withExtendedLifetime(former) {}
    } else {
      wakeSender()
    }
  }

  /// Wakes a sender that has room; if that one was cancelled, the next one.
  @_alwaysEmitIntoClient
  func wake(_ sender: Waiter?) {
    guard let sender, !sender.wake(.lookAgain) else { return }
    wakeSender()
  }

  /// Wakes the longest-waiting sender, if there is room.
  @usableFromInline
  func wakeSender() {
    while let sender = state.withLock({ $0.nextSender() }), !sender.wake(.lookAgain) {}
  }

  @usableFromInline
  func lose(_ count: Int) {
    act(
      on: state.withLock { state in
        state.lose(count)
        return state.settle()
      })
  }

  @usableFromInline
  func settle() { act(on: state.withLock { $0.settle() }) }

  func end(with failure: Failure?) { act(on: state.withLock { $0.end(with: failure) }) }

  func onTermination(_ handler: @escaping Lifecycle<Element, Failure>.Handler) {
    if let how = state.withLock({ $0.life.onTermination(handler) }) { handler(how) }
  }

  var isOver: Bool { state.withLock { !$0.life.isOpen } }

  func act(on aftermath: State.Aftermath) {
    for handler in aftermath.handlers { handler() }
    for reader in aftermath.readers { reader.resume() }
    for sender in aftermath.senders { sender.wake(.lookAgain) }
  }

  // MARK: Readers

  /// Leaves, for all readers. Unlike reading, any task may do that, but no cancellation handler: it
  /// runs the user's handlers and releases unread elements.
  @usableFromInline
  func cancel() { act(on: state.withLock { $0.cancel() }) }

  /// Leaves, for all readers, in the cancellation handler of one: wakes that one, which then calls
  /// `cancel()`.
  ///
  /// No other task is woken: two tasks whose cancellation handlers wake each other would each hold
  /// the runtime's lock that the other one needs.
  @usableFromInline
  func leave(reader ticket: Int) { state.withLock { $0.leave(reader: ticket) }?.resume() }

  @_alwaysEmitIntoClient
  func take(into batch: inout [Element]) -> (taken: State.Taken, dropped: Int) {
    // Only the inbox's own readers call this, one at a time, so the critical section may change
    // the batch.
    var own: [Element] = []
    swap(&own, &batch)
    let (taken, dropped, sender) = state.withLock { $0.take(into: &own) }
    swap(&own, &batch)
    wake(sender)
    return (taken, dropped)
  }

  /// A reader is about to sleep.
  @usableFromInline
  func waits() -> Exploring.Mark? {
    Exploring.waits(
      for: Exploring.Wait("an element of ", "Signal<\(Element.self)>", self))
  }

  /// Keeps a reader that found nothing until there is something new, or resumes it at once.
  @_alwaysEmitIntoClient
  func sleep(_ reader: UnsafeContinuation<Void, Never>, ticket: Int) {
    let (sleeps, sender) = state.withLock { $0.sleep(reader: reader, ticket: ticket) }
    wake(sender)
    if !sleeps { reader.resume() }
  }
}
