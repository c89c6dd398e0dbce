/// A subscription as its one reader sees it. Releasing it is leaving.
@usableFromInline
enum Reading<Element: Sendable, Failure: Error>: Sendable {
  case inbox(InboxReader<Element, Failure>)
  case derived(DerivedReader<Element, Failure>)

  @usableFromInline typealias Event = Signal<Element, Failure>.Event

  /// An element that needs no waiting for.
  @inlinable
  func pop() -> Element? {
    if case .inbox(let reader) = self { reader.pop() } else { nil }
  }

  /// The next event, the ending again and again; `nil` once the reader has left.
  @inlinable
  nonisolated(nonsending) func event(leavingWhenCancelled: Bool) async -> Event? {
    switch self {
    case .inbox(let reader): await reader.event(leavingWhenCancelled: leavingWhenCancelled)
    case .derived(let reader): await reader.event(leavingWhenCancelled)
    }
  }

  /// Subscribes, where that has been put off until the first read.
  @usableFromInline
  func start() {
    switch self {
    case .inbox(let reader): reader.start()
    case .derived(let reader): reader.start()
    }
  }

  /// Leaves. Unlike reading, any task may do that.
  @usableFromInline
  func cancel() {
    switch self {
    case .inbox(let reader): reader.inbox.cancel()
    case .derived(let reader): reader.cancel()
    }
  }
}

/// Reads an inbox.
// Guard: an iterator is read by one task at a time, and its reader by that iterator.
// May touch it: the task that reads.
@usableFromInline
final class InboxReader<Element: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline let inbox: Inbox<Element, Failure>
  /// Taken out of the inbox, the next one last.
  @exclusivity(unchecked) @usableFromInline var batch: [Element] = []
  /// What sends into the inbox, until the first read.
  private var source: (@Sendable (Signal<Element, Failure>.Subscriber) -> Void)?

  init(
    _ inbox: Inbox<Element, Failure>,
    _ source: (@Sendable (Signal<Element, Failure>.Subscriber) -> Void)? = nil
  ) {
    self.inbox = inbox
    self.source = source
  }

  deinit { inbox.cancel() }

  @usableFromInline
  func start() { source.take()?(Signal.Subscriber(.inbox(inbox))) }

  @inlinable
  func pop() -> Element? { batch.popLast() }

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
    // One burst must not keep its memory for ever.
    if batch.capacity > 8192 { batch = [] }
    while true {
      switch inbox.take(into: &batch) {
      case .elements:
        batch.reverse()
        return .next(batch.removeLast())
      case .nothing: await inbox.sleep(leavingWhenCancelled: leavingWhenCancelled)
      case .ended(let failure?): return .failure(failure)
      case .ended(nil): return .completed
      case .cancelled: return nil
      }
    }
  }
}

/// Reads another subscription, and makes other events of what it reads.
@usableFromInline
final class DerivedReader<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline typealias Event = Signal<Element, Failure>.Event

  @usableFromInline
  typealias Read =
    nonisolated(nonsending) @Sendable (_ leavingWhenCancelled: Bool) async -> Event?

  @usableFromInline let event: Read
  let start: @Sendable () -> Void
  let cancel: @Sendable () -> Void

  init<E, F>(
    _ reading: Reading<E, F>,
    _ event: @escaping Read
  ) {
    self.event = event
    start = { reading.start() }
    cancel = { reading.cancel() }
  }
}
