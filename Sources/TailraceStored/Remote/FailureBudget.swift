/// Decides which failures of a server are told to those that wait, and which are repeated.
struct FailureBudget: Sendable {
  private static let limit = 5
  /// How long the server may fail; `nil`: as long as somebody waits.
  let patience: Duration?
  /// Responses in a row that made no sense.
  private var senseless = 0
  private var since: Duration?
  private var why = "requests to the server have failed, and it is given a pause"

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
      // Damaged on its way once or twice, but not each time.
      if senseless >= Self.limit { return .remote(.malformed(reason)) }
      why = reason
    case .lacking(let position):
      senseless += 1
      if senseless >= Self.limit { return .remote(.lost(from: position)) }
      why = "the server has only \(position) elements, and has had more"
    case .later(let reason, _): why = reason
    case .silent(let silence): why = "nothing was heard for \(silence)"
    }
    begin(at: now)
    return isOver(at: now)
  }

  /// Somebody waits for a server that has failed.
  mutating func begin(at now: Duration) { since = since ?? now }

  /// The error to tell when patience is over; `nil` if it is not.
  func isOver(at now: Duration) -> RemoteAnswerError.Final? {
    guard let end, now >= end else { return nil }
    return .remote(.unreachable(why))
  }

  /// When patience is over, if it has a limit.
  var end: Duration? {
    guard let since, let patience else { return nil }
    return since + patience
  }
}
