/// A cell that is not there yet, for which a pull came back.
///
/// The pulling code gives up all claims on the way out. The reader at the top then gets the cell
/// computed or waits for it, in its own task, and tries again.
@usableFromInline
package struct MissingCell: Sendable {
  @usableFromInline let place: any AwaitedPlace
  /// The published state when the cell was missed. It keeps a late attempt from evaluating an
  /// element without a demand: if there is more meanwhile, there is nothing to do.
  @usableFromInline let mark: Published
  /// The amount, `isTaken`, `isBegun` and the attempt. Half a word: a `Step` of one word is then returned in registers
  /// ("Slices").
  @usableFromInline let request: UInt32

  @inlinable
  init(
    _ place: any AwaitedPlace, mark: Published, _ amount: Amount, isTaken: Bool = false,
    isBegun: Bool = false, attempt: Int = 0
  ) {
    self.place = place
    self.mark = mark
    request =
      UInt32(truncatingIfNeeded: attempt) << 3 | (isBegun ? 4 : 0) | (isTaken ? 2 : 0)
      | (amount == .all ? 1 : 0)
  }

  /// How much is wanted from this cell on.
  @inlinable var amount: Amount { request & 1 == 1 ? .all : .one }
  /// The claim of its list was taken: mostly another reader computes it.
  @inlinable var isTaken: Bool { request & 2 != 0 }

  /// The reader has begun the attempt that it has to wait for.
  @inlinable var isBegun: Bool { request & 4 != 0 }

  /// The last of the attempts up to now that may be the missed one: the cell has room for 29 bits of its
  /// number.
  func attempt(upTo now: Int) -> Int { now &- ((now &- Int(request >> 3)) & 0x1FFF_FFFF) }

  var position: Int { place.position(of: mark) }

  private func isSame(as other: MissingCell) -> Bool {
    place === other.place && mark == other.mark
  }

  /// Gets the cell computed from the top of the stack, without suspending if possible.
  ///
  /// A chain of stages deeper than `fullDepth` unwinds to here; this loop then evaluates
  /// each piece of it without recursion. A failed attempt is passed down with the attempt at the
  /// cell above, so that it passes through the stages in between like any failure.
  ///
  /// A long search pauses, wherever it is, so that the reader can check for cancellation, or yield. The
  /// reader then begins at the top again: the deeper the chain is, the longer it searches at once.
  ///
  /// - Parameters:
  ///   - told: the failed attempt that the reader has waited for.
  ///   - stops: whether the reader begins no asynchronous step if its task is cancelled.
  /// - Returns: the cell for which the reader has to wait, or why there is none, or `nil` if there is
  ///   something new to read; and a failed attempt for this reader, to be passed down with its next
  ///   pull.
  @usableFromInline
  func settleNow(
    telling told: FailedAttempt?, stops: Bool
  ) -> (obstacle: Absence?, attempt: FailedAttempt?) {
    var demand = Demand()
    demand.stops = stops
    var failed = told
    func settled(_ obstacle: Absence?) -> (Absence?, FailedAttempt?) {
      (obstacle, failed === told ? nil : failed)
    }
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
      demand.told = failed.map { .passUnretained($0) }
      var absence = Absence.paused
      switch withExtendedLifetime(failed, { top.place.attempt(top, demand, &absence) }) {
      case .new:
        if isLong(after: 1), !stack.isEmpty { return settled(.paused) }
      case .failedBehind(let attempt): failed = attempt
      case .nothing:
        switch absence {
        case .missing(let other) where other.place === top.place: return settled(absence)
        case .missing(let deeper):
          guard top.isSame(as: deeper) || stack.contains(where: { $0.isSame(as: deeper) }) else {
            stack.append(top)
            top = deeper
            deepest = max(deepest, stack.count)
            continue
          }
          // A cell waits for itself through lists that were evaluated inline: the path is repeated
          // in small steps, so that each list can be named.
          if demand.depth == fullDepth {
            demand.depth = 2
            (stack, top) = ([], deeper)
            continue
          }
          stack.append(top)
          let path = stack.drop { !$0.isSame(as: deeper) }.map { ($0.place.title, $0.position) }
          deeper.place.fail(deeper.mark, with: CyclicEvaluationError(through: path))
          return settled(nil)
        case .failedTransiently(let failure): failed = FailedAttempt(top, failure)
        case .released: return settled(absence)
        case .paused:
          if isLong(after: 64) { return settled(.paused) }
          continue
        case .end, .failed, .cancelled: break
        }
      }
      guard let above = stack.popLast() else { return settled(nil) }
      top = above
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
