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
        // Others want the thread.
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
}
