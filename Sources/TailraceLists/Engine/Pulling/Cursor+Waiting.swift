import Synchronization
import TailraceSupport

// Pulling in code that may suspend.
extension Cursor {
  /// Pulls in an asynchronous step. If there is no element, `absence` says why.
  @inlinable @inline(__always)
  package nonisolated(nonsending) mutating func nextInStep() async -> Element? {
    if let element = next() { return element }
    return await nextWaiting()
  }

  /// Pulls after a pull that gave nothing: waits for other tasks to compute the missing cells, in
  /// the caller's isolation.
  ///
  /// `nil` at the end, after a failure, and with the absence `cancelled` if the cursor stops when
  /// cancelled and would have to wait.
  ///
  /// - Parameter place: a place that is never awaited, because it waits for this cursor; if a cell
  ///   is missing there, the absence says so.
  @inlinable
  nonisolated(nonsending) mutating func nextWaiting(
    ahead place: (any AwaitedPlace)? = nil
  ) async -> Element? {
    var rounds = 0
    while true {
      let obstacle: Absence?
      switch takeAbsence() {
      case .missing(let cell):
        if cell.isTaken, rounds == 0 { fallBehind() }
        obstacle = await settle(cell, ahead: place)
        demand.hasWaited = true
      case let why: obstacle = why
      }
      // A search that gives nothing for long: it pauses, or needs one cell after the other.
      var isLong = false
      switch obstacle {
      case nil: break
      case .paused?: isLong = true
      case let obstacle?:
        absence = obstacle
        demand.hasWaited = false
        return nil
      }
      rounds += 1
      if rounds & 63 == 0 {
        isLong = true
        // Others want the thread, and the reader that runs a list's task must be able to leave.
        await Task.yield()
      }
      if isLong, isInTask, Task.isCancelled {
        absence = .cancelled
        demand.hasWaited = false
        return nil
      }
      let amount = demand.amount
      // After a pause for one element: a list that cancels its steps begins none for a demand that may have
      // other elements.
      if isLong { demand.amount = .one }
      let element = next()
      demand.amount = amount
      if let element {
        if amount == .one { demand.hasWaited = false }
        return element
      }
    }
  }

  /// Gets a missing cell computed, or waits for it. Returns the obstacle to another attempt.
  @inlinable
  nonisolated(nonsending) mutating func settle(
    _ cell: MissingCell, ahead place: (any AwaitedPlace)?
  ) async -> Absence? {
    let obstacle = cell.settleNow(stops: demand.stops)
    guard case .missing(let missing)? = obstacle else { return obstacle }
    if let place, missing.place === place { return obstacle }
    // Also if the task is cancelled: a step that it has begun learns from its leaving that nobody waits.
    let isCancellable = stopsWhenCancelled || isInTask || place != nil
    let span = Recorder.isOn ? beginWait(missing) : 0
    let reason = await missing.place.wait(
      for: missing, asked: segment.map { MissingCell($0, mark: $0.mark, .one) },
      cancellable: isCancellable)
    if span != 0 { endWait(span, reason) }
    switch reason {
    case .lookAgain, .unwaited: return nil
    // Nothing depends on look-ahead: it gives up until there is a demand.
    case .failed where place != nil: return .missing(missing)
    case .failed(let failure): return .failed(failure)
    case .released: return .released
    case .cancelled: return .cancelled
    }
  }

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
