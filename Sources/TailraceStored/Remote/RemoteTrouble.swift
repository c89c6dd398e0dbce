/// Decides which failures of a server are told.
struct RemoteTrouble: Sendable {
  private static let limit = 5
  /// Responses in a row that made no sense.
  private var senseless = 0
  private var since: Duration?
  /// What the server has asked for.
  private(set) var pause: Duration?

  /// - Returns: the error to tell; `nil` if the request is to be repeated.
  mutating func take(
    _ error: RemoteAnswerError, at now: Duration, _ patience: Duration?
  ) -> (any Error)? {
    pause = nil
    let why: String
    switch error {
    case .remote(let error): return error
    case .list(let error): return error
    case .unsupported(let status, let body):
      return RemoteListError.refused(status: status, body: body)
    case .corrupt(let reason):
      senseless += 1
      // Damaged on its way once or twice, but not each time.
      if senseless >= Self.limit { return RemoteListError.malformed(reason) }
      why = reason
    case .lacking(let position):
      senseless += 1
      if senseless >= Self.limit { return RemoteListError.lost(from: position) }
      why = "the server has only \(position) elements, and has had more"
    case .later(let reason, let pause):
      self.pause = pause
      why = reason
    case .silent(let silence): why = "nothing was heard for \(silence)"
    }
    if let since, let patience, now - since >= patience {
      return RemoteListError.unreachable(why)
    }
    since = since ?? now
    return nil
  }
}
