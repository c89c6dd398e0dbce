/// One subscription: senders put in, readers take out.
///
/// An iterator takes everything that is there at once, and is woken only when it sleeps: that is
/// what makes an element cheap ("Signals").
@usableFromInline
final class Inbox<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Sleeper = UnsafeContinuation<Void, Never>
  @usableFromInline typealias State = InboxState<Element, Failure, Sleeper>

  @usableFromInline let state: Locked<State>

  @inlinable
  init(_ policy: SignalBufferingPolicy) { state = Locked(State(policy)) }

  @inlinable
  func send(_ element: Element) -> Signal<Element, Failure>.SendResult {
    let (result, reader) = state.withLock { $0.send(element) }
    reader?.resume()
    return result
  }

  @usableFromInline
  func end(with failure: Failure?) { act(on: state.withLock { $0.end(with: failure) }) }

  @usableFromInline
  func cancel() { act(on: state.withLock { $0.cancel() }) }

  @usableFromInline
  func onCancel(_ handler: @escaping Disposal.Handler) {
    if !state.withLock({ $0.onCancel(handler) }) { handler() }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func act(on aftermath: State.Aftermath) {
    for handler in aftermath.handlers { handler() }
    for sleeper in aftermath.sleepers { sleeper.resume() }
  }

  @inlinable
  func take(into batch: inout [Element]) -> State.Taken {
    // Only its own reader is here, so that the batch can be changed in the critical part.
    var own: [Element] = []
    swap(&own, &batch)
    let (taken, sender) = state.withLock { $0.take(into: &own) }
    swap(&own, &batch)
    sender?.resume()
    return taken
  }

  @inlinable
  func takeOne() -> (taken: State.Taken, element: Element?) {
    let (taken, element, sender) = state.withLock { $0.takeOne() }
    sender?.resume()
    return (taken, element)
  }

  /// Sleeps until there is something new to look at. If that is wanted, being cancelled is leaving.
  @inlinable
  nonisolated(nonsending) func sleep(leavingWhenCancelled: Bool) async {
    guard leavingWhenCancelled else { return await sleep() }
    await withTaskCancellationHandler {
      await sleep()
    } onCancel: {
      cancel()
    }
  }

  @inlinable
  nonisolated(nonsending) func sleep() async {
    await withUnsafeContinuation { continuation in
      let (sleeps, sender) = state.withLock { $0.sleep(reader: continuation) }
      sender?.resume()
      if !sleeps { continuation.resume() }
    }
  }

  /// Sleeps until an element would not be dropped, or until nobody is interested.
  @inlinable
  nonisolated(nonsending) func room() async {
    // Looks again after each wake-up: where nothing is kept, only a reader that waits is room.
    while state.withLock({ $0.isFull }) {
      await withUnsafeContinuation { continuation in
        if !state.withLock({ $0.sleep(sender: continuation) }) { continuation.resume() }
      }
    }
  }
}
