/// A reason why a server did not do what it was asked for.
///
/// A list does not remember the error: the next demand connects again if it must, and tries again.
public enum ValkeyError: Error, Equatable, Sendable {
  /// No connection could be made.
  case unreachable(String, reason: String)
  /// The connection was lost. A command that was sent may or may not have run.
  case disconnected(String)
  /// There was no reply in time. The command may or may not have run.
  case timedOut(Duration)
  /// The server replied with an error, such as `LOADING`, `READONLY`, `NOAUTH`, `OOM` or
  /// `WRONGTYPE`.
  case refused(code: String, message: String)
  /// Fewer replicas than wanted have what was written. It is stored.
  case notReplicated(to: Int, of: Int)
  /// The server replied with something else than was expected: it may not be Valkey or Redis.
  case unexpectedReply(String)
  /// The server no longer has elements that this store has read or written.
  ///
  /// It was restarted without its append-only file, for example, or the key was deleted. This
  /// store reads and writes no more of that list, because other elements may be at these positions
  /// now. To go on with what is there, make a new store.
  case lost(key: String, seen: Int, stored: Int)
}

extension ValkeyError: CustomStringConvertible {
  /// The error, and the remedy.
  public var description: String {
    switch self {
    case .unreachable(let address, let reason): "no connection to \(address): \(reason)"
    case .disconnected(let reason):
      "the connection to the server was lost: \(reason); the next call connects again"
    case .timedOut(let limit): "the server did not reply within \(limit)"
    case .refused("READONLY", let message):
      "the server replied: \(message) It is a replica; the connection was closed, and the next call "
        + "connects again"
    case .refused(_, let message): "the server replied: \(message)"
    case .notReplicated(let count, let wanted):
      "\(count) of \(wanted) replicas have the element; the next demand waits for them again"
    case .unexpectedReply(let what): "this was not expected of the server: \(what)"
    case .lost(let key, let seen, let stored):
      "the server has lost elements of the list \(key): \(seen) were seen, and \(stored) are "
        + "stored, or others; make a new store to go on with those"
    }
  }
}

extension ValkeyError {
  /// An error reply: its first word is the code.
  init(reply message: String) {
    self = .refused(code: Self.code(of: message), message: message)
  }

  private static func code(of message: String) -> String {
    // Redis 6 puts it behind words about the script.
    if message.contains("-READONLY ") { return "READONLY" }
    return message.split(separator: " ", maxSplits: 1).first.map(String.init) ?? ""
  }

  /// Whether a server replies this because it is no primary, or no longer.
  static func isOfReplica(_ message: String) -> Bool {
    ["READONLY", "UNBLOCKED"].contains(code(of: message))
  }
}
