/// An error of a list of a server: which list, and why it cannot be read.
///
/// ```swift
/// let error = RemoteListError(
///   path: "/runs/7", reason: .refused(status: 404, body: "no such run"))
/// print(error)   // /runs/7: the server refuses with status 404: no such run
/// ```
///
/// A list does not keep the error: the next request asks again. `otherList` stays: make the
/// ``RemoteList`` again to read the other list. Elements that the server has discarded are
/// `ListStoreError.trimmed(first:)`.
public struct RemoteListError: Error, Equatable, Sendable {
  /// The path of the list, as the ``RemoteList`` was given it.
  public var path: String
  /// Why the list cannot be read.
  public var reason: Reason

  /// A reason why a list of a server cannot be read.
  public enum Reason: Equatable, Sendable {
    /// The server has another list at this address than the one that was read. Its identity; `nil` if the
    /// server has none.
    case otherList(found: String?)
    /// The server has fewer elements than were read: those from this position on are lost.
    case lost(from: Int)
    /// The server refuses the request. The status, and the beginning of the body.
    case refused(status: Int, body: String)
    /// The response does not follow the protocol, or has more bytes than a client wants to hold.
    case malformed(String)
    /// The server did not answer for longer than the client has patience. The last failure.
    case unreachable(String)
  }

  /// Creates an error.
  public init(path: String, reason: Reason) {
    self.path = path
    self.reason = reason
  }
}

extension RemoteListError: CustomStringConvertible {
  /// The path, the error, and the remedy.
  public var description: String { "\(path): \(reason)" }
}

extension RemoteListError.Reason: CustomStringConvertible {
  /// The reason, and the remedy.
  public var description: String {
    switch self {
    case .otherList(let found):
      "the server has another list there, \(found ?? "without an identity"): read it from its beginning"
    case .lost(let position):
      "the server has lost the elements from \(position) on: read its list from the beginning"
    case .refused(let status, let body):
      "the server refuses with status \(status)" + (body.isEmpty ? "" : ": \(body)")
    case .malformed(let why): "the server's response cannot be read: \(why)"
    case .unreachable(let why): "the server does not answer: \(why)"
    }
  }
}
