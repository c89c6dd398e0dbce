import TailraceLists
import TailraceSupport

/// Held by everything that can subscribe to a hot signal.
///
/// One broadcaster serves a source from the first reader to the last. Later readers get a new
/// broadcaster.
final class Entrance<Element: Sendable, Failure: Error>: Sendable {
  private let current: Locked<Broadcaster<Element, Failure>>
  private let next: @Sendable () -> Broadcaster<Element, Failure>

  init(_ next: @escaping @Sendable () -> Broadcaster<Element, Failure>) {
    self.next = next
    current = Locked(next())
  }

  deinit { current.withLock { $0 }.becomeUnreachable() }

  func subscribe() -> InboxReader<Element, Failure> {
    while true {
      let broadcaster = current.withLock { $0 }
      if let reader = broadcaster.subscribe() { return reader }
      let fresh = next()
      current.withLock { if $0 === broadcaster { $0 = fresh } }
    }
  }
}
