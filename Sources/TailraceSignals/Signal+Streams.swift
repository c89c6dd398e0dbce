import TailraceLists
import TailraceSupport

// A signal as a stream of the standard library, for APIs that need that type.

extension Signal where Failure == Never {
  /// Returns a subscription as an `AsyncStream`, for APIs that need that type.
  ///
  /// ```swift
  /// let stream: AsyncStream<Int> = presses.stream()
  /// ```
  ///
  /// A hot signal delivers to it from now on; a cold signal's source runs at the first read.
  /// Unread elements are kept as the signal's ``BufferingPolicy`` says. An iterator of the signal
  /// itself reads many times faster, because it takes all waiting elements at once.
  ///
  /// - Cancellation: releasing the stream or cancelling a task that reads it ends the
  ///   subscription.
  @_alwaysEmitIntoClient
  public func stream() -> AsyncStream<Element> {
    TakingTurns(open()).stream()
  }
}

extension Signal where Failure == any Error {
  /// Returns a subscription as an `AsyncThrowingStream`, for APIs that need that type.
  ///
  /// - Cancellation: a read that waits throws `CancellationError`. A read that begins in a cancelled
  ///   task gives `nil`, as with every such stream: after a loop over it, call
  ///   `Task.checkCancellation()`. A loop over the signal itself needs no such call.
  @_alwaysEmitIntoClient
  public func stream() -> AsyncThrowingStream<Element, any Error> {
    TakingTurns(open()).stream()
  }
}

/// Reads a subscription for several tasks in turn, as the consumers of an `AsyncStream` need. It
/// takes an element out only when a consumer asks for one.
@usableFromInline
final class TakingTurns<Element: Sendable, Failure: Error>: Sendable {
  /// Read only by the task that holds the lock. Any task may cancel it. Empty once nobody can read.
  @usableFromInline let reading: Owned<Reading<Element, Failure>?>
  @usableFromInline let lock = AsyncLock(for: "a stream of a signal")

  @_alwaysEmitIntoClient
  init(_ reading: Reading<Element, Failure>) { self.reading = Owned(reading) }

  /// A stream whose reader is cancelled releases this inside of `Task.cancel()`, and the last
  /// reference may be there: so the subscription ends in a job of its own, which alone owns it then.
  deinit { Task { [reading] in reading.state.take()?.cancel() } }

  /// The next element, `nil` at the end.
  ///
  /// - Cancellation: a cancelled consumer ends the stream for all, as with every stream.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func next() async throws(Failure) -> Element? {
    guard let reading = reading.state else { return nil }
    guard await lock.lock() else {
      reading.cancel()
      return try cancelled()
    }
    let event = await reading.event(leavingWhenCancelled: true)
    lock.unlock()
    switch event {
    case .next(let element): return element
    case .failure(let failure): throw failure
    case .completed: return nil
    case nil: return try cancelled()
    }
  }

  @_alwaysEmitIntoClient
  func cancelled() throws(Failure) -> Element? {
    guard let cancellation = Failure.cancellation else { return nil }
    throw cancellation
  }
}

extension TakingTurns where Failure == Never {
  @_alwaysEmitIntoClient
  func stream() -> AsyncStream<Element> {
    AsyncStream { await self.next() }
  }
}

extension TakingTurns where Failure == any Error {
  @_alwaysEmitIntoClient
  func stream() -> AsyncThrowingStream<Element, any Error> {
    AsyncThrowingStream { try await self.next() }
  }
}
