/// Reads an inbox for several tasks, each element for one of them: what an `AsyncStream` needs, whose
/// consumers may be many.
@usableFromInline
final class SharedReader<Element: Sendable, Failure: Error>: Sendable {
  @usableFromInline let inbox: Inbox<Element, Failure>
  /// What sends into the inbox, until the first read.
  @usableFromInline let source: Locked<(@Sendable (Inbox<Element, Failure>) -> Void)?>

  /// A reader of an inbox of its own, that `source` sends into from the first read on.
  @inlinable
  init(
    _ policy: SignalBufferingPolicy,
    _ source: @escaping @Sendable (Inbox<Element, Failure>) -> Void
  ) {
    inbox = Inbox(policy)
    self.source = Locked(source)
  }

  @inlinable
  deinit { inbox.cancel() }

  /// The next element, `nil` at the end.
  ///
  /// - Cancellation: a consumer that is cancelled ends the stream for all, as with every stream.
  @inlinable
  nonisolated(nonsending) func next() async throws(Failure) -> Element? {
    if Task.isCancelled { inbox.cancel() }
    source.withLock { $0.take() }?(inbox)
    while true {
      let (taken, element) = inbox.takeOne()
      if let element { return element }
      switch taken {
      case .elements, .nothing: await inbox.sleep(leavingWhenCancelled: true)
      case .ended(let failure):
        guard let failure else { return nil }
        throw failure
      case .cancelled: return nil
      }
    }
  }
}

extension SharedReader where Failure == Never {
  @inlinable
  func stream() -> AsyncStream<Element> {
    AsyncStream {
      await self.next()
    } onCancel: { [inbox] in
      inbox.cancel()
    }
  }
}

extension SharedReader where Failure == any Error {
  @inlinable
  func stream() -> AsyncThrowingStream<Element, any Error> {
    AsyncThrowingStream { try await self.next() }
  }
}
