import Synchronization

/// A place whose contents arrive by themselves: no demand can compute them, nor give them up.
///
/// The mark of a cell there is the number taken before.
@usableFromInline
protocol AwaitedPlace: MemoCells {
  /// False if there is something new to check.
  func enter(_ waiter: Waiter, _ mark: Published) -> Bool
  func leave(_ waiter: Waiter)
  /// A task of this priority waits.
  func raise(to priority: TaskPriority)
  /// The worker that brings the contents, if it is known.
  var awaitedWorker: (any Worker)? { get }
  /// Whether the contents mostly arrive soon; `nil` if asking does not pay.
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
    // A reader on an actor would have to return to it.
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

/// Whether the awaited contents are mostly there after all ready tasks have run once. Waiting for
/// that costs less than a wake-up.
@usableFromInline
final class YieldHeuristic: Sendable {
  /// How often in a row they were not, or the attempt was skipped.
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
