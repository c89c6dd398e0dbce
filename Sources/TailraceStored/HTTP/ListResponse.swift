public import Foundation

/// The response of an ``ListEndpoint``: the values from which a server makes an HTTP response.
public struct ListResponse: Sendable {
  /// The status code, such as 200.
  public var status: Int
  /// The header fields by name. Length and encoding of the body are left to the server.
  public var headers: [String: String]
  /// The body.
  public var body: Body

  /// The body of a response.
  public enum Body: Sendable {
    /// No body, as for 204, 304 and `HEAD`.
    case none
    /// Bytes that are there.
    case data(Data)
    /// Bytes that come as the list grows.
    case events(ListEvents)
  }

  init(_ status: Int, _ headers: [String: String], _ body: Body) {
    self.status = status
    self.headers = headers.merging(["X-Content-Type-Options": "nosniff"]) { own, _ in own }
    self.body = body
  }
}

/// The Server-Sent Events of a list: bytes, to be sent as they come.
///
/// - Failure: of the list's source. End the connection: the client connects again, and is told.
/// - Cancellation: iteration throws `CancellationError` when the task is cancelled.
public struct ListEvents: AsyncSequence, Sendable {
  typealias Step = nonisolated(nonsending) @Sendable (inout ListEventsState) async throws -> Data?

  let first: ListEventsState
  let step: Step

  /// Creates an iterator. Each one begins at the position of the request.
  public func makeAsyncIterator() -> Iterator { Iterator(state: first, step: step) }

  /// Iterates over the events.
  public struct Iterator: AsyncIteratorProtocol {
    var state: ListEventsState
    let step: Step

    /// Returns the bytes of the next events; `nil` at the end.
    public mutating func next() async throws -> Data? { try await step(&state) }

    /// Returns the bytes of the next events, isolated to an actor; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Data? { try await step(&state) }
  }
}
