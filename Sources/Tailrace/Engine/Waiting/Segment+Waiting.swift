// The cells of a list, as what a reader may have to wait for.
extension Segment: MemoCells {
  /// The evaluator's identity; the evaluator numbers the cells of all its segments.
  @usableFromInline var place: ObjectIdentifier {
    source.evaluator.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self)
  }

  /// The position up to which a bulk demand computes: the end of this segment, or of the next.
  @inlinable
  func end(after mark: Published) -> Int {
    start + capacity + (mark.count == capacity ? Capacity<Element>.following(capacity) : 0)
  }

  @usableFromInline var task: StepTask? { source.evaluator?.task }
  @usableFromInline var title: String { source.evaluator?.title ?? "LazyList<\(Element.self)>" }
  @usableFromInline func position(of mark: Published) -> Int { start + mark.count }
  @usableFromInline func isMissing(_ mark: Published) -> Bool {
    published.load(ordering: .acquiring) == mark
  }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand) -> MissingCell.Attempt {
    guard isMissing(cell.mark) else { return .settled(nil) }
    // The reader has already begun an attempt.
    if cell.attempt != 0 { return .mustWait(cell) }
    guard let evaluator = source.evaluator else { return .abandoned }
    var absence = Absence.end
    let outcome =
      if let task = evaluator.task {
        evaluator.demand(
          self, after: cell.mark, of: task, isBulk: cell.isBulk, isOutermost: demand.isOutermost,
          &absence)
      } else {
        evaluator.demand(
          self, after: cell.mark, Demand(budget: demand.budget, isBulk: cell.isBulk), drives: false,
          &absence)
      }
    switch outcome {
    case .new: return .settled(nil)
    case .failedBehind(let attempt): return .settled(attempt)
    case .nothing: break
    }
    switch absence {
    case .missing(let other) where other.cells === self:
      return evaluator.isAbandoned ? .abandoned : .mustWait(other)
    case .missing(let other): return .blocked(other)
    case .failedTransiently(let failure): return .failedTransiently(failure)
    case .released: return .abandoned
    case .end, .failed, .cancelled, .paused: return .settled(nil)
    }
  }

  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
  ) async -> ResumeReason {
    guard let evaluator = source.evaluator else { return .abandoned }
    var cell = cell
    while true {
      switch await wait(for: cell, of: evaluator, asked: asked, cancellable: cancellable) {
      case .over(let reason):
        // If the cell exists now, the reason belongs to another step.
        if case .failedBehind = reason { return reason }
        return isMissing(cell.mark) ? reason : .retry
      case .suspended(let attempt):
        guard isMissing(cell.mark) else { return .retry }
        // It waits for the same attempt: a new pull could find that attempt failed, and begin another.
        cell = MissingCell(self, mark: cell.mark, isBulk: cell.isBulk, attempt: attempt)
      }
    }
  }

  private nonisolated(nonsending) func wait(
    for cell: MissingCell, of evaluator: Evaluator<Element>, asked: (any MemoCells)?,
    cancellable: Bool
  ) async -> Evaluator<Element>.Waited {
    let waiter = Waiter()
    // Until anything is new, even if everything is wanted: the next step may wait for this reader
    // to have seen it.
    let next = position(of: cell.mark) + 1
    let entrance = evaluator.enter(waiter, until: next, attempt: cell.attempt) { [self] in
      !isMissing(cell.mark)
    }
    switch entrance {
    case .entered: break
    case .over: return .over(.retry)
    case .abandoned: return .over(.abandoned)
    case .failed(let failure): return .over(.failedTransiently(failure))
    }
    defer { evaluator.leave(waiter) }
    guard let task = evaluator.task else {
      return .over(await waiter.wait(cancellable: cancellable))
    }
    task.raise(to: Task.currentPriority)
    let executor = StepTask.preferredExecutor
    let node = WorkerToken.runningWorker
    if let node,
      let cycle = WaitForGraph.add(waiter, of: node, for: cell, on: task, asked: asked)
    {
      return .over(.cycle(cycle))
    }
    defer { if let node { WaitForGraph.remove(waiter, of: node) } }
    // A reader may drive on if the step may go on here: not on an actor, nor in a step of its own.
    let isExpecting = node == nil && #isolation == nil && task.expect(waiter, preferring: executor)
    let reason = await waiter.wait(cancellable: cancellable) { task.raise(to: $0) }
    guard isExpecting else { return .over(reason) }
    if case .drive = reason {
      let wanted = cell.isBulk ? end(after: cell.mark) : next
      return evaluator.driveOn(task, wanting: wanted, isBulk: cell.isBulk) { [self] in
        !isMissing(cell.mark)
      }
    }
    task.stopExpecting()
    return .over(reason)
  }

  @usableFromInline
  func stopComputing() { source.evaluator?.task?.wanted.store(0, ordering: .relaxed) }

  @usableFromInline
  func fail(_ mark: Published, with cycle: CyclicEvaluationError) {
    guard let evaluator = source.evaluator, evaluator.claim.take() else { return }
    if isMissing(mark) { close(.failed(cycle), at: mark) }
    evaluator.letGo()
  }
}
