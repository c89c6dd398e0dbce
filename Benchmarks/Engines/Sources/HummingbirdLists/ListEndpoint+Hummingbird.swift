// Copy this file into a project that uses Hummingbird.
import Foundation
import HTTPTypes
package import Hummingbird
import ServiceLifecycle
import TailraceLists
package import TailraceStored

extension RouterMethods {
  /// Serves a list at a path.
  ///
  /// ```swift
  /// router.list("stream", ListEndpoint(store))
  /// ```
  @discardableResult
  package func list<Source>(_ path: RouterPath, _ endpoint: ListEndpoint<Source>) -> Self {
    // The endpoint refuses other methods with 405; the router would answer 404.
    for method in [
      HTTPRequest.Method.get, .head, .options, .post, .put, .patch, .delete, .trace, .connect,
    ] {
      on(path, method: method) { request, _ in try await endpoint.response(to: request) }
    }
    return self
  }
}

extension ListEndpoint {
  /// Returns the response to a request. A request that waits ends when its client disconnects, or
  /// when the server shuts down gracefully. Its connection is closed then, as HTTP/1.1 does it.
  package func response(to request: Request) async throws -> Response {
    try await Response.answering(request) { try await self.response(to: $0) }
  }
}

extension Response {
  /// Makes the response to a request of what an endpoint answers.
  package static func answering(
    _ request: Request, _ answer: @escaping @Sendable (ListRequest) async throws -> ListResponse
  ) async throws -> Response {
    let query = request.uri.queryParameters
    let values = ListRequest(
      method: request.method.rawValue,
      query: { query[Substring($0)].map(String.init) },
      header: { name in HTTPField.Name(name).flatMap { request.headers[$0] } })
    if values.method == "HEAD" { return Response(try await head(values, answer), to: request) }
    guard values.live == "long-poll" else {
      return Response(try await answer(values), to: request)
    }
    do {
      var response = try await request.body.consumeWithCancellationOnInboundClose {
        (_) -> ListResponse in
        try await cancelWhenGracefulShutdown { try await answer(values) }
      }
      // To notice the disconnection, all input was consumed: no other request can follow.
      response.headers["Connection"] = "close"
      return Response(response, to: request)
    } catch is CancellationError {
      return Response(status: .serviceUnavailable, headers: [.connection: "close"])
    }
  }

  /// The answer to HEAD, with the length that the one to GET has.
  ///
  /// It costs a page: a response without a length is sent in chunks here, also one to HEAD, and Hummingbird
  /// would say 0. A client that wants to know where the list ends asks `GET ?offset=now`, as `RemoteList` does.
  private static func head(
    _ values: ListRequest, _ answer: @Sendable (ListRequest) async throws -> ListResponse
  ) async throws -> ListResponse {
    var head = try await answer(values)
    var page = values
    (page.method, page.live, page.accept, page.ifNoneMatch) = ("GET", nil, nil, nil)
    if case .data(let data) = try await answer(page).body {
      head.headers["Content-Length"] = String(data.count)
    }
    return head
  }
}

extension Response {
  /// Makes a response of Hummingbird from a response of the list.
  fileprivate init(_ response: ListResponse, to request: Request) {
    var headers = HTTPFields()
    for (name, value) in response.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
    let status = HTTPResponse.Status(code: response.status)
    switch response.body {
    case .empty:
      self.init(status: status, headers: headers)
    case .data(let data):
      self.init(
        status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
      if request.method == .head { self = createHeadResponse() }
    case .events(let events):
      headers[.connection] = "close"
      let body = ResponseBody { writer in
        let outbound = Outbound(writer)
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          do {
            try await cancelWhenGracefulShutdown {
              // Waits while the client does not read, and leaves one that reads nothing.
              try await events.send { bytes in try await outbound.write(bytes) }
            }
          } catch is CancellationError {}
          try await outbound.writer.finish(nil)
        }
      }
      self.init(status: status, headers: headers, body: body)
    }
  }
}

/// Where a response is written to.
// Guard of `writer`: `send` writes from one task, and has returned when the response is finished.
private final class Outbound: @unchecked Sendable {
  var writer: any ResponseBodyWriter

  init(_ writer: any ResponseBodyWriter) { self.writer = writer }

  func write(_ bytes: Data) async throws { try await writer.write(ByteBuffer(bytes: bytes)) }
}
