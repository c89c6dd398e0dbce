// Pulling in code that may suspend.
extension Cursor {
  /// Pulls in an asynchronous step. If there is no element, `absence` says why.
  @inlinable @inline(__always)
  nonisolated(nonsending) mutating func nextInStep() async -> Element? {
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

  /// Gets a missing cell computed, or waits for it. Returns the obstacle to another attempt.
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
      // Nothing depends on look-ahead: it gives up until there is a demand.
      case .cycle(let cycle): return place == nil ? .failed(cycle) : .missing(missing)
      }
    }
  }

  /// An attempt that the cursor has waited for failed: the next pull passes it down. Returns the
  /// failure itself if it was made here, or if the previous pull passed it down in vain.
  @usableFromInline
  mutating func remember(_ attempt: FailedAttempt) -> Absence? {
    // Told at once if it was made at the wanted cell: the next pull could find that a later attempt
    // has succeeded.
    let isWanted = segment.map { attempt.isAt($0.place, $0.start + index) } == true
    if isWanted || told.map({ $0.isOpen && $0.isSame(as: attempt) }) == true {
      forgetAttempt()
      return .failedTransiently(attempt.failure)
    }
    keep(attempt)
    return nil
  }

  /// Retains an attempt to pass down. Both at once: the reference passed down is not counted.
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

  /// Waits for a cell that another task brings.
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
