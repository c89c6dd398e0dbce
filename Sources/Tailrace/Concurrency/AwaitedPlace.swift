import Synchronization

/// A place where something comes by itself: no demand can compute it, nor give it up.
///
/// The mark of a cell there counts what was taken before.
@usableFromInline
protocol AwaitedPlace: MemoCells {
  /// False if there is something new to look at.
  func enter(_ waiter: Waiter, _ mark: Published) -> Bool
  func leave(_ waiter: Waiter)
  /// Somebody of this priority waits.
  func raise(to priority: TaskPriority)
  /// Who brings what comes here, if that is known.
  var awaitedWorker: (any Worker)? { get }
  /// Whether what comes here mostly comes soon; `nil` where it does not pay to ask.
  var yieldHeuristic: YieldHeuristic? { get }
}

extension AwaitedPlace {
  @usableFromInline var place: ObjectIdentifier { ObjectIdentifier(self) }

  @usableFromInline
  func position(of mark: Published) -> Int { mark.count }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand) -> MissingCell.Attempt {
    isMissing(cell.mark) ? .mustWait(cell) : .settled(nil)
  }

  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
  ) async -> ResumeReason {
    // A reader on an actor would have to come back to it.
    let isolation: (any Actor)? = #isolation
    if isolation == nil, let yieldHeuristic, yieldHeuristic.isWorthTrying {
      await Task.yield()
      let isThere = !isMissing(cell.mark)
      yieldHeuristic.note(isThere)
      if isThere { return .retry }
    }
    let waiter = Waiter()
    guard enter(waiter, cell.mark) else { return .retry }
    defer { leave(waiter) }
    let worker = awaitedWorker
    let node = worker == nil ? nil : WorkerToken.runningWorker
    if let node, let worker,
      let cycle = WaitForGraph.add(waiter, of: node, for: cell, on: worker, asked: asked)
    {
      return .cycle(cycle)
    }
    defer { if let node { WaitForGraph.remove(waiter, of: node) } }
    raise(to: Task.currentPriority)
    return await waiter.wait(cancellable: cancellable) { raise(to: $0) }
  }

  @usableFromInline
  func stopComputing() {}

  @usableFromInline
  func fail(_ mark: Published, with cycle: CyclicEvaluationError) {}
}

/// Whether what is waited for is mostly there after all that is ready to run has had its turn. To wait
/// for that costs less than to be woken.
@usableFromInline
final class YieldHeuristic: Sendable {
  /// How often in a row it was not, or was not tried.
  private let misses = Atomic(0)

  @usableFromInline
  init() {}

  var isWorthTrying: Bool {
    let misses = misses.load(ordering: .relaxed)
    if misses < 4 || misses & 31 == 0 { return true }
    note(false)
    return false
  }

  func note(_ isThere: Bool) {
    if isThere {
      misses.store(0, ordering: .relaxed)
    } else {
      misses.wrappingAdd(1, ordering: .relaxed)
    }
  }
}
