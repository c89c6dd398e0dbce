// A signal as one of the standard library's streams, for those who need that type.

extension Signal where Failure == Never {
  /// A subscription as an `AsyncStream`, for those who need that type.
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
  /// A subscription as an `AsyncThrowingStream`, for those who need that type.
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
  @usableFromInline let turns = Locked(ReadersInTurn<UnsafeContinuation<Void, Never>>())

  @inlinable
  init(_ reading: Reading<Element, Failure>) { self.reading = reading }

  /// The next element, `nil` at the end.
  ///
  /// - Cancellation: a consumer that is cancelled ends the stream for all, as with every stream.
  @inlinable
  nonisolated(nonsending) func next() async throws(Failure) -> Element? {
    if !turns.withLock({ $0.take() }) { await waitForTurn() }
    let event = await reading.event(leavingWhenCancelled: true)
    turns.withLock { $0.pass() }?.resume()
    switch event {
    case .next(let element): return element
    case .failure(let failure): throw failure
    case .completed, nil: return nil
    }
  }

  @usableFromInline
  nonisolated(nonsending) func waitForTurn() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        if !turns.withLock({ $0.wait(continuation) }) { continuation.resume() }
      }
    } onCancel: {
      // Who has the turn finds that it has left, and passes the turn on.
      reading.cancel()
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

/// Who reads, and who waits for that, as a value.
@usableFromInline
struct ReadersInTurn<Sleeper: Sendable>: Sendable {
  @usableFromInline var isTaken = false
  @usableFromInline var waiting = FIFO<Sleeper>()

  @inlinable
  init() {}

  /// False if somebody else has the turn.
  @inlinable
  mutating func take() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  /// False if the turn was free, and is the caller's now.
  mutating func wait(_ sleeper: Sleeper) -> Bool {
    guard !take() else { return false }
    waiting.append(sleeper)
    return true
  }

  /// Whoever had the turn is done. Returns who has it now, and is to be woken.
  @inlinable
  mutating func pass() -> Sleeper? {
    let next = waiting.popFirst()
    isTaken = next != nil
    return next
  }
}
