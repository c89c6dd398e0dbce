// A signal as one of the standard library's streams, for those who need that type.

extension Signal where Failure == Never {
  /// A subscription as an `AsyncStream`, for those who need that type.
  ///
  /// ```swift
  /// let stream: AsyncStream<Int> = presses.stream()
  /// ```
  ///
  /// A hot signal is listened to from now on; the source of a cold one runs at the first read. What is
  /// not read yet is kept as the signal's ``SignalBufferingPolicy`` says. An iterator of the signal
  /// itself reads many times faster, because it takes all that waits at once.
  ///
  /// - Cancellation: releasing the stream, or cancelling a task that reads it, ends the subscription.
  public func stream() -> AsyncStream<Element> {
    let reader = TakingTurns(open())
    return AsyncStream {
      await reader.next()
    } onCancel: {
      reader.cancel()
    }
  }
}

extension Signal where Failure == any Error {
  /// A subscription as an `AsyncThrowingStream`, for those who need that type.
  public func stream() -> AsyncThrowingStream<Element, any Error> {
    let reader = TakingTurns(open())
    return AsyncThrowingStream { try await reader.next() }
  }
}

/// Reads a subscription for several tasks, one after the other: what an `AsyncStream` needs, whose
/// consumers may be many. It takes nothing out that nobody has asked for.
private final class TakingTurns<Element: Sendable, Failure: Error>: Sendable {
  /// Read by whoever has the turn. Leaving is for everybody.
  private let reading: Reading<Element, Failure>
  private let turns = Locked(ReadersInTurn<UnsafeContinuation<Void, Never>>())

  init(_ reading: Reading<Element, Failure>) { self.reading = reading }

  func cancel() { reading.cancel() }

  /// The next element, `nil` at the end.
  ///
  /// - Cancellation: a consumer that is cancelled ends the stream for all, as with every stream.
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

  private nonisolated(nonsending) func waitForTurn() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        if !turns.withLock({ $0.wait(continuation) }) { continuation.resume() }
      }
    } onCancel: {
      // Who has the turn finds that it has left, and passes the turn on.
      cancel()
    }
  }
}

/// Who reads, and who waits for that, as a value.
struct ReadersInTurn<Sleeper: Sendable>: Sendable {
  private var isTaken = false
  private var waiting = FIFO<Sleeper>()

  /// False if somebody else has the turn.
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
  mutating func pass() -> Sleeper? {
    let next = waiting.popFirst()
    isTaken = next != nil
    return next
  }
}
