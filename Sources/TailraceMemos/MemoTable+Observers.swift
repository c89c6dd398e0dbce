// How many callers want the result of a computation. Without `cancelsUnobservedSteps` nothing here does
// anything.

extension MemoTable {
  /// A demand was answered. Whoever gets a pending computation waits for it.
  @_alwaysEmitIntoClient
  mutating func observe(_ key: Key, _ answer: Answer) {
    switch answer {
    case .value, .failure: break
    case .pending, .due: observe(key)
    }
  }

  /// A computation in progress was asked for, by a caller that waits for it, or in the background. The
  /// background never leaves.
  @_alwaysEmitIntoClient
  mutating func observe(_ key: Key) {
    // A key that does not equal itself has no slot: only its caller retains its computation.
    guard observers != nil, let place = slots.place(of: key) else { return }
    observers?[place] += 1
  }

  /// A new computation of a slot begins: nobody wants its result yet.
  @_alwaysEmitIntoClient
  mutating func resetObservers(of place: Int) {
    guard let count = observers?.count else { return }
    // Values that came beside others have slots without a computation.
    for _ in count..<max(count, place + 1) { observers?.append(0) }
    observers?[place] = 0
  }

  /// A caller stops waiting for a computation, which may have ended, or may not be that of its key any more.
  /// The computation is given up if nobody else wants its result: the key is as if it had not been asked for.
  @_alwaysEmitIntoClient
  mutating func leave(_ key: Key, _ cell: Cell, _ leavings: inout Leavings) {
    guard observers != nil, let place = slots.place(of: key), isComputing(place, cell) else {
      return
    }
    observers?[place] -= 1
    guard observers?[place] == 0 else { return }
    switch slots[place] {
    case .computing: remove(place, &leavings)
    case .renewing(let renewal): restore(place, renewal, &leavings)
    case .none, .value, .failure: break
    }
  }

  @_alwaysEmitIntoClient
  func isComputing(_ place: Int, _ cell: Cell) -> Bool {
    switch slots[place] {
    case .computing(let present): present === cell
    case .renewing(let renewal): renewal.cell === cell
    case .none, .value, .failure: false
    }
  }
}
