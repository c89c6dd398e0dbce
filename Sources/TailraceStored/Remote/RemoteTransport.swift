/// Sends a request, and returns the response while its body may still come.
///
/// It throws if there is no response. Cancelling its task ends the request; so does releasing the body.
public typealias RemoteTransport = @Sendable (RemoteRequest) async throws -> RemoteResponse

/// A request of a ``RemoteList``: the values that a client of HTTP needs.
public struct RemoteRequest: Sendable, Hashable {
  /// `GET`.
  public var method: String
  /// The path, and the query.
  public var path: String
  /// The header fields by name.
  public var headers: [String: String]

  /// Creates a request.
  public init(method: String = "GET", path: String, headers: [String: String] = [:]) {
    self.method = method
    self.path = path
    self.headers = headers
  }
}

/// A response to a ``RemoteRequest``.
///
/// ```swift
/// let transport: RemoteTransport = { request in
///   RemoteResponse(
///     status: 200, headers: ["Stream-Next-Offset": "7"], body: [Array("[1,2]".utf8)])
/// }
/// ```
public struct RemoteResponse: Sendable {
  /// The status code, such as 200.
  public var status: Int
  /// The body.
  public var body: RemoteBody
  /// The header fields, by names in lower case.
  public let headers: [String: String]

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - status: the status code.
  ///   - headers: the header fields. Upper and lower case of their names do not matter.
  ///   - body: the body.
  public init(
    status: Int, headers: some Sequence<(key: String, value: String)>, body: RemoteBody
  ) {
    self.status = status
    self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
    self.body = body
  }

  /// Creates a response whose body comes in pieces.
  ///
  /// - Parameters:
  ///   - status: the status code.
  ///   - headers: the header fields. Upper and lower case of their names do not matter.
  ///   - body: the pieces of the body, of whatever size, as they come. Iterated at most once.
  public init<Body: AsyncSequence & Sendable>(
    status: Int, headers: some Sequence<(key: String, value: String)>, body: Body
  ) where Body.Element: Sequence<UInt8> {
    self.init(status: status, headers: headers, body: RemoteBody(body))
  }

  /// Creates a response whose body is there.
  ///
  /// - Parameters:
  ///   - status: the status code.
  ///   - headers: the header fields. Upper and lower case of their names do not matter.
  ///   - body: the pieces of the body.
  public init(
    status: Int, headers: some Sequence<(key: String, value: String)>, body: [[UInt8]] = []
  ) {
    self.init(status: status, headers: headers, body: RemoteBody(body))
  }

  /// Returns the value of a header field; `nil` if there is none.
  public subscript(field: String) -> String? { headers[field.lowercased()] }
}

/// The body of a ``RemoteResponse``: bytes in pieces, as they come.
///
/// A transport that changes a body makes one of the body that it got:
///
/// ```swift
/// let counted = Probe<Int>()
/// let response = RemoteResponse(status: 200, headers: [:], body: [Array("[1]".utf8)])
/// let body = RemoteBody(
///   response.body.map { bytes in
///     counted.record(bytes.count)
///     return bytes
///   })
/// for try await _ in body {}
/// counted.values   // [3]
/// ```
public struct RemoteBody: AsyncSequence, Sendable {
  typealias Next = nonisolated(nonsending) () async throws -> [UInt8]?

  private let begin: @Sendable () -> Next

  /// Creates a body that comes in pieces.
  ///
  /// - Parameter pieces: of whatever size. Iterated at most once.
  public init<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces
  ) where Pieces.Element: Sequence<UInt8> {
    begin = {
      var iterator = pieces.makeAsyncIterator()
      return { try await iterator.next(isolation: #isolation).map(Array.init) }
    }
  }

  /// Creates a body that is there.
  public init(_ pieces: [[UInt8]]) {
    begin = {
      var pieces = pieces.makeIterator()
      return { pieces.next() }
    }
  }

  /// Creates an iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(step: begin()) }

  /// Iterates over the pieces.
  public struct Iterator: AsyncIteratorProtocol {
    let step: Next

    /// Returns the next piece; `nil` at the end.
    public mutating func next() async throws -> [UInt8]? { try await step() }

    /// Returns the next piece, isolated to an actor; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> [UInt8]? { try await step() }
  }
}
