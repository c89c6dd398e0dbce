/// Held by those who can subscribe to a hot signal.
///
/// What a source sends has one hub from the first reader to the last: for those who come after that
/// there is another one.
final class Entrance<Element: Sendable, Failure: Error>: Sendable {
  private let current: Locked<Hub<Element, Failure>>
  private let next: @Sendable () -> Hub<Element, Failure>

  init(_ next: @escaping @Sendable () -> Hub<Element, Failure>) {
    self.next = next
    current = Locked(next())
  }

  deinit { current.withLock { $0 }.becomeUnreachable() }

  func subscribe() -> InboxReader<Element, Failure> {
    while true {
      let hub = current.withLock { $0 }
      if let reader = hub.subscribe() { return reader }
      let fresh = next()
      current.withLock { if $0 === hub { $0 = fresh } }
    }
  }
}
