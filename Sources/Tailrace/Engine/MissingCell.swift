/// A cell that is not there yet: what a pull came back for.
///
/// Whoever pulled gives up all claims on the way out. The reader at the top then has the cell computed
/// or waits for it, in its own task, and tries again.
@usableFromInline
struct MissingCell: Sendable {
  @usableFromInline let cells: any MemoCells
  /// What had been published when it was missed. It keeps a late attempt from evaluating an element
  /// that nobody demanded: when there is more meanwhile, there is nothing to do.
  @usableFromInline let mark: Published
  /// All elements are wanted: a segment of them may be computed at once.
  @usableFromInline let isBulk: Bool

  @inlinable
  init(_ cells: any MemoCells, mark: Published, isBulk: Bool) {
    self.cells = cells
    self.mark = mark
    self.isBulk = isBulk
  }

  @usableFromInline
  enum Attempt {
    /// There is something new to see.
    case settled
    /// Another cell has to come first.
    case blocked(MissingCell)
    /// Somebody computes it.
    case mustWait
    /// It failed, and left nothing behind; a later attempt may succeed.
    case failedTransiently(any Error)
    /// It was given up when nobody could read it.
    case abandoned
  }

  /// Has the cell computed without suspending, where that is possible, from the top of the stack.
  ///
  /// A chain of stages that is deeper than its budget unwinds to here, and each piece of it is then
  /// evaluated by this loop instead of by recursion. Returns what it is that must be waited for.
  @usableFromInline
  func settleNow(isOutermost: Bool) -> (attempt: Attempt, cell: MissingCell) {
    var demand = Demand()
    demand.isOutermost = isOutermost
    // Mostly there is one cell, and then this allocates nothing.
    let attempt = cells.attempt(self, demand)
    guard case .blocked(let deeper) = attempt else { return (attempt, self) }
    var stack = [self, deeper]
    while let top = stack.last {
      let attempt = top.cells.attempt(top, demand)
      switch attempt {
      case .settled:
        stack.removeLast()
      case .mustWait, .failedTransiently, .abandoned: return (attempt, top)
      case .blocked(let deeper):
        guard let first = stack.firstIndex(where: { $0.isSame(as: deeper) }) else {
          stack.append(deeper)
          continue
        }
        // A cell that waits for itself by way of lists that were evaluated inline: it is gone
        // through once more in small steps, so that each of them can be named.
        if demand.budget == fullBudget {
          demand.budget = 2
          stack = [deeper]
          continue
        }
        let path = stack[first...].map(\.cells.title)
        deeper.cells.fail(
          deeper.mark, with: CyclicEvaluationError(lists: path, position: deeper.position))
        return (.settled, deeper)
      }
    }
    return (.settled, self)
  }

  private func isSame(as other: MissingCell) -> Bool {
    cells === other.cells && mark == other.mark
  }

  var position: Int { cells.position(of: mark) }
}

/// The front of a list, where its next cell will be.
@usableFromInline
protocol MemoCells: AnyObject, Sendable {
  /// The task that computes the cells, if their steps are asynchronous.
  var task: StepTask? { get }
  /// What errors call the list.
  var title: String { get }
  func position(of mark: Published) -> Int
  func isMissing(_ mark: Published) -> Bool
  /// Tries to have a cell computed without suspending.
  func attempt(_ cell: MissingCell, _ demand: Demand) -> MissingCell.Attempt
  /// Waits until a cell is there, or something else has changed. `seeker` is the list that was asked
  /// first.
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
  ) async -> Wake
  /// A driver does not want the rest of a segment any more: the step in flight is the last.
  func stopComputing()
  /// Remembers an element that needs itself as a failure.
  func fail(_ mark: Published, with cycle: CyclicEvaluationError)
}
