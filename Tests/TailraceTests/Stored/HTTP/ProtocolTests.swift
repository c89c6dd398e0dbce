import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

// The rules of the *durable streams* protocol, 1.0, for servers that are read:
// https://github.com/durable-streams/durable-streams/blob/main/PROTOCOL.md. The number of each row is that
// of the section, in the edition with 5.5 Metadata, 5.6 Catch-up, 5.7 Long-poll and 5.8 Events.

/// A rule: for a list, what a request gets.
struct ProtocolRow: Sendable, CustomTestStringConvertible {
  /// The list: elements from 10 on.
  struct List: Sendable {
    var count = 3
    var first = 0
    var isEnded = false
    var pageLimit = 1000
    var isShared = false
    var origins = AllowedOrigins.sameOrigin
  }

  var section: String
  var rule: String
  var list = List()
  var request: ListRequest
  var status: Int
  /// Fields, with their values; nil: there is none; `*`: whatever value.
  var fields: [String: String?] = [:]
  /// The body; nil: it makes no difference. For events: the names and data of the first ones.
  var body: String?

  var testDescription: String { "\(section) \(rule)" }

  init(
    _ section: String, _ rule: String, _ request: ListRequest, _ status: Int,
    _ fields: [String: String?] = [:], _ body: String? = nil
  ) {
    self.init(section, rule, List(), request, status, fields, body)
  }

  init(
    _ section: String, _ rule: String, _ list: List, _ request: ListRequest, _ status: Int,
    _ fields: [String: String?] = [:], _ body: String? = nil
  ) {
    (self.section, self.rule, self.list, self.request) = (section, rule, list, request)
    (self.status, self.fields, self.body) = (status, fields, body)
  }
}

@Suite("Rules of the durable streams protocol for its read side", .inTurn, .hangLimit)
struct ProtocolTests {
  typealias List = ProtocolRow.List

  private static func get(_ offset: String?, _ live: String? = nil, limit: String? = nil)
    -> ListRequest
  {
    ListRequest(offset: offset, live: live, limit: limit)
  }

  // In offsets and bodies, @3 stands for the name of position 3.
  static let metadata: [ProtocolRow] = [
    .init(
      "5.5", "metadata names the end", ListRequest(method: "HEAD"), 200,
      ["Stream-Next-Offset": "@3"], ""),
    .init(
      "5.5", "metadata has the type", ListRequest(method: "HEAD"), 200,
      ["Content-Type": "application/json"]),
    .init(
      "5.5", "metadata is not kept", ListRequest(method: "HEAD"), 200, ["Cache-Control": "no-store"]
    ),
    .init(
      "5.5", "an open list is not closed", ListRequest(method: "HEAD"), 200, ["Stream-Closed": nil]),
    .init(
      "5.5", "a closed list is closed", List(isEnded: true), ListRequest(method: "HEAD"), 200,
      ["Stream-Closed": "true"]),
    .init(
      "5.5", "an empty list has an end", List(count: 0), ListRequest(method: "HEAD"), 200,
      ["Stream-Next-Offset": "@0"]),
  ]

  static let methods: [ProtocolRow] = ["POST", "PUT", "DELETE", "PATCH"].map {
    .init("5.2", "\($0) is not supported", ListRequest(method: $0), 405, ["Allow": "GET, HEAD"])
  }

  static let catchUp: [ProtocolRow] = [
    .init(
      "5.6", "without an offset: from the beginning", get(nil), 200, ["Stream-Next-Offset": "@3"],
      "[10,11,12]"),
    .init("6", "-1 is the beginning", get("-1"), 200, ["Stream-Next-Offset": "@3"], "[10,11,12]"),
    .init("5.6", "from an offset on", get("@1"), 200, ["Stream-Next-Offset": "@3"], "[11,12]"),
    .init("5.6", "from the first offset on", get("@0"), 200, [:], "[10,11,12]"),
    .init(
      "5.6", "at the end: an empty array, and the same offset", get("@3"), 200,
      ["Stream-Next-Offset": "@3"], "[]"),
    .init("5.6", "all that there is: up to date", get("-1"), 200, ["Stream-Up-To-Date": "true"]),
    .init("5.6", "at the end: up to date", get("@3"), 200, ["Stream-Up-To-Date": "true"]),
    .init(
      "5.6", "an empty list: up to date", List(count: 0), get("-1"), 200,
      ["Stream-Up-To-Date": "true", "Stream-Next-Offset": "@0"], "[]"),
    .init(
      "5.6", "a part: not up to date", List(pageLimit: 2), get("-1"), 200,
      ["Stream-Up-To-Date": nil, "Stream-Next-Offset": "@2"], "[10,11]"),
    .init(
      "5.6", "the last part: up to date", List(pageLimit: 2), get("@2"), 200,
      ["Stream-Up-To-Date": "true"], "[12]"),
    .init(
      "5.6", "a part of a closed list: not closed yet", List(isEnded: true, pageLimit: 2),
      get("-1"), 200, ["Stream-Closed": nil]),
    .init(
      "5.6", "the last part of a closed list: closed", List(isEnded: true), get("-1"), 200,
      ["Stream-Closed": "true"]),
    .init(
      "5.6", "behind a closed list: closed, and empty", List(isEnded: true), get("@3"), 200,
      ["Stream-Closed": "true", "Stream-Up-To-Date": "true"], "[]"),
    .init("5.6", "a page has a tag", get("-1"), 200, ["ETag": "\"list:@0:@3\""]),
    .init(
      "5.6", "the tag of a part", List(pageLimit: 2), get("@1"), 200, ["ETag": "\"list:@1:@3\""]),
    .init(
      "5.6", "a closed list has another tag", List(isEnded: true), get("-1"), 200,
      ["ETag": "\"list:@0:@3:c\""]),
    .init("5.6", "a page has a cursor", get("-1"), 200, ["Stream-Cursor": "*"]),
    .init("5.6", "a malformed offset", get("x y"), 400),
    .init("5.6", "an empty offset", get(""), 400),
    .init("5.6", "an unknown mode", get("-1", "push"), 400),
    .init(
      "5.6", "elements were discarded before: 410", List(first: 2), get("@1"), 410,
      ["Stream-Next-Offset": "@2"]),
    .init(
      "5.6", "-1 begins at the first that is kept", List(first: 2), get("-1"), 200, [:], "[12]"),
    .init("9", "an offset beyond the end is of no element", get("@4"), 410),
    .init("7.1", "elements are a JSON array", get("-1"), 200, ["Content-Type": "application/json"]),
  ]

  static let now: [ProtocolRow] = [
    .init("6", "now: nothing that was there", get("now"), 200, ["Stream-Next-Offset": "@3"], "[]"),
    .init("6", "now: up to date", get("now"), 200, ["Stream-Up-To-Date": "true"]),
    .init("6", "now: not kept", get("now"), 200, ["Cache-Control": "no-store"]),
    .init("8.1", "now: no tag", get("now"), 200, ["ETag": nil]),
    .init(
      "6", "now: where the list begins", List(first: 2), get("now"), 200,
      ["Stream-First-Offset": "@2", "Stream-Next-Offset": "@3"], "[]"),
    .init(
      "6", "now, closed: closed", List(isEnded: true), get("now"), 200, ["Stream-Closed": "true"],
      "[]"),
    .init(
      "6", "now, of an empty list", List(count: 0), get("now"), 200, ["Stream-Next-Offset": "@0"],
      "[]"),
    .init(
      "6", "now, long poll in vain: the end", get("now", "long-poll"), 204,
      ["Stream-Next-Offset": "@3", "Stream-Up-To-Date": "true"], ""),
    .init(
      "6", "now, long poll of a closed list: at once", List(isEnded: true), get("now", "long-poll"),
      204, ["Stream-Closed": "true"], ""),
    .init(
      "6", "now, events: first the end", get("now", "sse"), 200, [:],
      #"control {"streamNextOffset":"@3","streamCursor":"7","upToDate":true}"#),
  ]

  static let longPoll: [ProtocolRow] = [
    .init("5.7", "an offset is required", get(nil, "long-poll"), 400),
    .init(
      "5.7", "what is there comes at once", get("@1", "long-poll"), 200,
      ["Stream-Next-Offset": "@3"], "[11,12]"),
    .init(
      "5.7", "from the beginning", get("-1", "long-poll"), 200, ["Stream-Up-To-Date": "true"],
      "[10,11,12]"),
    .init("5.7", "200 has a cursor", get("@1", "long-poll"), 200, ["Stream-Cursor": "7"]),
    .init("8.1", "200 has a tag", get("@1", "long-poll"), 200, ["ETag": "\"list:@1:@3\""]),
    .init("5.7", "nothing comes: 204", get("@3", "long-poll"), 204, [:], ""),
    .init("5.7", "204 names the end", get("@3", "long-poll"), 204, ["Stream-Next-Offset": "@3"]),
    .init("5.7", "204 is up to date", get("@3", "long-poll"), 204, ["Stream-Up-To-Date": "true"]),
    .init("5.7", "204 has a cursor", get("@3", "long-poll"), 204, ["Stream-Cursor": "7"]),
    .init("8.1", "204 is not kept", get("@3", "long-poll"), 204, ["Cache-Control": "no-store"]),
    .init(
      "5.7", "204 of an open list is not closed", get("@3", "long-poll"), 204,
      ["Stream-Closed": nil]),
    .init(
      "5.7", "behind a closed list: 204 at once, closed", List(isEnded: true),
      get("@3", "long-poll"), 204,
      ["Stream-Closed": "true", "Stream-Up-To-Date": "true", "Stream-Next-Offset": "@3"], ""),
    .init(
      "5.7", "the last elements of a closed list: closed", List(isEnded: true),
      get("@1", "long-poll"), 200, ["Stream-Closed": "true"], "[11,12]"),
    .init("5.7", "a malformed offset", get("1,2", "long-poll"), 400),
  ]

  static let events: [ProtocolRow] = [
    .init("5.8", "an offset is required", get(nil, "sse"), 400),
    .init(
      "5.8", "the type is that of events", get("-1", "sse"), 200,
      ["Content-Type": "text/event-stream"]),
    .init(
      "5.8", "data, then control with offset and cursor", get("-1", "sse"), 200, [:],
      "data [10,11,12]\n" + #"control {"streamNextOffset":"@3","streamCursor":"7","upToDate":true}"#
    ),
    .init(
      "5.8", "from an offset on", get("@2", "sse"), 200, [:],
      "data [12]\n" + #"control {"streamNextOffset":"@3","streamCursor":"7","upToDate":true}"#),
    .init(
      "5.8", "at the end: a control event alone", get("@3", "sse"), 200, [:],
      #"control {"streamNextOffset":"@3","streamCursor":"7","upToDate":true}"#),
    .init(
      "5.8", "a control event after each part", List(pageLimit: 2), get("-1", "sse"), 200, [:],
      "data [10,11]\n" + #"control {"streamNextOffset":"@2","streamCursor":"7"}"#),
    .init(
      "5.8", "a closed list: the last control says so, without a cursor", List(isEnded: true),
      get("@1", "sse"), 200, [:],
      "data [11,12]\n" + #"control {"streamNextOffset":"@3","upToDate":true,"streamClosed":true}"#),
    .init(
      "5.8", "behind a closed list: control alone", List(isEnded: true), get("@3", "sse"), 200, [:],
      #"control {"streamNextOffset":"@3","upToDate":true,"streamClosed":true}"#),
    .init(
      "5.8", "an empty list", List(count: 0), get("-1", "sse"), 200, [:],
      #"control {"streamNextOffset":"@0","streamCursor":"7","upToDate":true}"#),
    .init("5.8", "discarded elements: 410", List(first: 2), get("@1", "sse"), 410),
    .init("5.8", "a malformed offset", get("@1@2", "sse"), 400),
  ]

  static let caching: [ProtocolRow] = [
    .init(
      "8.1", "a full page may be kept by this client", List(pageLimit: 2), get("@0"), 200,
      ["Cache-Control": "private, max-age=60, stale-while-revalidate=300"]),
    .init(
      "8.1", "a full page of a shared list may be kept by all", List(pageLimit: 2, isShared: true),
      get("@0"), 200, ["Cache-Control": "public, max-age=60, stale-while-revalidate=300"]),
    .init(
      "8.1", "a page of a closed list may be kept", List(isEnded: true), get("@1"), 200,
      ["Cache-Control": "private, max-age=60, stale-while-revalidate=300"]),
    .init(
      "8.1", "the beginning is that of whatever list is there: asked for each time",
      List(pageLimit: 2, isShared: true), get("-1"), 200,
      ["Cache-Control": "no-cache", "ETag": "\"list:@0:@2\""]),
    .init(
      "8.1", "so is an address without an offset", List(isEnded: true), get(nil), 200,
      ["Cache-Control": "private, no-cache", "ETag": "\"list:@0:@3:c\""]),
    .init(
      "8.1", "the same tag: 304, without a body",
      ListRequest(offset: "-1", ifNoneMatch: "\"list:@0:@3\""), 304,
      ["ETag": "\"list:@0:@3\"", "Stream-Next-Offset": "@3"], ""),
    .init(
      "8.1", "another tag: 200", ListRequest(offset: "-1", ifNoneMatch: "\"list:@0:@2\""), 200, [:],
      "[10,11,12]"),
    .init(
      "8.1", "closed since: 200", List(isEnded: true),
      ListRequest(offset: "-1", ifNoneMatch: "\"list:@0:@3\""), 200, ["Stream-Closed": "true"],
      "[10,11,12]"),
    .init(
      "8.1", "a cursor that is ahead grows",
      ListRequest(offset: "@3", live: "long-poll", cursor: "7"), 204, ["Stream-Cursor": ">7"]),
    .init(
      "8.1", "a cursor far ahead grows",
      ListRequest(offset: "@3", live: "long-poll", cursor: "5000"), 204, ["Stream-Cursor": ">5000"]),
    .init(
      "8.1", "a cursor behind is replaced",
      ListRequest(offset: "@3", live: "long-poll", cursor: "3"), 204, ["Stream-Cursor": "7"]),
    .init(
      "8.1", "no cursor at all is replaced",
      ListRequest(offset: "@3", live: "long-poll", cursor: "x"), 204, ["Stream-Cursor": "7"]),
  ]

  static let security: [ProtocolRow] = [
    get("-1"), get("@3", "long-poll"), get("-1", "sse"), get("x"), get("@9"),
    ListRequest(method: "HEAD"),
    ListRequest(method: "POST"),
  ].flatMap { request -> [ProtocolRow] in
    let status =
      request.method == "POST"
      ? 405
      : request.offset == "x"
        ? 400 : request.offset == "@9" ? 410 : request.offset == "@3" ? 204 : 200
    return [
      .init(
        "10.7",
        "no guessing of types, \(request.method) \(request.offset ?? "") \(request.live ?? "")",
        request, status, ["X-Content-Type-Options": "nosniff"]),
      .init(
        "10.7",
        "of the same origin, \(request.method) \(request.offset ?? "") \(request.live ?? "")",
        request, status, ["Cross-Origin-Resource-Policy": "same-origin"]),
      .init(
        "10.7",
        "of any origin, \(request.method) \(request.offset ?? "") \(request.live ?? "")",
        List(origins: .all), request, status,
        [
          "Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*",
          "Access-Control-Expose-Headers": "*", "Access-Control-Allow-Credentials": nil,
        ]),
      .init(
        "10.7",
        "no other origin, \(request.method) \(request.offset ?? "") \(request.live ?? "")",
        request, status, ["Access-Control-Allow-Origin": nil]),
    ]
  }

  private static func preflight(_ origin: String) -> ListRequest {
    ListRequest(method: "OPTIONS", origin: origin)
  }

  private static let ours = "https://example.com"

  // Not of the protocol: what a browser needs that shows a page of another site.
  static let origins: [ProtocolRow] = [
    .init("CORS", "OPTIONS without a switch", preflight(ours), 405, ["Allow": "GET, HEAD"]),
    .init(
      "CORS", "OPTIONS, all", List(origins: .all), preflight(ours), 204,
      [
        "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "GET, HEAD",
        "Access-Control-Allow-Headers": "*", "Access-Control-Max-Age": "86400",
        "Cache-Control": "no-store",
      ], ""),
    .init(
      "CORS", "one of those that are named", List(origins: .only([ours])),
      ListRequest(offset: "-1", origin: ours), 200,
      [
        "Access-Control-Allow-Origin": ours, "Access-Control-Allow-Credentials": "true",
        "Vary": "Accept, Origin",
      ]),
    .init(
      "CORS", "OPTIONS of one of those", List(origins: .only([ours])), preflight(ours), 204,
      ["Access-Control-Allow-Origin": ours, "Vary": "Accept, Origin"], ""),
    .init(
      "CORS", "another one than those", List(origins: .only([ours])),
      ListRequest(offset: "-1", origin: "https://example.org"), 200,
      ["Access-Control-Allow-Origin": nil, "Vary": "Accept, Origin"]),
    .init(
      "CORS", "no browser", List(origins: .only([ours])), get("-1"), 200,
      ["Access-Control-Allow-Origin": nil], "[10,11,12]"),
  ]

  static let rows =
    metadata + methods + catchUp + now + longPoll + events + caching + security + origins

  @Test("a request, and its response", arguments: rows)
  func rule(_ row: ProtocolRow) async throws {
    let elements = Array(10..<(10 + row.list.count))
    let store = MemoryStore<Int, Int>(elements, isEnded: row.list.isEnded)
    store.trim(before: row.list.first)
    let names = try await ListNames(store)
    let scheduler = VirtualScheduler()
    var endpoint = ListEndpoint(
      store, pageLimit: row.list.pageLimit, isShared: row.list.isShared,
      origins: row.list.origins, patience: .zero, clock: scheduler.clock)
    endpoint.date = { Date(timeIntervalSince1970: StreamCursor.epoch + 140) }
    var request = row.request
    request.offset = request.offset.map { Self.named($0, names) }
    request.ifNoneMatch = request.ifNoneMatch.map { Self.named($0, names) }

    let response = try await endpoint.response(to: request)
    #expect(response.status == row.status)
    for (name, value) in row.fields {
      let found = response.headers[name]
      switch value {
      case nil: #expect(found == nil, "\(name)")
      case "*"?: #expect(found != nil, "\(name)")
      case let value? where value.hasPrefix(">"):
        let (number, bound) = (found.flatMap(Int.init) ?? 0, Int(value.dropFirst()) ?? 0)
        #expect(number > bound && number <= bound + 180, "\(name)")
      case let value?: #expect(found == Self.named(value, names), "\(name)")
      }
    }
    guard let body = row.body else { return }
    #expect(try await Self.text(response.body) == Self.named(body, names))
  }

  private static func named(_ text: String, _ names: ListNames) -> String {
    text.replacing(/@(\d)/) { names(Int($0.1) ?? 0) }
  }

  /// The first part of events as lines of name and data.
  private static func text(_ body: ListResponse.Body) async throws -> String {
    switch body {
    case .empty: return ""
    case .data(let data): return String(decoding: data, as: UTF8.self)
    case .events(let events):
      var iterator = events.makeAsyncIterator()
      var parser = EventParser(limit: 10_000)
      let bytes = try await iterator.next() ?? Data()
      return try parser.take(Array(bytes))
        .map { "\($0.name) \(String(decoding: $0.data, as: UTF8.self))" }.joined(separator: "\n")
    }
  }

  @Test(
    "offsets of one list have the order of their positions, and characters that no address needs to encode"
  )
  func offsets() async throws {
    // 6: lexicographic order, no , & = ? /, fewer than 256 characters, never -1 or now.
    let names = try await ListNames(MemoryStore<Int, Int>())
    let all = [0, 1, 9, 10, 99, 100, 123_456_789, 9_999_999_999_999_999].map { names($0) }
    #expect(all == all.sorted() && Set(all).count == all.count)
    #expect(all.allSatisfy { $0.utf8.count < 256 && !$0.contains(/[,&=?\/]/) && $0 != "now" })
  }
}
