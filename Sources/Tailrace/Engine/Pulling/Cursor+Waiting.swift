// Pulling where one may suspend.
extension Cursor {
  /// Pulls inside of an asynchronous step. Where there is no element, `absence` says why.
  @inlinable @inline(__always)
  nonisolated(nonsending) mutating func nextInStep() async -> Element? {
    if let element = next() { return element }
    return await nextWaiting()
  }

  /// Pulls after a pull that gave nothing: waits for other tasks to compute what is missing, in the
  /// isolation that it is called from.
  ///
  /// `nil` at the end, after a failure, and with the absence `cancelled` if the cursor stops when it
  /// is cancelled and would have to wait.
  ///
  /// - Parameter place: a place that is never waited for, because it waits for this cursor; where
  ///   a cell is missing there, the absence says so.
  @inlinable
  nonisolated(nonsending) mutating func nextWaiting(
    ahead place: (any MemoCells)? = nil
  ) async -> Element? {
    while true {
      switch absence {
      case .missing(let cell):
        if let interruption = await settle(cell, ahead: place) {
          absence = interruption
          return nil
        }
      case .paused:
        if isInTask, Task.isCancelled {
          absence = .cancelled
          return nil
        }
      case .end, .failed, .failedTransiently, .released, .cancelled: return nil
      }
      if let element = next() {
        if told != nil, !demand.isBulk { forgetAttempt() }
        return element
      }
    }
  }

  /// Has a missing cell computed, or waits for it. Returns what keeps the cursor from trying again.
  @inlinable
  nonisolated(nonsending) mutating func settle(
    _ cell: MissingCell, ahead place: (any MemoCells)?
  ) async -> Absence? {
    lookWhoDrives()
    let (isOutermost, told) = (demand.isOutermost, told)
    let settled: MissingCell.Settled
    if cell.isBulk, stopsWhenCancelled {
      settled = await withTaskCancellationHandler {
        cell.settleNow(isOutermost: isOutermost, telling: told)
      } onCancel: {
        cell.cells.stopComputing()
      }
    } else {
      settled = cell.settleNow(isOutermost: isOutermost, telling: told)
    }
    if let attempt = settled.attempt, let failure = remember(attempt) { return failure }
    switch settled.outcome {
    case .settled: return nil
    case .abandoned: return .released
    case .mustWait(let missing):
      if let place, missing.cells === place { return .missing(missing) }
      if isInTask, Task.isCancelled { return .cancelled }
      let isCancellable = stopsWhenCancelled || isInTask || place != nil
      switch await wait(for: missing, cancellable: isCancellable) {
      case .retry, .drive: return nil
      case .cancelled: return .cancelled
      case .failedTransiently(let failure): return remember(FailedAttempt(missing, failure))
      case .failedBehind(let attempt): return remember(attempt)
      case .abandoned: return .released
      // Nothing depends on what is pulled ahead: it gives up until there is a demand.
      case .cycle(let cycle): return place == nil ? .failed(cycle) : .missing(missing)
      }
    }
  }

  /// An attempt that the cursor has waited for failed: the next pull hands that down. Returns the failure
  /// itself if it was made here, or if the pull before handed it down in vain.
  @usableFromInline
  mutating func remember(_ attempt: FailedAttempt) -> Absence? {
    // Told at once where it was made at the cell that is wanted: the next pull could find that a later
    // attempt has succeeded.
    let isWanted = segment.map { attempt.isAt($0.place, $0.start + index) } == true
    if isWanted || told.map({ $0.isOpen && $0.isSame(as: attempt) }) == true {
      forgetAttempt()
      return .failedTransiently(attempt.failure)
    }
    keep(attempt)
    return nil
  }

  /// Holds an attempt, to be handed down. Both at once: the reference that is handed down is not counted.
  @usableFromInline
  mutating func keep(_ attempt: FailedAttempt) {
    told = attempt
    demand.budget.told = .passUnretained(attempt)
  }

  @usableFromInline
  mutating func forgetAttempt() {
    demand.budget.told = nil
    told = nil
  }

  /// Waits for a cell that somebody else brings.
  @inlinable @inline(__always)
  nonisolated(nonsending) func wait(
    for missing: MissingCell, cancellable: Bool
  ) async -> ResumeReason {
    let span = Recorder.isOn ? beginWait(missing) : 0
    let wake = await missing.cells.wait(for: missing, asked: segment, cancellable: cancellable)
    if span != 0 { endWait(span, wake) }
    return wake
  }
}
