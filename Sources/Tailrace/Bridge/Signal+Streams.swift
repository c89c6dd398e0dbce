// A signal as one of the standard library's streams, for those who need that type.

extension Signal where Failure == Never {
  /// Returns a subscription, as an `AsyncStream`, for those who need that type.
  ///
  /// ```swift
  /// let stream: AsyncStream<Int> = presses.stream()
  /// ```
  ///
  /// A hot signal is listened to from now on; the source of a cold one runs at the first read. What is
  /// not read yet is kept as the signal's ``BufferingPolicy`` says. An iterator of the signal
  /// itself reads many times faster, because it takes all that waits at once.
  ///
  /// - Cancellation: releasing the stream, or cancelling a task that reads it, ends the subscription.
  @inlinable
  public func stream() -> AsyncStream<Element> {
    TakingTurns(open()).stream()
  }
}

extension Signal where Failure == any Error {
  /// Returns a subscription, as an `AsyncThrowingStream`, for those who need that type.
  @inlinable
  public func stream() -> AsyncThrowingStream<Element, any Error> {
    TakingTurns(open()).stream()
  }
}

/// Reads a subscription for several tasks, one after the other: what an `AsyncStream` needs, whose
/// consumers may be many. It takes nothing out that nobody has asked for.
@usableFromInline
final class TakingTurns<Element: Sendable, Failure: Error>: Sendable {
  /// Read by whoever has the turn. Leaving is for everybody.
  @usableFromInline let reading: Reading<Element, Failure>
  @usableFromInline let lock = AsyncLock()

  @inlinable
  init(_ reading: Reading<Element, Failure>) { self.reading = reading }

  /// The next element, `nil` at the end.
  ///
  /// - Cancellation: a consumer that is cancelled ends the stream for all, as with every stream.
  @inlinable
  nonisolated(nonsending) func next() async throws(Failure) -> Element? {
    guard await lock.lock() else {
      reading.cancel()
      return nil
    }
    let event = await reading.event(leavingWhenCancelled: true)
    lock.unlock()
    switch event {
    case .next(let element): return element
    case .failure(let failure): throw failure
    case .completed, nil: return nil
    }
  }
}

extension TakingTurns where Failure == Never {
  @inlinable
  func stream() -> AsyncStream<Element> {
    AsyncStream {
      await self.next()
    } onCancel: { [reading] in
      reading.cancel()
    }
  }
}

extension TakingTurns where Failure == any Error {
  @inlinable
  func stream() -> AsyncThrowingStream<Element, any Error> {
    AsyncThrowingStream { try await self.next() }
  }
}
