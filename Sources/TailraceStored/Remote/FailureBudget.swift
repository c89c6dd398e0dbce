/// Decides which failures of a server are told to those that wait, and which are repeated.
struct FailureBudget: Sendable {
  private static let limit = 5
  /// How long the server may fail; `nil`: as long as somebody waits.
  let patience: Duration?
  /// Responses in a row that made no sense.
  private var senseless = 0
  private var since: Duration?
  /// The last failure, which is told when patience is over.
  private var last = RemoteListError.Reason.unreachable(
    "requests to the server have failed, and it is given a pause")

  init(_ patience: Duration?) { self.patience = patience }

  /// A request has failed.
  ///
  /// - Returns: the error to tell; `nil` if the request is to be repeated.
  mutating func take(
    _ error: RemoteAnswerError, at now: Duration
  ) -> RemoteAnswerError.Final? {
    switch error {
    case .final(let final): return final
    case .unsupported(let status, let body): return .remote(.refused(status: status, body: body))
    case .corrupt(let reason):
      senseless += 1
      last = .malformed(reason)
      // Damaged on its way once or twice, but not each time.
      if senseless >= Self.limit { return .remote(last) }
    case .lacking(let position):
      senseless += 1
      if senseless >= Self.limit { return .remote(.lost(from: position)) }
      last = .unreachable("the server has only \(position) elements, and has had more")
    case .later(let reason, _): last = .unreachable(reason)
    case .silent(let silence): last = .unreachable("nothing was heard for \(silence)")
    }
    since = since ?? now
    return isOver(at: now) ? .remote(last) : nil
  }

  enum Turn: Sendable {
    case request
    case pause(until: Duration)
    /// Patience is over.
    case over(RemoteAnswerError.Final)
  }

  /// Somebody waits for a request that may be sent at a time.
  mutating func turn(_ earliest: Duration, at now: Duration) -> Turn {
    guard earliest > now else { return .request }
    since = since ?? now
    if isOver(at: now) { return .over(.remote(last)) }
    return .pause(until: end.map { min(earliest, $0) } ?? earliest)
  }

  /// When patience is over, if it has a limit.
  private var end: Duration? {
    guard let since, let patience else { return nil }
    return since + patience
  }

  private func isOver(at now: Duration) -> Bool { end.map { now >= $0 } ?? false }
}
