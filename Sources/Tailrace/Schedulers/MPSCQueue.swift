internal import Synchronization

/// Work that waits for its scheduler: pushed by anybody, taken by one drain at a time.
///
/// One word says all: nobody drains, or a drain is under way and has taken all there was, or this
/// piece of work came last. Each piece points at the one that came before it, so that a piece is
/// added by one exchange of the word and needs no storage besides itself ("Plain closures").
/// Who adds to a line that nobody drains has to start a drain: there is never more than one.
struct MPSCQueue: ~Copyable, Sendable {
  private let last = Atomic<UInt>(Self.idle)

  private static var idle: UInt { 0 }
  private static var draining: UInt { 1 }

  /// True if nobody drained the line, and the caller does from now on.
  func open() -> Bool {
    last.load(ordering: .relaxed) == Self.idle
      && last.compareExchange(
        expected: Self.idle, desired: Self.draining, successOrdering: .acquiring,
        failureOrdering: .relaxed
      ).exchanged
  }

  /// True if nobody drains the line yet, and the caller has to see to it.
  func add(_ work: WorkCell) -> Bool {
    let reference = Unmanaged.passRetained(work)
    let new = UInt(bitPattern: reference.toOpaque())
    var old = last.load(ordering: .relaxed)
    while true {
      work.neighbor = WorkCell.reference(old)
      let (exchanged, found) = last.weakCompareExchange(
        expected: old, desired: new, successOrdering: .releasing, failureOrdering: .relaxed)
      if exchanged { return old == Self.idle }
      old = found
    }
  }

  /// All that waits, the oldest first, each with a neighbor that came later; `nil` when there is
  /// nothing, and the drain is over. To be called by the drain.
  func take() -> Unmanaged<WorkCell>? {
    while true {
      let taken = last.exchange(Self.draining, ordering: .acquiring)
      if let newest = WorkCell.reference(taken) { return Self.reversed(newest) }
      let (exchanged, _) = last.compareExchange(
        expected: Self.draining, desired: Self.idle, successOrdering: .releasing,
        failureOrdering: .relaxed)
      if exchanged { return nil }
    }
  }

  private static func reversed(_ newest: Unmanaged<WorkCell>) -> Unmanaged<WorkCell> {
    var (later, current) = (Unmanaged<WorkCell>?.none, newest)
    while true {
      let earlier = current._withUnsafeGuaranteedRef { work in
        defer { work.neighbor = later }
        return work.neighbor
      }
      guard let earlier else { return current }
      (later, current) = (current, earlier)
    }
  }
}

extension WorkCell {
  /// `nil` for the words that are no reference.
  fileprivate static func reference(_ word: UInt) -> Unmanaged<WorkCell>? {
    guard word > 1, let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
    return Unmanaged.fromOpaque(pointer)
  }
}
