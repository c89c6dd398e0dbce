/// Pulls from a list ahead of those who read, in a task beside them.
///
/// The element that is demanded is pulled by the demand itself where nobody is at it, so that a cycle
/// is found as everywhere; what lies ahead is pulled by a task that begins with the demand and ends
/// when there is enough. What a pull gives is a slot: the element, or a task that makes something of
/// it.
final class Lookahead<Element: Sendable, Slot: Sendable, Failure: Error>: Sendable {
  typealias Sleeper = Waiter

  private let state: Locked<LookaheadState<Slot, Failure, Sleeper>>
  /// Pulled from by whoever moved the state to `pulling`.
  private let source: Owned<Cursor<Element, Failure>>
  /// Who pulls ahead, as others see who waits for whom.
  private let node = Locked(StepTask?.none)
  private let fill: @Sendable (Element, _ number: Int, Lookahead) -> Slot
  /// Gives a slot up that nobody will take.
  private let discard: @Sendable (Slot) -> Void

  init(
    _ list: consuming LazyList<Element, Failure>, distance: Int,
    filling fill: @escaping @Sendable (Element, _ number: Int, Lookahead) -> Slot,
    discarding discard: @escaping @Sendable (Slot) -> Void
  ) {
    state = Locked(LookaheadState(distance: distance))
    source = Owned(Cursor(list, drives: true))
    self.fill = fill
    self.discard = discard
  }

  // MARK: Demanding

  /// The next slot if it has been pulled and is ready.
  func nextNow(ifReady isReady: (Slot) -> Bool = { _ in true }) -> Slot? {
    let isAhead = StepTask.current?.isDrivenAhead == true
    let demanded = state.withLock { $0.demandNow(isAhead: isAhead, ifReady: isReady) }
    guard let (slot, pullsOn) = demanded else {
      return nil
    }
    if pullsOn { pullAhead() }
    return slot
  }

  /// The next slot. For one demand at a time.
  nonisolated(nonsending) func next() async -> Step<Slot, Failure> {
    while true {
      let isAhead = StepTask.current?.isDrivenAhead == true
      switch state.withLock({ $0.demand(isAhead: isAhead) }) {
      case .slot(let slot, let pullsOn):
        if pullsOn { pullAhead() }
        return .element(slot)
      case .pull: return await pullOnDemand(isAhead)
      case .wait(let puller):
        puller?.raise(to: Task.currentPriority)
        if let cycle = await sleep() { return .nothing(.failed(cycle.thrown())) }
      case .end: return .nothing(.end)
      case .failed(let failure): return .nothing(.failed(failure))
      case .failedTransiently(let failure): return .nothing(.failedTransiently(failure))
      case .abandoned: return .nothing(.cancelled)
      }
    }
  }

  /// Sleeps until the element is pulled. Returns the error if it never will be.
  private nonisolated(nonsending) func sleep() async -> CyclicEvaluationError? {
    let waiter = Waiter()
    guard state.withLock({ $0.sleep(waiter) }) else { return nil }
    let (list, puller) = (StepTask.current, node.withLock { $0 })
    if let list, let puller,
      let cycle = WaitForGraph.add(waiter, of: list, for: nil, on: puller, asked: nil)
    {
      WaitForGraph.remove(waiter, of: list)
      return cycle
    }
    defer { if let list { WaitForGraph.remove(waiter, of: list) } }
    return await withTaskCancellationHandler {
      _ = await waiter.park()
      return nil
    } onCancel: {
      abandon()
    }
  }

  // MARK: Pulling

  private nonisolated(nonsending) func pullOnDemand(_ isAhead: Bool) async -> Step<Slot, Failure> {
    guard let element = await source.state.nextInStep() else {
      let absence = source.state.absence
      stop(absence)
      return .nothing(absence)
    }
    let (slot, _) = filled(with: element)
    if state.withLock({ $0.pulledOnDemand(isAhead: isAhead) }) { pullAhead() }
    return .element(slot)
  }

  /// Pulls as much as there may be, in a task that has the context of the demand.
  ///
  /// It never waits for the list that it pulls ahead for; that waits for it, when a demand sleeps.
  private func pullAhead() {
    let list = StepTask.current
    let ahead = StepTask(aheadOf: list)
    node.withLock { $0 = ahead }
    let puller = Task(executorPreference: ahead) { [self] in
      while !Task.isCancelled, let element = await source.state.nextAhead(of: list) {
        let (slot, number) = filled(with: element)
        switch state.withLock({ $0.pulledAhead(slot, number) }) {
        case .kept(let pullsOn, let sleeper):
          sleeper?.wake(.retry)
          if !pullsOn { return }
        case .refused: return discard(slot)
        }
      }
      let absence = source.state.absence
      // Not kept: the cell that is missing may be this list's own, which would keep itself alive.
      source.state.absence = .paused
      if !Task.isCancelled { stop(absence) }
    }
    if !state.withLock({ $0.attach(puller) }) { puller.cancel() }
  }

  private func filled(with element: Element) -> (slot: Slot, number: Int) {
    let number = state.withLock { $0.number() }
    return (fill(element, number, self), number)
  }

  private func stop(_ absence: Absence<Failure>) {
    switch absence {
    case .end: end(with: nil)
    case .failed(let failure): end(with: failure)
    case .failedTransiently(let failure):
      state.withLock { $0.failedTransiently(failure) }?.wake(.retry)
    // The list is given up, or has failed further ahead than anybody will read.
    case .cancelled, .released: return
    case .missing, .paused: state.withLock { $0.gaveUp() }?.wake(.retry)
    }
  }

  private func end(with failure: Failure?) {
    source.state = Cursor(.empty)
    state.withLock { $0.end(with: failure) }?.wake(.retry)
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
    sleeper?.wake(.retry)
  }
}

/// Held by the list that is read; the tasks that pull ahead do not hold it.
final class LookaheadOwner<Element: Sendable, Slot: Sendable, Failure: Error>: Sendable {
  let lookahead: Lookahead<Element, Slot, Failure>

  init(_ lookahead: Lookahead<Element, Slot, Failure>) { self.lookahead = lookahead }

  deinit { lookahead.abandon() }
}

extension Task where Success == Void, Failure == Never {
  /// Raises the priority, where the platform can.
  func raise(to priority: TaskPriority) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      escalatePriority(to: priority)
    }
  }
}
