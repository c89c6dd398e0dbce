internal import Synchronization

/// Work that waits for its scheduler: any thread adds to it, one drain at a time takes.
///
/// One word holds the state: no drain is active; or a drain is active and has taken everything; or
/// the last piece added. Each piece points at the one before it, so adding needs one exchange of
/// the word and no storage beyond the piece ("Plain closures").
/// Adding to a queue without a drain must start one: there is never more than one.
struct MPSCQueue: ~Copyable, Sendable {
  private let last = Atomic<UInt>(Self.idle)

  private static var idle: UInt { 0 }
  private static var draining: UInt { 1 }

  /// True if no drain was active; the caller is then the drain.
  func open() -> Bool {
    last.load(ordering: .relaxed) == Self.idle
      && last.compareExchange(
        expected: Self.idle, desired: Self.draining, successOrdering: .acquiring,
        failureOrdering: .relaxed
      ).exchanged
  }

  /// True if no drain is active, and the caller must start one.
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

  /// All waiting work, oldest first, each linked to the next; `nil` when there is none, and the
  /// drain is over. Called by the drain.
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
  /// `nil` for words that are no reference.
  fileprivate static func reference(_ word: UInt) -> Unmanaged<WorkCell>? {
    guard word > 1, let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
    return Unmanaged.fromOpaque(pointer)
  }
}
