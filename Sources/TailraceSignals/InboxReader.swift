import TailraceLists
import TailraceSupport

/// Reads an inbox.
// Guard: the isolation of an iterator, which its copies share. Tasks that read copies take turns
// where one of them waits.
// May touch it: the task that reads.
@usableFromInline
final class InboxReader<Element: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline let inbox: Inbox<Element, Failure>
  /// Elements taken out of the inbox, the next one last.
  @exclusivity(unchecked) @usableFromInline var batch: [Element] = []
  /// How many elements were dropped before the batch.
  @exclusivity(unchecked) @usableFromInline var droppedCount = 0
  /// How often a reader has gone to sleep.
  @exclusivity(unchecked) @usableFromInline var naps = 0
  /// Starts the source, at the first read.
  private var starter: (@Sendable (Inbox<Element, Failure>) -> Void)?

  init(
    _ inbox: Inbox<Element, Failure>,
    starting starter: @escaping @Sendable (Inbox<Element, Failure>) -> Void
  ) {
    self.inbox = inbox
    self.starter = starter
  }

  deinit { inbox.cancel() }

  /// Does nothing if the subscription is over: other code may have ended it.
  @usableFromInline
  func start() {
    guard let starter = starter.take(), !inbox.isOver else { return }
    starter(inbox)
  }

  @_alwaysEmitIntoClient
  func pop() -> Element? { batch.popLast() }

  /// A sent element, whether still in the inbox or not.
  @_alwaysEmitIntoClient
  func fetch() -> Element? {
    if batch.isEmpty { _ = take() }
    return batch.popLast()
  }

  /// Takes the available elements out of the inbox.
  @_alwaysEmitIntoClient
  func take() -> InboxState<Element, Failure, UnsafeContinuation<Void, Never>, Waiter>.Taken {
    let (taken, dropped) = inbox.take(into: &batch)
    droppedCount = dropped
    batch.reverse()
    return taken
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func event(
    leavingWhenCancelled: Bool
  ) async -> Signal<Element, Failure>.Event? {
    // From the beginning after each sleep: a reader of a copy may have filled the batch meanwhile.
    while true {
      if leavingWhenCancelled, Task.isCancelled {
        inbox.cancel()
        batch = []
        return nil
      }
      if let element = batch.popLast() { return .next(element) }
      start()
      // Frees the memory of a large burst.
      if batch.capacity > 8192 { batch = [] }
      switch take() {
      case .elements: return .next(batch.removeLast())
      case .nothing: await sleep(leavingWhenCancelled: leavingWhenCancelled)
      case .ended(let failure?): return .failure(failure)
      case .ended(nil): return .completed
      case .cancelled: return nil
      }
    }
  }

  /// Sleeps until there is something new. If requested, cancellation leaves: the caller then calls
  /// `Inbox.cancel()`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func sleep(leavingWhenCancelled: Bool) async {
    naps &+= 1
    let ticket = naps
    guard leavingWhenCancelled else { return await sleep(ticket) }
    await withTaskCancellationHandler {
      await sleep(ticket)
    } onCancel: {
      inbox.leave(reader: ticket)
    }
  }

  @_alwaysEmitIntoClient
  nonisolated(nonsending) func sleep(_ ticket: Int) async {
    let mark = inbox.waits()
    defer { mark?.end() }
    await withUnsafeContinuation { continuation in
      // Looked at here, where no other task can come between: on some executors even a call in the
      // same isolation gives a reader of a copy a turn, and that one may have filled the batch.
      guard batch.isEmpty else { return continuation.resume() }
      inbox.sleep(continuation, ticket: ticket)
    }
  }
}
