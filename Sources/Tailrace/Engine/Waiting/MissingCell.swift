/// A cell that is not there yet: what a pull came back for.
///
/// Whoever pulled gives up all claims on the way out. The reader at the top then has the cell computed
/// or waits for it, in its own task, and tries again.
@usableFromInline
struct MissingCell: Sendable {
  @usableFromInline private(set) var place: any CellPlace
  /// What had been published when it was missed. It keeps a late attempt from evaluating an element
  /// that nobody demanded: when there is more meanwhile, there is nothing to do.
  @usableFromInline let mark: Published
  /// All elements are wanted: a segment of them may be computed at once.
  @usableFromInline let isBulk: Bool

  @inlinable
  init(_ cells: any MemoCells, mark: Published, isBulk: Bool) {
    place = cells
    self.mark = mark
    self.isBulk = isBulk
  }

  @usableFromInline var cells: any MemoCells { place.cells }
  /// The nearest stage on the way here that makes something of failures.
  @usableFromInline var catcher: Catcher? { place.catcher }

  /// The same cell, with a stage on the way to it that catches failures.
  @usableFromInline
  func caught(by catcher: Catcher) -> MissingCell {
    var cell = self
    cell.place = CaughtPlace(cells, catcher)
    return cell
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
    let attempt = caught(cells.attempt(self, demand))
    guard case .blocked(let deeper) = attempt else { return (attempt, self) }
    var stack = [self, deeper.below(self)]
    while let top = stack.last {
      let attempt = top.caught(top.cells.attempt(top, demand))
      switch attempt {
      case .settled:
        stack.removeLast()
      case .mustWait, .failedTransiently, .abandoned: return (attempt, top)
      case .blocked(let deeper):
        guard let first = stack.firstIndex(where: { $0.isSame(as: deeper) }) else {
          stack.append(deeper.below(top))
          continue
        }
        // A cell that waits for itself by way of lists that were evaluated inline: it is gone
        // through once more in small steps, so that each of them can be named.
        if demand.budget == fullBudget {
          demand.budget = 2
          stack = [deeper]
          continue
        }
        let path = stack[first...].map { ($0.cells.title, $0.position) }
        deeper.cells.fail(deeper.mark, with: CyclicEvaluationError(through: path))
        return (.settled, deeper)
      }
    }
    return (.settled, self)
  }

  /// A cell that is missing on the way to another: what fails there passes the stages of both.
  private func below(_ other: MissingCell) -> MissingCell {
    guard catcher == nil, let catcher = other.catcher else { return self }
    return caught(by: catcher)
  }

  /// What an attempt came to, for the stages on the way here: a failure that one of them catches is
  /// something new for it to see.
  private func caught(_ attempt: Attempt) -> Attempt {
    guard case .failedTransiently(let failure) = attempt, isCaught(failure) else { return attempt }
    return .settled
  }

  /// Leaves a failure where it is caught, to be found by the next pull. False if nobody catches it.
  @usableFromInline
  func isCaught(_ failure: any Error) -> Bool {
    guard let catcher else { return false }
    catcher.leave(failure)
    return true
  }

  private func isSame(as other: MissingCell) -> Bool {
    cells === other.cells && mark == other.mark
  }

  var position: Int { cells.position(of: mark) }
}

/// Failures on their way to a stage that makes something of them.
///
/// A failure that is remembered is met where it is. But one that leaves nothing behind is told to the
/// reader that waits for the step, beside all stages in between: the reader leaves it here, and pulls
/// again. Each reader that waited leaves it, and finds it.
@usableFromInline
final class Catcher: Sendable {
  private let failures = Locked<[any Error]>([])

  @usableFromInline
  init() {}

  func leave(_ failure: any Error) { failures.withLock { $0.append(failure) } }

  @usableFromInline
  func next() -> (any Error)? { failures.withLock { $0.popLast() } }
}

/// Where a cell is missing, as seen from above.
///
/// A missing cell is handed up through all stages, once for each element over a source that suspends:
/// it has to fit into four words.
@usableFromInline
protocol CellPlace: AnyObject, Sendable {
  var cells: any MemoCells { get }
  var catcher: Catcher? { get }
}

private final class CaughtPlace: CellPlace {
  let cells: any MemoCells
  let catcher: Catcher?

  init(_ cells: any MemoCells, _ catcher: Catcher) {
    self.cells = cells
    self.catcher = catcher
  }
}

/// The front of a list, where its next cell will be.
@usableFromInline
protocol MemoCells: CellPlace {
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
  ) async -> ResumeReason
  /// A driver does not want the rest of a segment any more: the step in flight is the last.
  func stopComputing()
  /// Remembers an element that needs itself as a failure.
  func fail(_ mark: Published, with cycle: CyclicEvaluationError)
}

extension MemoCells {
  @usableFromInline var cells: any MemoCells { self }
  @usableFromInline var catcher: Catcher? { nil }
}
