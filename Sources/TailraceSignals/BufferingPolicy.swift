import TailraceLists

extension Signal {
  /// How many unread elements a subscription keeps, and how its reader can learn of the rest.
  ///
  /// If a reader falls further behind, the dropped elements are counted, or the subscription fails.
  /// An iterator has the count (``Iterator/droppedCount``). ``Signal/subscribe(_:)``,
  /// ``Signal/array()``, ``Signal/memoized()`` and `stream()` give the elements that were kept and
  /// show no gap. The ending is always kept: it is no element, and a failure never gets lost.
  public enum BufferingPolicy: Sendable {
    /// Keeps everything.
    case unbounded
    /// Keeps the oldest, up to a number. Elements sent while that many wait are dropped and
    /// counted. 0 or more.
    case bufferingOldest(Int)
    /// Keeps the newest, up to a number. The oldest is dropped for each further element, and
    /// counted. 0 or more.
    case bufferingNewest(Int)
    /// Keeps up to a number. A further element ends the subscription with a failure, which follows
    /// the elements that wait. 0 or more.
    case failing(beyond: Int, with: Failure)
  }
}

extension Signal.BufferingPolicy where Failure == any Error {
  /// Keeps up to a number. A further element ends the subscription with a ``SignalOverflow``.
  public static func failing(beyond bound: Int) -> Self {
    .failing(beyond: bound, with: SignalOverflow(bound: bound))
  }
}

extension Signal.BufferingPolicy {
  /// The failure of a reader that falls behind, if the policy has one.
  @usableFromInline
  var overflow: Failure? { if case .failing(_, let failure) = self { failure } else { nil } }

  /// Whether a sent element may find no room, with no older one making room for it.
  var canBeFull: Bool {
    switch self {
    case .unbounded, .bufferingNewest: false
    case .bufferingOldest, .failing: true
    }
  }

  /// The same policy, for a reader that begins with that many elements. A ``SignalOverflow`` then
  /// has the greater bound.
  func raised(to count: Int) -> Self {
    switch self {
    case .unbounded: .unbounded
    case .bufferingOldest(let bound): .bufferingOldest(max(bound, count))
    case .bufferingNewest(let bound): .bufferingNewest(max(bound, count))
    case .failing(let bound, let failure) where bound < count:
      .failing(
        beyond: count,
        with: (failure is SignalOverflow ? SignalOverflow(bound: count) as? Failure : nil)
          ?? failure)
    case .failing: self
    }
  }
}

/// A reader of a ``Signal`` fell behind by more elements than its policy keeps for it.
public struct SignalOverflow: Error, Hashable, CustomStringConvertible {
  /// How many elements are kept for a reader: the bound of the policy, or the number of replayed
  /// elements if that is greater.
  public let bound: Int

  public var description: String {
    "a reader fell behind by more than the \(bound) elements that its Signal keeps for it"
  }
}
