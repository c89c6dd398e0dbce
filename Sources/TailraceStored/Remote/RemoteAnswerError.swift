/// Why an answer brings nothing.
enum RemoteAnswerError: Error {
  /// It was damaged on its way, or is of somebody else there, or its server is wrong: worth another
  /// request.
  case corrupt(String)
  /// The server has fewer elements than it has had. A cache or a replica may lag behind.
  case lacking(from: Int)
  /// The connection failed, or the server asks to come again.
  case later(String, retryAfter: Duration? = nil)
  /// Nothing was heard for too long.
  case silent(Duration)
  /// The server does not serve the list in this way.
  case unsupported(status: Int, body: String)
  case final(Final)

  /// An error that is told to those that wait.
  enum Final {
    case remote(RemoteListError.Reason)
    case list(ListStoreError)

    /// The error of the list with this path.
    func error(_ path: String) -> any Error {
      switch self {
      case .remote(let reason): RemoteListError(path: path, reason: reason)
      case .list(let error): error
      }
    }
  }

  /// A failure of the transport, if it is not one of these.
  init(_ error: any Error) { self = error as? Self ?? .later("\(error)") }

  /// What a reader of the list with this path gets, if no request can help.
  func told(_ path: String) -> any Error {
    if case .final(let final) = self { final.error(path) } else { self }
  }

  /// Whether it is a right answer, that tells where the list is.
  var isAnswer: Bool {
    if case .final(.list) = self { true } else { false }
  }
}
