/// Reads an inbox.
// Guard: an iterator is read by one task at a time, and its reader by that iterator.
// May touch it: the task that reads.
@usableFromInline
final class InboxReader<Element: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline let inbox: Inbox<Element, Failure>
  /// Elements taken out of the inbox, the next one last.
  @exclusivity(unchecked) @usableFromInline var batch: [Element] = []
  /// How many elements were dropped before the batch.
  @exclusivity(unchecked) @usableFromInline var droppedCount = 0
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

  @inlinable
  func pop() -> Element? { batch.popLast() }

  /// A sent element, whether still in the inbox or not.
  @inlinable
  func fetch() -> Element? {
    if batch.isEmpty { _ = take() }
    return batch.popLast()
  }

  /// Takes the available elements out of the inbox.
  @inlinable
  func take() -> InboxState<Element, Failure, UnsafeContinuation<Void, Never>, Waiter>.Taken {
    let (taken, dropped) = inbox.take(into: &batch)
    droppedCount = dropped
    batch.reverse()
    return taken
  }

  @inlinable
  nonisolated(nonsending) func event(
    leavingWhenCancelled: Bool
  ) async -> Signal<Element, Failure>.Event? {
    if leavingWhenCancelled, Task.isCancelled {
      inbox.cancel()
      batch = []
      return nil
    }
    if let element = batch.popLast() { return .next(element) }
    start()
    // Frees the memory of a large burst.
    if batch.capacity > 8192 { batch = [] }
    while true {
      switch take() {
      case .elements: return .next(batch.removeLast())
      case .nothing: await inbox.sleep(leavingWhenCancelled: leavingWhenCancelled)
      case .ended(let failure?): return .failure(failure)
      case .ended(nil): return .completed
      case .cancelled: return nil
      }
    }
  }
}
