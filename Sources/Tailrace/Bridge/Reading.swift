/// A subscription as its one reader sees it. Releasing it is leaving.
@usableFromInline
enum Reading<Element: Sendable, Failure: Error>: Sendable {
  /// An inbox is read directly, because a call through a closure would not be specialised
  /// ("Signals").
  case inbox(InboxReader<Element, Failure>)
  case derived(DerivedReader<Element, Failure>)

  @usableFromInline typealias Event = Signal<Element, Failure>.Event

  /// An element that needs no waiting for: of those that were fetched with an earlier one, or, if
  /// `fetching`, of all that have been sent.
  @inlinable
  func pop(fetching: Bool = false) -> Element? {
    switch self {
    case .inbox(let reader): fetching ? reader.fetch() : reader.pop()
    case .derived(let reader): reader.pop(fetching)
    }
  }

  /// The next event, the ending again and again; `nil` once the reader has left.
  @inlinable
  nonisolated(nonsending) func event(leavingWhenCancelled: Bool) async -> Event? {
    switch self {
    case .inbox(let reader): await reader.event(leavingWhenCancelled: leavingWhenCancelled)
    case .derived(let reader): await reader.event(leavingWhenCancelled)
    }
  }

  /// How many elements were dropped before what was read last.
  @usableFromInline
  var droppedCount: Int {
    switch self {
    case .inbox(let reader): reader.droppedCount
    case .derived(let reader): reader.droppedCount()
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
