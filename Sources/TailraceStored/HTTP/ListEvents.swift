public import Foundation
import TailraceLists

/// The Server-Sent Events of a list: bytes, to be sent as they come.
///
/// ```swift
/// let request = ListRequest(offset: "-1", live: "sse")
/// let response = try await endpoint.response(to: request)
/// if case .events(let events) = response.body {
///   try await events.send { bytes in try await connection.write(bytes) }
/// }
/// ```
///
/// - Failure: of the list's source. End the connection: the client connects again, and is told.
/// - Cancellation: iteration throws `CancellationError` when the task is cancelled.
public struct ListEvents: AsyncSequence, Sendable {
  typealias Step = nonisolated(nonsending) @Sendable (inout ListEventsState) async throws -> Data?

  let first: ListEventsState
  /// How long a client may take to read what was sent.
  let sendPatience: Duration
  let clock: any Clock<Duration>
  let now: @Sendable () -> Duration
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

  /// Sends the events, until they end. A client that does not read is left.
  ///
  /// - Parameter write: sends bytes; returns when the client has read what was sent before, or most of
  ///   it, and throws when its task is cancelled.
  /// - Throws: ``ClientStalledError`` if the client has not read for the endpoint's `sendPatience`: end
  ///   the connection.
  public nonisolated(nonsending) func send(
    to write: @escaping @Sendable (Data) async throws -> Void
  ) async throws {
    let timer = ActivityTimer(now)
    try await timer.run(atMost: sendPatience, on: clock, otherwise: ClientStalledError()) {
      for try await bytes in self {
        timer.restart()
        try await write(bytes)
        timer.stop()
      }
    }
  }
}

/// A client has not read for too long what was sent to it.
public struct ClientStalledError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error in a sentence.
  public var description: String { "the client does not read what is sent to it" }
}
