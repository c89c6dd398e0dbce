/// Pulls from a list ahead of those who read, in a task beside them.
///
/// The element that is demanded is pulled by the demand itself where nobody is at it, so that a cycle
/// is found as everywhere; what lies ahead is pulled by a task that begins with the demand and ends
/// when there is enough. What a pull gives is a slot: the element, or a task that makes something of
/// it.
final class Lookahead<Element: Sendable, Slot: Sendable, Failure: Error>: Sendable {
  typealias Sleeper = UnsafeContinuation<Void, Never>

  private let state: Locked<LookaheadState<Slot, Failure, Sleeper>>
  /// Pulled from by whoever moved the state to `pulling`.
  private let source: Owned<Cursor<Element, Failure>>
  private let fill: @Sendable (Element, _ number: Int, Lookahead) -> Slot
  /// Gives a slot up that nobody will take.
  private let discard: @Sendable (Slot) -> Void

  init(
    _ list: consuming LazyList<Element, Failure>, distance: Int,
    filling fill: @escaping @Sendable (Element, _ number: Int, Lookahead) -> Slot,
    discarding discard: @escaping @Sendable (Slot) -> Void
  ) {
    state = Locked(LookaheadState(distance: distance))
    source = Owned(Cursor(list))
    self.fill = fill
    self.discard = discard
  }

  // MARK: Demanding

  /// The next slot if it has been pulled and is ready.
  func nextNow(ifReady isReady: (Slot) -> Bool = { _ in true }) -> Slot? {
    guard let (slot, pullsOn) = state.withLock({ $0.demandNow(ifReady: isReady) }) else {
      return nil
    }
    if pullsOn { pullAhead() }
    return slot
  }

  /// The next slot, `nil` at the end. For one demand at a time.
  nonisolated(nonsending) func next() async throws(Interruption<Failure>) -> Slot? {
    while true {
      switch state.withLock({ $0.demand() }) {
      case .slot(let slot, let pullsOn):
        if pullsOn { pullAhead() }
        return slot
      case .pull: return try await pullOnDemand()
      case .wait(let puller):
        puller?.raise(to: Task.currentPriority)
        await sleep()
      case .end: return nil
      case .failed(let failure): throw .failed(failure)
      case .failedTransiently(let failure): throw .failedTransiently(failure)
      case .abandoned: throw .cancelled
      }
    }
  }

  private nonisolated(nonsending) func sleep() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        if !state.withLock({ $0.sleep(continuation) }) { continuation.resume() }
      }
    } onCancel: {
      abandon()
    }
  }

  // MARK: Pulling

  private nonisolated(nonsending) func pullOnDemand() async throws(Interruption<Failure>) -> Slot? {
    do throws(Interruption<Failure>) {
      guard let slot = try await pull()?.slot else { return nil }
      if state.withLock({ $0.pulledOnDemand() }) { pullAhead() }
      return slot
    } catch {
      stop(error)
      throw error
    }
  }

  /// Pulls as much as there may be, in a task that has the context of the demand.
  private func pullAhead() {
    let puller = Task {
      do throws(Interruption<Failure>) {
        while let (slot, number) = try await pull() {
          switch state.withLock({ $0.pulledAhead(slot, number) }) {
          case .kept(let pullsOn, let sleeper):
            sleeper?.resume()
            if !pullsOn { return }
          case .refused: return discard(slot)
          }
        }
      } catch {
        stop(error)
      }
    }
    if !state.withLock({ $0.attach(puller) }) { puller.cancel() }
  }

  private nonisolated(nonsending) func pull() async throws(Interruption<Failure>) -> (
    slot: Slot, number: Int
  )? {
    guard let element = try await source.state.nextInFlight() else {
      end(with: nil)
      return nil
    }
    let number = state.withLock { $0.number() }
    return (fill(element, number, self), number)
  }

  private func stop(_ interruption: Interruption<Failure>) {
    switch interruption {
    case .failed(let failure): end(with: failure)
    case .failedTransiently(let failure):
      state.withLock { $0.failedTransiently(failure) }?.resume()
    // The list is given up, or has failed further ahead than anybody will read.
    case .cancelled: return
    case .waiting: preconditionFailure("a pull that waits came back without an answer")
    }
  }

  private func end(with failure: Failure?) {
    source.state = Cursor(.empty)
    state.withLock { $0.end(with: failure) }?.resume()
  }

  // MARK: Stopping

  /// What was made of an element failed: what runs ahead of it is cancelled.
  func failed(_ number: Int) {
    let (slots, puller) = state.withLock { $0.failed(number) }
    puller?.cancel()
    for slot in slots { discard(slot) }
  }

  /// Nobody can read any more.
  func abandon() {
    let (slots, puller, sleeper) = state.withLock { $0.abandon() }
    puller?.cancel()
    for slot in slots { discard(slot) }
    sleeper?.resume()
  }
}

/// Held by the list that is read; the tasks that pull ahead do not hold it.
final class LookaheadOwner<Element: Sendable, Slot: Sendable, Failure: Error>: Sendable {
  let lookahead: Lookahead<Element, Slot, Failure>

  init(_ lookahead: Lookahead<Element, Slot, Failure>) { self.lookahead = lookahead }

  deinit { lookahead.abandon() }
}
