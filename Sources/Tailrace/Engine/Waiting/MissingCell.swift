/// A cell that is not there yet, for which a pull came back.
///
/// The pulling code gives up all claims on the way out. The reader at the top then gets the cell
/// computed or waits for it, in its own task, and tries again.
@usableFromInline
struct MissingCell: Sendable {
  @usableFromInline let cells: any MemoCells
  /// The published state when the cell was missed. It keeps a late attempt from evaluating an
  /// element without a demand: if there is more meanwhile, there is nothing to do.
  @usableFromInline let mark: Published
  /// All elements are wanted: a segment of them may be computed at once.
  @usableFromInline let isBulk: Bool
  /// The attempt that the reader has begun, and now has to wait for; 0 if it has begun none.
  @usableFromInline let attempt: UInt32

  @inlinable
  init(_ cells: any MemoCells, mark: Published, isBulk: Bool, attempt: UInt32 = 0) {
    self.cells = cells
    self.mark = mark
    self.isBulk = isBulk
    self.attempt = attempt
  }

  /// The result of an attempt at one cell.
  @usableFromInline
  enum Attempt {
    /// There is something new to read; after it there may be a failed attempt.
    case settled(FailedAttempt?)
    /// Another cell is needed first.
    case blocked(MissingCell)
    /// Another task computes it.
    case mustWait(MissingCell)
    /// It failed, and left nothing; a later attempt may succeed.
    case failedTransiently(any Error)
    /// It was given up when nothing could read it.
    case abandoned
  }

  /// The result of all attempts that a missing cell needed.
  @usableFromInline
  struct Settled {
    @usableFromInline
    enum Outcome {
      case settled
      case mustWait(MissingCell)
      case abandoned
    }

    @usableFromInline let outcome: Outcome
    /// A failed attempt for this reader, to be passed down with its next pull.
    @usableFromInline let attempt: FailedAttempt?
  }

  /// Gets the cell computed from the top of the stack, without suspending if possible.
  ///
  /// A chain of stages that is deeper than its budget unwinds to here; this loop then evaluates
  /// each piece of it without recursion. A failed attempt is passed down with the attempt at the
  /// cell above, so that it passes through the stages in between like any failure.
  ///
  /// - Parameter told: the failed attempt that the reader has waited for.
  @usableFromInline
  func settleNow(isOutermost: Bool, telling told: FailedAttempt?) -> Settled {
    var demand = Demand()
    demand.isOutermost = isOutermost
    var failed = told
    func settled(_ outcome: Settled.Outcome) -> Settled {
      Settled(outcome: outcome, attempt: failed === told ? nil : failed)
    }
    var stack: [MissingCell] = []
    // Mostly there is one cell, and this allocates nothing. A settled cell is released at once: it
    // retains its list, and so everything read of it.
    var top = self
    while true {
      demand.budget.told = failed.map { .passUnretained($0) }
      switch withExtendedLifetime(failed, { top.cells.attempt(top, demand) }) {
      case .mustWait(let missing): return settled(.mustWait(missing))
      case .abandoned: return settled(.abandoned)
      case .settled(let behind):
        if let behind { failed = behind }
      case .failedTransiently(let failure): failed = FailedAttempt(top, failure)
      case .blocked(let deeper):
        guard top.isSame(as: deeper) || stack.contains(where: { $0.isSame(as: deeper) }) else {
          stack.append(top)
          top = deeper
          continue
        }
        // A cell waits for itself through lists that were evaluated inline: the path is repeated in
        // small steps, so that each list can be named.
        if demand.budget.depth == fullBudget {
          demand.budget.depth = 2
          (stack, top) = ([], deeper)
          continue
        }
        stack.append(top)
        let path = stack.drop { !$0.isSame(as: deeper) }.map { ($0.cells.title, $0.position) }
        deeper.cells.fail(deeper.mark, with: CyclicEvaluationError(through: path))
        return settled(.settled)
      }
      guard let above = stack.popLast() else { return settled(.settled) }
      top = above
    }
  }

  private func isSame(as other: MissingCell) -> Bool {
    cells === other.cells && mark == other.mark
  }

  var position: Int { cells.position(of: mark) }
}

/// The front of a list, where its next cell will be.
@usableFromInline
protocol MemoCells: AnyObject, Sendable {
  /// Identifies the list whose elements arrive here.
  var place: ObjectIdentifier { get }
  /// The list's name in errors.
  var title: String { get }
  func position(of mark: Published) -> Int
  func isMissing(_ mark: Published) -> Bool
  /// Tries to get a cell computed without suspending.
  func attempt(_ cell: MissingCell, _ demand: Demand) -> MissingCell.Attempt
  /// Waits until a cell is there, or something else has changed. `seeker` is the list that was
  /// asked first.
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
  ) async -> ResumeReason
  /// A driver no longer wants the rest of a segment: the step in flight is the last.
  func stopComputing()
  /// Remembers an element that needs itself as a failure.
  func fail(_ mark: Published, with cycle: CyclicEvaluationError)
}
