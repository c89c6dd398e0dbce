/// A cell that is not there yet, for which a pull came back.
///
/// The pulling code gives up all claims on the way out. The reader at the top then gets the cell
/// computed or waits for it, in its own task, and tries again.
@usableFromInline
package struct MissingCell: Sendable {
  @usableFromInline let place: any AwaitedPlace
  /// The published state when the cell was missed. It keeps a late attempt from evaluating an
  /// element without a demand: if there is more meanwhile, there is nothing to do. A place that publishes
  /// nothing has a number of its own here.
  @usableFromInline let mark: Published
  /// The amount, `isTaken`, and `hasWaited`. No field of its own for each: a `Step` of one word is then
  /// returned in registers ("Slices").
  @usableFromInline let request: UInt8

  @inlinable
  init(
    _ place: any AwaitedPlace, mark: Published, _ amount: Amount, isTaken: Bool = false,
    hasWaited: Bool = false
  ) {
    self.place = place
    self.mark = mark
    request = (hasWaited ? 4 : 0) | (isTaken ? 2 : 0) | (amount == .all ? 1 : 0)
  }

  /// How much is wanted from this cell on.
  @inlinable var amount: Amount { request & 1 == 1 ? .all : .one }
  /// The claim of its list was taken: mostly another reader computes it.
  @inlinable var isTaken: Bool { request & 2 != 0 }

  /// Its reader has waited for it before.
  @inlinable var hasWaited: Bool { request & 4 != 0 }

  var position: Int { place.position(of: mark) }

  private func isSame(as other: MissingCell) -> Bool {
    place === other.place && mark == other.mark
  }

  /// Gets the cell computed from the top of the stack, without suspending if possible.
  ///
  /// A chain of stages deeper than `fullDepth` unwinds to here; this loop then evaluates
  /// each piece of it without recursion. A list counts an attempt that was made here and has failed; the
  /// attempt at the cell above is told of it, so that it passes through the stages in between like any failure.
  ///
  /// A long search pauses, wherever it is, so that the reader can check for cancellation, or yield. The
  /// reader then begins at the top again: the deeper the chain is, the longer it searches at once.
  ///
  /// - Parameter stops: whether the reader begins no asynchronous step if its task is cancelled.
  /// - Returns: the cell for which the reader has to wait, or why there is none, or `nil` if its next pull
  ///   finds something new.
  @usableFromInline
  func settleNow(stops: Bool) -> Absence? {
    var demand = Demand()
    demand.stops = stops
    demand.hasWaited = hasWaited
    var stack: [MissingCell] = []
    // The cells computed by this search; a pause of a stage counts as 64 of them.
    var (work, deepest) = (0, 0)
    func isLong(after more: Int) -> Bool {
      work += more
      return work >= 64 + 4 * deepest
    }
    // Mostly there is one cell, and this allocates nothing. A settled cell is released at once: it
    // retains its list, and so everything read of it.
    var top = self
    while true {
      var absence = Absence.paused
      if top.place.attempt(top, demand, &absence) {
        if isLong(after: 1), !stack.isEmpty { return .paused }
      } else {
        switch absence {
        case .missing(let other) where other.place === top.place: return absence
        case .missing(let deeper):
          guard top.isSame(as: deeper) || stack.contains(where: { $0.isSame(as: deeper) }) else {
            stack.append(top)
            top = deeper
            demand.hasWaited = deeper.hasWaited
            deepest = max(deepest, stack.count)
            continue
          }
          // A cell waits for itself through lists that were evaluated inline: the path is repeated
          // in small steps, so that each list can be named.
          if demand.depth == fullDepth {
            demand.depth = 2
            (stack, top) = ([], deeper)
            demand.hasWaited = deeper.hasWaited
            continue
          }
          stack.append(top)
          let path = stack.drop { !$0.isSame(as: deeper) }.map { ($0.place.title, $0.position) }
          deeper.place.fail(deeper.mark, with: CyclicEvaluationError(through: path))
          return nil
        case .released: return absence
        // The lists in between learn of it from the attempt above.
        case .failedTransiently: if isLong(after: 1) { return .paused }
        case .paused:
          if isLong(after: 64) { return .paused }
          continue
        case .end, .failed, .cancelled: break
        }
      }
      guard let above = stack.popLast() else { return nil }
      top = above
      // What it needs was attempted for it.
      demand.hasWaited = true
    }
  }
}

/// Waits for a microsecond, on the thread, after another reader was met at the front of a plain list.
///
/// Readers at one front are slow: for each element, the memory of the cells and of the claim moves
/// from one processor to another. After the wait the reader finds many elements computed, if the steps
/// are short, and reads them without touching the claim ("Fan-out").
@usableFromInline @inline(never)
func fallBehind() {
  let clock = ContinuousClock()
  let end = clock.now + .microseconds(1)
  while clock.now < end {}
}
