public import Synchronization

/// A segment's published state: how many of its cells may be read, whether there will be more, and how many
/// attempts at the next cell have failed for now.
// The count is in the highest bits, which are read for each element; the failures are in the 15 bits below it.
@usableFromInline
struct Published: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  @usableFromInline let rawValue: UInt64

  @inlinable
  init(rawValue: UInt64) { self.rawValue = rawValue }

  @inlinable
  init(count: Int, isClosed: Bool = false) {
    rawValue = UInt64(truncatingIfNeeded: count) << 16 | (isClosed ? 1 : 0)
  }

  @inlinable var count: Int { Int(truncatingIfNeeded: rawValue >> 16) }
  /// No more cells will be added: the segment's link follows.
  @inlinable var isClosed: Bool { rawValue & 1 == 1 }
  /// An attempt at the next cell has failed for now, and none has brought it.
  @inlinable var hasFailed: Bool { rawValue & 0xFFFE != 0 }

  /// With one more cell: the answer to the attempts that have failed. Of a segment that is open.
  @inlinable var appended: Published { Published(rawValue: (rawValue | 0xFFFF) &+ 1) }
  /// With one more attempt that has failed for now.
  @inlinable var failed: Published {
    let failures = rawValue & 0xFFFE == 0xFFFE ? 2 : rawValue & 0xFFFE &+ 2
    return Published(rawValue: rawValue & ~0xFFFE | failures)
  }
  @inlinable var closed: Published { Published(rawValue: rawValue & ~0xFFFE | 1) }
}

/// The cell of a segment for which a cursor has waited, as it was when the cursor missed it.
///
/// A reader is told of a failure if its cursor comes back to the same cell, and more attempts have failed there.
/// So it is never told of an attempt at another place, nor of one that was over before it waited. Who wants all
/// cells waits for those that follow, too: also when the next of them is asked for by itself, because a segment
/// is full, and also in the segments that follow.
@usableFromInline
struct WaitingNote: Equatable, Sendable {
  /// For none, a mark whose count no cell has.
  @usableFromInline var seen = Published(rawValue: .max)
  @usableFromInline var wantsAll = false

  @inlinable
  init() {}

  @inlinable
  init(_ seen: Published, _ amount: Amount) {
    self.seen = seen
    wantsAll = amount == .all
  }

  /// The note in the next segment of the same list. It has begun after the reader waited, so every attempt
  /// there has.
  @inlinable
  func following(_ amount: Amount) -> WaitingNote {
    let isForIt = wantsAll || amount == .all && self != WaitingNote()
    return isForIt ? WaitingNote(Published(count: 0), .all) : WaitingNote()
  }

  @usableFromInline
  enum Change: Sendable {
    /// The cursor has not waited for this cell.
    case elsewhere
    /// No attempt has failed since.
    case none
    case failed
  }

  /// What has happened at the cell after a mark, which is not closed.
  @inlinable
  func change(at mark: Published, _ amount: Amount = .one) -> Change {
    if seen.count == mark.count { return seen == mark ? .none : .failed }
    guard wantsAll || amount == .all, seen.count < mark.count else { return .elsewhere }
    return mark.hasFailed ? .failed : .none
  }
}

/// An attempt at the first cell of a list that is not evaluated, which has failed for now.
@usableFromInline
struct FailedAttempt: Sendable {
  let failure: any Error
  /// Where the segment begins, and what it has published: so the attempt is known from those before and after it.
  let start: Int
  let counted: Published
}
