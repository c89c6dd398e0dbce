// Copy this file into a project that uses AsyncHTTPClient.
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import TailraceFoundation
import TailraceStored

extension HTTPClient {
  /// Sends the requests of a `RemoteList` to a server.
  ///
  /// ```swift
  /// let remote = RemoteList(
  ///   HTTPClient.shared.transport(to: "https://example.com"), path: "/runs/7",
  ///   element: .json as ByteCoding<Token>)
  /// ```
  ///
  /// - Parameters:
  ///   - server: scheme, host and port.
  ///   - headers: what the server wants to have, such as `Authorization`; asked for each request.
  func transport(
    to server: String, headers: @escaping @Sendable () async throws -> [(String, String)] = { [] }
  ) -> RemoteTransport {
    { request in
      var message = HTTPClientRequest(url: server + request.path)
      message.method = .RAW(value: request.method)
      for (name, value) in request.headers { message.headers.add(name: name, value: value) }
      for (name, value) in try await headers() { message.headers.add(name: name, value: value) }
      // The list has its own time limit for a silent connection; this one is of the whole head.
      let response = try await self.execute(message, timeout: .seconds(60))
      return RemoteResponse(
        status: Int(response.status.code),
        headers: response.headers.map { (key: $0.name, value: $0.value) },
        body: Bytes(body: response.body))
    }
  }
}

/// The pieces of a body, as bytes.
private struct Bytes: AsyncSequence, Sendable {
  let body: HTTPClientResponse.Body

  func makeAsyncIterator() -> Iterator { Iterator(base: body.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var base: HTTPClientResponse.Body.AsyncIterator

    mutating func next() async throws -> Data? {
      try await base.next().map { Data(buffer: $0) }
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
      try await base.next(isolation: actor).map { Data(buffer: $0) }
    }
  }
}
