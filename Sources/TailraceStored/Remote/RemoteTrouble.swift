/// Decides which failures of a server are told.
struct RemoteTrouble: Sendable {
  /// Responses in a row that made no sense.
  private var corrupt = 0
  private var since: Duration?
  /// What the server has asked for.
  private(set) var pause: Duration?

  /// - Returns: the error to tell; `nil` if the request is to be repeated.
  mutating func take(_ error: any Error, at now: Duration, _ patience: Duration?) -> (any Error)? {
    pause = nil
    let why: String
    switch error as? RemoteAnswerError {
    case .remote(let error): return error
    case .list(let error): return error
    case .unsupported(let status, let body):
      return RemoteListError.refused(status: status, body: body)
    case .corrupt(let reason):
      corrupt += 1
      // Damaged on its way once or twice, but not each time.
      if corrupt >= 5 { return RemoteListError.malformed(reason) }
      why = reason
    case .later(let reason, let pause):
      self.pause = pause
      why = reason
    case .silent(let silence): why = "nothing was heard for \(silence)"
    case nil: why = "\(error)"
    }
    if let since, let patience, now - since >= patience {
      return RemoteListError.unreachable(why)
    }
    since = since ?? now
    return nil
  }
}
