import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdLists
import HummingbirdTesting
import Tailrace
import TailraceFoundation
import TailraceStored
import TailraceTesting
import Testing

@testable import feed

/// Requests through a real server and a real connection, and their responses.
@Suite("Routes", .timeLimit(.minutes(2)))
struct RouteTests {
  /// A list of five elements, of which the first is discarded.
  private static func store(isEnded: Bool) -> MemoryStore<Int, Int> {
    let store = MemoryStore<Int, Int>([10, 11, 12, 13, 14], isEnded: isEnded)
    store.trim(before: 1)
    return store
  }

  private func application(_ store: MemoryStore<Int, Int>) -> some ApplicationProtocol {
    Feed.application(
      serving: ListEndpoint(store, patience: .milliseconds(20), eventsEnd: .milliseconds(20))
    ) { _ in }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var method = HTTPRequest.Method.get
    var query = ""
    var headers: HTTPFields = [:]
    var isEnded = true
    let status: Int
    var body: String?
    var fields: [String: String?] = [:]
    var testDescription: String { "\(method) \(query) \(isEnded ? "ended" : "open")" }
  }

  static let rows = [
    Row(
      query: "", status: 200, body: "[11,12,13,14]",
      fields: [
        "Stream-Next-Offset": "@5", "Stream-Closed": "true",
        "Content-Type": "application/json", "Connection": nil,
      ]),
    Row(
      query: "?offset=@2&limit=2", status: 200, body: "[12,13]",
      fields: ["Stream-Next-Offset": "@4", "Stream-Up-To-Date": nil]),
    Row(
      query: "?offset=@3", isEnded: false, status: 200, body: "[13,14]",
      fields: ["Stream-Up-To-Date": "true", "Stream-Closed": nil]),
    Row(
      query: "?offset=@3",
      headers: [.ifNoneMatch: "\"list:@3:@5:c\""], status: 304,
      body: ""),
    Row(
      query: "?offset=@3",
      headers: [.ifNoneMatch: "\"list:@3:@5:c\""], isEnded: false,
      status: 200, body: "[13,14]"),
    Row(
      query: "?offset=@0", status: 410,
      fields: ["Stream-Next-Offset": "@1"]
    ),
    Row(query: "?offset=%2D1", status: 200, body: "[11,12,13,14]"),
    Row(query: "?offset=5", status: 400),
    Row(query: "?offset=@3%20", status: 400),
    Row(query: "?offset=", status: 400),
    Row(query: "?limit=0", status: 400),
    Row(query: "?live=often&offset=-1", status: 400),
    Row(query: "?live=long-poll", status: 400),
    Row(
      query: "?live=long-poll&offset=@5", isEnded: false, status: 204, body: "",
      fields: [
        "Stream-Next-Offset": "@5", "Stream-Up-To-Date": "true",
        "Connection": "close", "Content-Length": nil,
      ]),
    Row(
      query: "?live=long-poll&offset=@5", status: 204, body: "",
      fields: ["Stream-Closed": "true"]),
    Row(
      query: "?live=long-poll&offset=@4", isEnded: false, status: 200, body: "[14]",
      fields: ["Connection": "close"]),
    Row(
      query: "?live=sse&offset=@4", status: 200,
      body: """
        retry: 0

        event: data
        data:[14]
        id: @5

        event: control
        data:{"streamNextOffset":"@5","upToDate":true,"streamClosed":true}
        id: @5


        """,
      fields: ["Content-Type": "text/event-stream", "Connection": "close", "Content-Length": nil]),
    Row(
      headers: [.accept: "text/event-stream", .lastEventID: "@5"], status: 204,
      body: ""),
    Row(query: "?live=sse&offset=@0", status: 410),
    Row(query: "?offset=0000000000000005", status: 410, fields: ["Stream-Next-Offset": "@1"]),
    Row(query: "?offset=@6", status: 410, fields: ["Stream-Next-Offset": "@1"]),
    Row(
      method: .head, status: 200, body: "",
      fields: [
        "Stream-Next-Offset": "@5", "Stream-Closed": "true", "Content-Length": "13",
        "Connection": nil,
      ]),
    Row(method: .head, query: "?offset=5", status: 400, body: ""),
    Row(method: .post, status: 405, fields: ["Allow": "GET, HEAD"]),
    Row(method: .put, status: 405),
    Row(method: .delete, status: 405),
    Row(method: .patch, status: 405),
    Row(method: .options, status: 405),
    Row(method: .trace, status: 405),
  ]

  @Test("a request of the list", arguments: rows)
  func request(_ row: Row) async throws {
    let store = Self.store(isEnded: row.isEnded)
    let identity = try #require(try await store.extent().identity)
    // @5 stands for the offset of position 5.
    @Sendable func named(_ text: String) -> String {
      text.replacing(/@(\d+)/) { match in
        "\(identity)_" + String(repeating: "0", count: 16 - match.1.count) + match.1
      }
    }
    var headers = row.headers
    for field in row.headers { headers[field.name] = named(field.value) }
    let sent = headers
    try await application(store).test(.ahc(.http)) { client in
      // Twice: the connection is left in order.
      for _ in 0..<2 {
        try await client.execute(
          uri: "/stream" + named(row.query), method: row.method, headers: sent
        ) { response in
          #expect(response.status.code == row.status)
          let text = String(buffer: response.body).replacing(/retry: \d+/, with: "retry: 0")
          if let body = row.body { #expect(text == named(body)) }
          for (name, value) in row.fields {
            let field = try #require(HTTPField.Name(name))
            #expect(response.headers[field] == value.map(named), "\(name)")
          }
        }
      }
    }
  }

  @Test("HEAD has no body, also if it is refused", arguments: ["", "?offset=x"])
  func head(query: String) async throws {
    let router = Router()
    router.list("stream", ListEndpoint(MemoryStore<Int, Int>([1, 2])))
    try await withServer(router) { port in
      let bytes = try await onThread {
        let socket = try Socket(port: port)
        try socket.request("/stream" + query, method: "HEAD", ["Connection: close"])
        return try socket.receiveAll()
      }
      #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("\r\n\r\n"))
    }
  }

  @Test("the page loads nothing from elsewhere, and runs no script but its own")
  func page() async throws {
    try await application(Self.store(isEnded: true)).test(.live) { client in
      try await client.execute(uri: "/", method: .get) { response in
        let text = String(buffer: response.body)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        #expect(text.hasPrefix("<!doctype html>"))
        #expect(!text.contains("http:") && !text.contains("https:"))
      }
      try await client.execute(uri: "/", method: .head) { response in
        #expect(response.status == .ok)
        #expect(response.body.readableBytes == 0)
      }
      try await client.execute(uri: "/other", method: .get) { #expect($0.status == .notFound) }
    }
  }

  @Test("an error of the source is 500, and the next request is served")
  func failure() async throws {
    let application = Feed.application(serving: ListEndpoint(BrokenSource())) { _ in }
    try await application.test(.live) { client in
      try await client.execute(uri: "/stream?offset=0000000000000001", method: .get) {
        #expect($0.status == .internalServerError)
      }
      try await client.execute(uri: "/stream", method: .get) { #expect($0.status == .ok) }
    }
  }
}

/// A list whose second element cannot be read.
struct BrokenSource: ListSource {
  nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Int> {
    if position > 0 { throw ListStoreError.damaged(at: position) }
    return ListPage([1])
  }

  nonisolated(nonsending) func waitForMore(than position: Int) async throws {}

  nonisolated(nonsending) func extent() async throws -> ListExtent {
    ListExtent(identity: nil, count: 2, isEnded: false)
  }
}

extension HTTPField.Name {
  static var lastEventID: Self { Self("Last-Event-ID")! }
}

/// The arguments of the program.
@Suite("Arguments")
struct OptionTests {
  @Test("arguments that are right")
  func options() throws {
    let options = try FeedOptions(
      ["--port", "0", "list", "--every", "5", "--count", "7", "--keep", "3", "--host", "::1"])
    #expect(options.file.lastPathComponent == "list")
    #expect(options.port == 0)
    #expect(options.host == "::1")
    #expect(options.every == .milliseconds(5))
    #expect(options.count == 7)
    #expect(options.keep == 3)
  }

  @Test(
    "arguments that are wrong say what they take",
    arguments: [
      (["--port", "0"], "one FILE is required, not 0"),
      (["a", "b"], "one FILE is required, not 2"),
      (["a", "--port", "70000"], "--port takes a number of 0...65535, not 70000"),
      (["a", "--every", "often"], "--every takes a number of 0...86400000, not often"),
      (["a", "--keep", "0"], "--keep takes a number of 1"),
      (["a", "--count"], "--count takes a value, or is unknown"),
      (["a", "--colour", "red"], "--colour is unknown"),
    ])
  func mistakes(_ arguments: [String], _ problem: String) {
    let error = #expect(throws: UsageError.self) { try FeedOptions(arguments) }
    #expect(error?.description.hasPrefix("feed: \(problem)") == true)
  }
}
