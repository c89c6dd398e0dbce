import TailraceSupport

// The cells of a list, as a place where a reader may have to wait.
extension Segment: AwaitedPlace {
  /// The evaluator, which numbers the cells of all its segments.
  @usableFromInline var identity: AnyObject { evaluator ?? self }
  @usableFromInline var title: Title { evaluator?.title ?? "LazyList<\(Element.self)>" }
  @usableFromInline func position(of mark: Published) -> Int { start + mark.count }
  @usableFromInline func isMissing(_ mark: Published) -> Bool {
    self.mark == mark
  }

  /// The position up to which a demand computes: that of the next cell; or for all, the end of this
  /// segment, or of the next one if this one is full.
  @inlinable
  func end(after mark: Published, _ amount: Amount) -> Int {
    guard amount == .all else { return start + mark.count + 1 }
    return start + capacity + (mark.count == capacity ? Capacity<Element>.following(capacity) : 0)
  }

  private var task: ListTask<Element>? { evaluator?.task }
  /// Not of a list whose unwaited steps are cancelled: a reader that runs its job would not be known
  /// to wait.
  @usableFromInline var executor: StepExecutor? {
    task.flatMap { $0.cancelsUnwaited ? nil : $0.executor }
  }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand, _ absence: inout Absence) -> DemandOutcome {
    guard isMissing(cell.mark) else {
      departs(cell)
      return .new
    }
    guard cell.attempt == 0 else {
      // The reader has already begun an attempt.
      absence = .missing(cell)
      return .nothing
    }
    guard let evaluator else {
      absence = .released
      return .nothing
    }
    var demand = demand
    demand.amount = cell.amount
    // This code is not specialised: a plain step makes room for an element of unknown size, which an
    // asynchronous one does not need.
    let outcome =
      if let task = evaluator.task {
        evaluator.demand(self, after: cell.mark, demand, of: task, &absence)
      } else {
        evaluator.demand(self, after: cell.mark, demand, mayRunTask: true, &absence)
      }
    if case .nothing = outcome, case .missing(let other) = absence, other.place === self,
      evaluator.isAbandoned
    {
      absence = .released
    }
    return outcome
  }

  @usableFromInline
  func goOn(_ cell: MissingCell, _ absence: inout Absence) -> DemandOutcome {
    guard let task else { return .new }
    return task.goOn(self, after: cell.mark, cell.amount, &absence)
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
    for cell: MissingCell, asked: MissingCell?, inStep: Bool, cancellable: Bool
  ) async -> ResumeReason {
    let reason = await waitOnce(for: cell, asked: asked, inStep: inStep, cancellable: cancellable)
    if case .takeJob = reason { return reason }
    // If the cell exists now, the reason belongs to another step.
    return isMissing(cell.mark) ? reason : .lookAgain
  }

  /// Waits until anything is new, even if everything is wanted: the next step may wait for this
  /// reader to have seen it.
  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    guard let evaluator else { return .released }
    let next = end(after: cell.mark, .one)
    let reason = evaluator.enter(waiter, until: next, attempt: cell.attempt) {
      !isMissing(cell.mark)
    }
    if reason != nil { departs(cell) }
    return reason
  }

  @usableFromInline
  func departs(_ cell: MissingCell) {
    guard cell.attempt != 0, let evaluator, evaluator.task?.cancelsUnwaited == true else { return }
    evaluator.departs(attempt: cell.attempt)
  }

  @usableFromInline var tellsUnwaited: Bool {
    task?.executor.tellsUnwaited.load(ordering: .relaxed) ?? false
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { evaluator?.leave(waiter) }

  @usableFromInline
  func raise(to priority: TaskPriority) { task?.executor.raise(to: priority) }

  @usableFromInline var awaitedWorker: (any Worker)? { task?.executor }
}
