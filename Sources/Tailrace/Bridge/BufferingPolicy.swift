extension Signal {
  /// How much of what is sent a subscription keeps until it is read, and how its reader is told of
  /// what is not kept.
  ///
  /// A reader that falls behind by more than that is never left with a silent gap: dropped elements
  /// are counted (``Iterator/droppedCount``, ``Signal/arrivals``), or the subscription fails. The ending is
  /// always kept: it is no element, and a failure never gets lost.
  public enum BufferingPolicy: Sendable {
    /// Everything.
    case unbounded
    /// The oldest, up to a number; what is sent while they wait is dropped, and counted. 0 or more.
    case bufferingOldest(Int)
    /// The newest, up to a number; the oldest makes room for what is sent while they wait, and is
    /// counted. 0 or more.
    case bufferingNewest(Int)
    /// Up to a number; what is sent while they wait ends the subscription with a failure, which comes
    /// after those that wait. 0 or more.
    case failing(beyond: Int, with: Failure)
  }
}

extension Signal.BufferingPolicy where Failure == any Error {
  /// Up to a number; what is sent while they wait ends the subscription with a ``SignalOverflow``.
  public static func failing(beyond bound: Int) -> Self {
    .failing(beyond: bound, with: SignalOverflow(bound: bound))
  }
}

extension Signal.BufferingPolicy {
  /// What a reader that falls behind fails with, if it does.
  @usableFromInline
  var overflow: Failure? { if case .failing(_, let failure) = self { failure } else { nil } }

  /// There may be no room for what is sent, and what is older makes none.
  var canBeFull: Bool {
    switch self {
    case .unbounded, .bufferingNewest: false
    case .bufferingOldest, .failing: true
    }
  }

  /// The same, for a reader that has so many elements to read when it begins.
  func raised(to count: Int) -> Self {
    switch self {
    case .unbounded: .unbounded
    case .bufferingOldest(let bound): .bufferingOldest(max(bound, count))
    case .bufferingNewest(let bound): .bufferingNewest(max(bound, count))
    case .failing(let bound, let failure): .failing(beyond: max(bound, count), with: failure)
    }
  }
}

/// A reader of a ``Signal`` fell behind by more elements than its policy keeps for it.
public struct SignalOverflow: Error, Hashable, CustomStringConvertible {
  /// How many elements are kept for a reader.
  public let bound: Int

  public var description: String {
    "a reader fell behind by more than the \(bound) elements that its Signal keeps for it"
  }
}
