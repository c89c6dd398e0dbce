public import Foundation
import TailraceLists

/// How many lists of a ``StoredLists`` are produced at a time, and which of those that have ended are kept.
public struct StoredListLimits: Sendable, Hashable {
  /// At most how many lists are produced at a time, 1 or more. Those of a former process all continue.
  public var producing: Int
  /// For how long a list that has ended is kept after its last change; `nil`: forever.
  public var age: Duration?
  /// How many bytes all lists together may have before those that have ended go, the oldest first; `nil`:
  /// any number.
  public var bytes: Int?

  /// Creates limits.
  public init(producing: Int = .max, age: Duration? = nil, bytes: Int? = nil) {
    self.producing = producing
    self.age = age
    self.bytes = bytes
  }
}

/// What ``StoredLists/all()`` tells of a list.
public struct StoredListEntry: Sendable, Hashable {
  /// Who works for a list.
  public enum Status: Sendable, Hashable {
    /// Its producer does.
    case producing
    /// Nobody: its producer has failed, or it cannot be read, for this reason.
    case failed(String)
    /// Nobody: it has ended.
    case ended
  }

  /// The list's key.
  public let key: String
  /// How many elements it has.
  public let count: Int
  /// Who works for it.
  public let status: Status
  /// How many bytes its files have.
  public let bytes: Int
  /// When it was changed last.
  public let lastChange: Date
}

extension StoredListEntry.Status {
  init(_ phase: ProducerTable.Phase, _ extent: ListExtent) {
    self =
      switch phase {
      case _ where extent.isEnded: .ended
      case .failed(let why): .failed(why)
      case .producing: .producing
      case .stopping, .ended, .removing: .ended
      }
  }
}

/// As many lists are produced as the limits of a ``StoredLists`` allow.
public struct TooManyListsError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The limit.
  public let limit: Int

  /// The error, and the remedy.
  public var description: String {
    "\(limit) lists are produced already, and no more at a time: try again when one has ended"
  }
}
