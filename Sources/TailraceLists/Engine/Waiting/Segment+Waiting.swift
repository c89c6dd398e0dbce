import TailraceSupport

// The cells of a list, as a place where a reader may have to wait.
extension Segment: AwaitedPlace {
  /// The evaluator, which numbers the cells of all its segments; or its asynchronous steps, which
  /// number their elements in the same way.
  @usableFromInline var identity: AnyObject {
    guard let evaluator else { return self }
    return evaluator.steps ?? evaluator
  }
  @usableFromInline var title: Title { evaluator?.title ?? "LazyList<\(Element.self)>" }
  @usableFromInline func position(of mark: Published) -> Int { start + mark.count }
  @usableFromInline func isMissing(_ cell: MissingCell) -> Bool { isMissing(cell.mark) }
  @usableFromInline func isMissing(_ mark: Published) -> Bool {
    self.mark == mark
  }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand, _ absence: inout Absence) -> Bool {
    guard isMissing(cell.mark) else { return true }
    guard let evaluator else {
      absence = .released
      return false
    }
    var demand = demand
    demand.amount = cell.amount
    if evaluator.demand(self, after: cell.mark, demand, &absence) { return true }
    if case .missing(let other) = absence, other.place === self, evaluator.isAbandoned {
      absence = .released
    }
    return false
  }

  @usableFromInline
  func fail(_ mark: Published, with cycle: CyclicEvaluationError) {
    guard let evaluator, let held = evaluator.claim.take() else { return }
    var done: Producer<Element>?
    if isMissing(mark) {
      close(.failed(cycle), at: mark)
      done = evaluator.producer.take()
    }
    evaluator.letGo(held)
    // Released when the claim is free, and in a loop: it may be the last of a chain.
    if let done { ReleaseQueue.release(Leftover(done)) }
  }

  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: MissingCell?, cancellable: Bool
  ) async -> ResumeReason {
    let reason = await waitOnce(for: cell, asked: asked, cancellable: cancellable)
    // If the cell exists now, the reason belongs to another step.
    return isMissing(cell.mark) ? reason : .lookAgain
  }

  /// Waits until the claim is free.
  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    guard let evaluator else { return .released }
    return evaluator.enter(waiter)
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { evaluator?.leave(waiter) }

  /// The holder of the claim may drive a step.
  @usableFromInline var raised: (any Raised)? { evaluator?.steps?.executor }

  @usableFromInline var awaitedWorker: (any Worker)? { evaluator?.steps?.executor }
}
