import TailraceLists

/// A subscription, as its reader sees it. Releasing it leaves.
@usableFromInline
enum Reading<Element: Sendable, Failure: Error>: Sendable {
  /// An inbox is read directly: a call through a closure would not be specialised ("Signals").
  case inbox(InboxReader<Element, Failure>)
  case derived(DerivedReader<Element, Failure>)

  @usableFromInline typealias Event = Signal<Element, Failure>.Event

  /// An element available without waiting: one fetched earlier, or, if `fetching`, any sent one.
  @_alwaysEmitIntoClient
  func pop(fetching: Bool = false) -> Element? {
    switch self {
    case .inbox(let reader): fetching ? reader.fetch() : reader.pop()
    case .derived(let reader): reader.pop(fetching)
    }
  }

  /// The next event, the ending repeatedly; `nil` once the reader has left.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func event(leavingWhenCancelled: Bool) async -> Event? {
    switch self {
    case .inbox(let reader): await reader.event(leavingWhenCancelled: leavingWhenCancelled)
    case .derived(let reader): await reader.event(leavingWhenCancelled)
    }
  }

  /// How many elements were dropped before the one read last.
  @usableFromInline
  var droppedCount: Int {
    switch self {
    case .inbox(let reader): reader.droppedCount
    case .derived(let reader): reader.droppedCount()
    }
  }

  /// Subscribes, if that was deferred until the first read.
  @usableFromInline
  func start() {
    switch self {
    case .inbox(let reader): reader.start()
    case .derived(let reader): reader.start()
    }
  }

  /// Leaves. Unlike reading, any task may do that, but no cancellation handler: it runs the user's
  /// handlers and releases unread elements.
  @usableFromInline
  func cancel() {
    switch self {
    case .inbox(let reader): reader.inbox.cancel()
    case .derived(let reader): reader.cancel()
    }
  }
}
