import TailraceSupport

/// Tasks that rise to the priority of those who wait for them.
///
/// It is asked in an escalation handler, under a lock of the waiting task. So it holds no reference to a list:
/// nothing of a user's may be released there.
@usableFromInline
protocol Raised: AnyObject, Sendable {
  /// A task of this priority waits.
  func raise(to priority: TaskPriority)
}

/// A place where a cell may be missing, and be waited for: the front of a list, an element that is
/// pulled ahead, or a closure that runs beside others.
@usableFromInline
protocol AwaitedPlace: AnyObject, Sendable {
  /// Stands for the list whose elements arrive here.
  var identity: AnyObject { get }
  /// The list's name in errors.
  var title: Title { get }
  func position(of mark: Published) -> Int
  func isMissing(_ cell: MissingCell) -> Bool

  /// Tries to get a cell computed without suspending. False if there is nothing new; `absence` says why:
  /// if a cell is missing here, another task computes it.
  func attempt(_ cell: MissingCell, _ demand: Demand, _ absence: inout Absence) -> Bool
  /// Remembers an element that needs itself as a failure.
  func fail(_ mark: Published, with cycle: CyclicEvaluationError)

  /// Waits until a cell is there, or something else has changed.
  ///
  /// - Parameter asked: the cell that the reader wants, perhaps of another list.
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: MissingCell?, cancellable: Bool
  ) async -> ResumeReason
  /// A waiter waits for a cell. Returns why it must not; `nil` if it waits.
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason?
  func leave(_ waiter: Waiter)
  /// What brings the cell, to be raised to the priority of those who wait. A plain step has none: it runs in
  /// the task of a reader.
  var raised: (any Raised)? { get }
  /// The worker that brings the cell, if it is known. A plain step has none: it never waits.
  var awaitedWorker: (any Worker)? { get }
}

extension AwaitedPlace {
  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: MissingCell?, cancellable: Bool
  ) async -> ResumeReason {
    await waitOnce(for: cell, asked: asked, cancellable: cancellable)
  }

  nonisolated(nonsending) func waitOnce(
    for cell: MissingCell, asked: MissingCell?, cancellable: Bool
  ) async -> ResumeReason {
    let waiter = Waiter()
    if let reason = enter(waiter, for: cell) { return reason }
    defer { leave(waiter) }
    return await park(waiter, for: cell, asked: asked, cancellable: cancellable)
  }

  /// Waits until the waiter, which has entered, is woken.
  nonisolated(nonsending) func park(
    _ waiter: Waiter, for cell: MissingCell, asked: MissingCell?, cancellable: Bool
  ) async -> ResumeReason {
    let mark = Exploring.waits(
      for: Exploring.Wait("element \(cell.position) of ", title.text, identity))
    defer { mark?.end() }
    guard let raised else { return await waiter.wait(cancellable: cancellable) }
    let worker = awaitedWorker
    let node = worker == nil ? nil : WorkerToken.runningWorker
    if let worker, let node,
      let cycle = WaitForGraph.add(waiter, of: node, for: cell, on: worker, asked: asked)
    {
      return .failed(cycle)
    }
    defer { if let node { WaitForGraph.remove(waiter, of: node) } }
    return await waiter.wait(cancellable: cancellable) { raised.raise(to: $0) }
  }
}

// A place whose contents arrive by themselves: no demand can compute them, nor give them up. The
// mark of a cell there is the number taken before.
extension AwaitedPlace {
  @usableFromInline var identity: AnyObject { self }

  @usableFromInline
  func position(of mark: Published) -> Int { mark.count }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand, _ absence: inout Absence) -> Bool {
    guard isMissing(cell) else { return true }
    absence = .missing(cell)
    return false
  }

  @usableFromInline
  func fail(_ mark: Published, with cycle: CyclicEvaluationError) {}

  /// The step that waits for what arrives next here.
  @_alwaysEmitIntoClient
  func missing<Output>(after number: Int, _ demand: Demand) -> Step<Output> {
    .nothing(.missing(MissingCell(self, mark: Published(count: number), demand.amount)))
  }
}
