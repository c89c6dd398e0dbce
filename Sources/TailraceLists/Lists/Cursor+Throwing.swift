import TailraceSupport

// What a reader of a list throws: the engine keeps any error.
extension Cursor {
  /// The element after a pull that gave nothing, or `nil` at the end.
  ///
  /// A cursor that stops when cancelled has stopped before this knows whether the failure can say so.
  /// If it cannot, a question goes on and waits for the true answer: only here, where the task is
  /// cancelled, is the failure type looked at.
  ///
  /// - Parameters:
  ///   - Failure: what is thrown.
  ///   - Source: the list's failure type, which decides about a cancellation.
  ///   - isNil: whether this is an iteration, which ends with `nil` if its task is cancelled and the
  ///     failure cannot say so.
  @inlinable
  package nonisolated(nonsending) mutating func nextOrFailure<Failure: Error, Source: Error>(
    _: Failure.Type, of _: Source.Type, orNilWhenCancelled isNil: Bool = false
  ) async throws(Failure) -> Element? {
    while true {
      if let element = await nextWaiting() { return element }
      switch takeAbsence() {
      case .end: return nil
      case .failed(let failure): throw Failure.known(failure)
      case .failedTransiently(let failure): throw Failure.known(failure)
      case .missing, .paused:
        preconditionFailure("a reader that waits came back without an answer")
      case .released:
        // Reading it is a program error; having waited for it, a cancellation.
        if let cancellation = Source.cancellation { throw Failure.known(cancellation) }
        misuse(Anchor<Element>.releasedText)
      case .cancelled:
        if let cancellation = Source.cancellation {
          noteCancellation()
          throw Failure.known(cancellation)
        }
        if isNil {
          noteCancellation()
          return nil
        }
        precondition(stopsWhenCancelled, "a reader that does not stop when cancelled was cancelled")
        stopsWhenCancelled = false
        demand.stops = false
        absence = .paused
      }
    }
  }

  @inlinable @inline(__always)
  package nonisolated(nonsending) mutating func nextOrFailure<Failure: Error>(
    _ type: Failure.Type, orNilWhenCancelled isNil: Bool = false
  ) async throws(Failure) -> Element? {
    try await nextOrFailure(type, of: type, orNilWhenCancelled: isNil)
  }

  /// The same for an iteration, which ends with `nil` if its task is cancelled and the failure cannot
  /// say so.
  // Not inlined: a loop that contains it is too large to be inlined itself, and then each element that
  // is there is awaited ("Stored").
  @inlinable @inline(never)
  package nonisolated(nonsending) mutating func nextInIteration<Failure: Error>(
    _ type: Failure.Type
  ) async throws(Failure) -> Element? {
    try await nextOrFailure(type, of: type, orNilWhenCancelled: true)
  }
}
