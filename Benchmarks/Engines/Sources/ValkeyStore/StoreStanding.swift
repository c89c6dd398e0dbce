import NIOCore

/// The last entry that a store has seen. While it is there, so is everything before it: a server
/// that has lost entries, and got others instead, has another commit at its place.
struct StoreMark {
  var number = 0
  var commit = RESP.null

  var arguments: [ByteBuffer] {
    guard case .bytes(let commit) = commit else {
      return [ByteBuffer(string: "0"), ByteBuffer()]
    }
    return [ByteBuffer(string: "\(number)"), commit]
  }
}

/// A commit as it is sent, without its identifier.
struct StoreAttempt: Equatable {
  let position: Int
  let content: [ByteBuffer]
}

/// The state of a store, as far as it knows: a value with one method for each event.
struct StoreStanding {
  private(set) var mark = StoreMark()
  /// Of the lease: its number and the store's name. `nil` without a lease.
  private(set) var token: ByteBuffer?
  /// Renews the lease.
  var renewal: Task<Void, Never>?
  /// A lease was sent, so the server may think that this store holds the lease.
  private var mayHold = false
  /// The last append whose outcome is unknown, and its identifier.
  private var unknown: (attempt: StoreAttempt, identifier: ByteBuffer)?

  /// A random name.
  static func unique() -> String {
    String(UInt64.random(in: 0...UInt64.max), radix: 36)
      + String(UInt64.random(in: 0...UInt64.max), radix: 36)
  }

  mutating func saw(_ mark: StoreMark) {
    if mark.number > self.mark.number { self.mark = mark }
  }

  mutating func willAcquire() { mayHold = true }

  mutating func wasRefused() {
    mayHold = false
    token = nil
    stopRenewing()
  }

  /// Whether a renewal must be started.
  mutating func wasGranted(_ token: ByteBuffer) -> Bool {
    self.token = token
    mayHold = true
    return renewal == nil
  }

  /// The lease is no longer valid. True if it is the present one.
  mutating func lostLease(_ token: ByteBuffer) -> Bool {
    guard self.token == token else { return false }
    self.token = nil
    stopRenewing()
    return true
  }

  /// Whether there is something to release.
  mutating func letGo() -> Bool {
    defer { mayHold = false }
    token = nil
    stopRenewing()
    return mayHold
  }

  /// The token, the mark and the identifier to send. `nil` without a lease.
  ///
  /// The same commit at the same position is the same attempt, until its outcome is known.
  mutating func willAppend(
    _ attempt: StoreAttempt
  ) -> (token: ByteBuffer, mark: StoreMark, identifier: ByteBuffer)? {
    guard let token else { return nil }
    guard let last = unknown, last.attempt == attempt else {
      return (token, mark, ByteBuffer(string: Self.unique()))
    }
    unknown = nil
    return (token, mark, last.identifier)
  }

  /// The append may have been stored, or not.
  mutating func appendFailed(_ attempt: StoreAttempt, _ identifier: ByteBuffer) {
    unknown = (attempt, identifier)
  }

  private mutating func stopRenewing() {
    renewal?.cancel()
    renewal = nil
  }
}
