// A signal as one of the standard library's streams, for those who need that type.

extension Signal {
  fileprivate func sharedReader() -> SharedReader<Element, Failure> {
    let reading = open()
    return SharedReader(.unbounded) { inbox in
      let reader = Task {
        while let event = await reading.event(leavingWhenCancelled: true) {
          switch event {
          case .next(let element): _ = inbox.send(element)
          case .failure(let failure): return inbox.end(with: failure)
          case .completed: return inbox.end(with: nil)
          }
        }
      }
      inbox.onCancel { reader.cancel() }
    }
  }
}

extension Signal where Failure == Never {
  /// A subscription as an `AsyncStream`, for those who need that type.
  ///
  /// ```swift
  /// let stream: AsyncStream<Int> = presses.stream()
  /// ```
  ///
  /// A hot signal is listened to from now on; the source of a cold one runs at the first read. An
  /// iterator of the signal itself reads many times faster, because it takes all that waits at once.
  ///
  /// - Cancellation: releasing the stream, or cancelling a task that reads it, ends the subscription.
  public func stream() -> AsyncStream<Element> { sharedReader().stream() }
}

extension Signal where Failure == any Error {
  /// A subscription as an `AsyncThrowingStream`, for those who need that type.
  public func stream() -> AsyncThrowingStream<Element, any Error> { sharedReader().stream() }
}
