public import Synchronization

// Pulling where one may suspend.
extension Cursor {
  /// Pulls inside of a flight, for the operators whose closures are asynchronous.
  @inlinable
  nonisolated(nonsending) mutating func nextInFlight() async throws(Interruption<Failure>)
    -> Element?
  {
    while true {
      // A flight is cancelled when nobody can read what it would find.
      if Task.isCancelled { throw .cancelled }
      do throws(Interruption<Failure>) {
        return try next()
      } catch {
        guard case .waiting(let obstacle) = error else { throw error }
        try await clear(obstacle)
      }
    }
  }

  @inlinable
  nonisolated(nonsending) func clear(_ obstacle: Obstacle) async throws(Interruption<Failure>) {
    switch obstacle.settleNow() {
    case .settled: return
    case .failedTransiently(let failure): throw .failedTransiently(known(failure))
    case .mustSuspend, .blocked: break
    }
    switch await obstacle.blocker.settle(obstacle.mark) {
    case .retry: return
    case .cancelled: throw .cancelled
    case .failedTransiently(let failure): throw .failedTransiently(known(failure))
    case .cycle(let cycle): throw .failed(cycle.thrown())
    }
  }

  /// Pulls for a reader: waits for what other tasks compute, in the isolation it is called from.
  ///
  /// Throws `cancelled` if the cursor stops when cancelled and would have to wait.
  @inlinable
  nonisolated(nonsending) mutating func nextWaiting(
    after interruption: Interruption<Failure>
  ) async throws(Interruption<Failure>) -> Element? {
    var interruption = interruption
    while true {
      guard case .waiting(let obstacle) = interruption else { throw interruption }
      putBack()
      // The cursor has just tried the cell of its own list.
      switch obstacle.blocker === segment ? .mustSuspend : obstacle.settleNow() {
      case .settled: break
      case .failedTransiently(let failure): throw .failedTransiently(known(failure))
      case .mustSuspend, .blocked: try await wait()
      }
      do throws(Interruption<Failure>) {
        return try next()
      } catch {
        interruption = error
      }
    }
  }

  /// Waits for the cell at the front of the cursor's own list.
  @inlinable @inline(__always)
  nonisolated(nonsending) func wait() async throws(Interruption<Failure>) {
    guard let segment else { return }
    let word = segment.published.load(ordering: .acquiring)
    guard word & 1 == 0, index >= word >> 1 else { return }
    switch await segment.wait(word, cancellable: stopsWhenCancelled) {
    case .retry: return
    case .cancelled: throw .cancelled
    case .failedTransiently(let failure): throw .failedTransiently(known(failure))
    case .cycle(let cycle): throw .failed(cycle.thrown())
    }
  }

  /// The failure of a list that this one is made of. Stages pass failures on unchanged, so it is of
  /// this list's type, or one that the list widened.
  @inlinable
  func known(_ failure: any Error) -> Failure {
    guard let failure = failure as? Failure else {
      fatalError("a LazyList that fails with \(Failure.self) was given \(failure)")
    }
    return failure
  }
}
