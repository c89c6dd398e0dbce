// Pulling where one may suspend.
extension Cursor {
  /// Pulls inside of an asynchronous step. Where there is no element, `absence` says why.
  @inlinable @inline(__always)
  nonisolated(nonsending) mutating func nextInStep() async -> Element? {
    if let element = next() { return element }
    return await nextWaiting()
  }

  /// Pulls ahead of the demands of a list, which wait at `place`. It does not wait there itself, and
  /// comes back with what is missing.
  @inlinable
  nonisolated(nonsending) mutating func nextAhead(of place: any MemoCells) async -> Element? {
    while true {
      if let element = next() { return element }
      switch absence {
      case .missing(let cell):
        let (attempt, top) = cell.settleNow(isOutermost: false)
        switch attempt {
        case .settled, .blocked: continue
        case .abandoned: absence = .cancelled
        case .failedTransiently(let failure): absence = .failedTransiently(failure)
        case .mustWait:
          guard top.cells !== place else {
            absence = .missing(top)
            return nil
          }
          switch await wait(for: top, cancellable: true) {
          case .retry, .drive: continue
          case .cancelled, .abandoned: absence = .cancelled
          case .failedTransiently(let failure) where top.isCaught(failure): continue
          case .failedTransiently(let failure): absence = .failedTransiently(failure)
          case .cycle: absence = .missing(top)
          }
        }
      case .paused: continue
      case .end, .failed, .failedTransiently, .released, .cancelled: break
      }
      return nil
    }
  }

  /// Waits for a cell that somebody else brings.
  @inlinable @inline(__always)
  nonisolated(nonsending) func wait(for missing: MissingCell, cancellable: Bool) async
    -> ResumeReason
  {
    let span = Recorder.isOn ? beginWait(missing) : 0
    let wake = await missing.cells.wait(for: missing, asked: segment, cancellable: cancellable)
    if span != 0 { endWait(span, wake) }
    return wake
  }

  /// Pulls after a pull that gave nothing: waits for what other tasks compute, in the isolation that
  /// it is called from.
  ///
  /// `nil` at the end, after a failure, and with the absence `cancelled` if the cursor stops when it
  /// is cancelled and would have to wait.
  @inlinable
  nonisolated(nonsending) mutating func nextWaiting() async -> Element? {
    while true {
      switch absence {
      case .missing(let cell):
        if let interruption = await settle(cell) {
          absence = interruption
          return nil
        }
      case .paused: break
      case .end, .failed, .failedTransiently, .released, .cancelled: return nil
      }
      if let element = next() { return element }
    }
  }

  /// Has a missing cell computed, or waits for it. Returns what keeps the cursor from trying again.
  @inlinable
  nonisolated(nonsending) mutating func settle(_ cell: MissingCell) async -> Absence? {
    lookWhoDrives()
    let isOutermost = demand.isOutermost
    let attempted: (attempt: MissingCell.Attempt, cell: MissingCell)
    if cell.isBulk, stopsWhenCancelled {
      attempted = await withTaskCancellationHandler {
        cell.settleNow(isOutermost: isOutermost)
      } onCancel: {
        cell.cells.stopComputing()
      }
    } else {
      attempted = cell.settleNow(isOutermost: isOutermost)
    }
    switch attempted.attempt {
    case .settled, .blocked: return nil
    case .failedTransiently(let failure): return .failedTransiently(failure)
    case .abandoned: return .released
    case .mustWait:
      let missing = attempted.cell
      switch await wait(for: missing, cancellable: stopsWhenCancelled) {
      case .retry, .drive: return nil
      case .cancelled: return .cancelled
      case .failedTransiently(let failure) where missing.isCaught(failure): return nil
      case .failedTransiently(let failure): return .failedTransiently(failure)
      case .abandoned: return .released
      case .cycle(let cycle): return .failed(cycle)
      }
    }
  }
}
