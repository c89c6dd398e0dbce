import Foundation
import Testing

@testable import TailraceStored

@Suite("The query in a request for a list", .inTurn)
struct ListQueryTests {
  private func query(_ request: ListRequest) throws -> ListQuery {
    try ListQuery(request, pageLimit: 100)
  }

  private func refusal(_ request: ListRequest) -> ListRefusal? {
    do {
      _ = try ListQuery(request, pageLimit: 100)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "offsets",
    arguments: [
      (nil, ListQuery.Start.first), ("-1", .first), ("now", .end),
      ("0000000000000000", .offset(ListOffset(nil, 0))),
      ("a-1_0000000000000042", .offset(ListOffset("a-1", 42))),
      ("9999999999999999", .offset(ListOffset(nil, 9_999_999_999_999_999))),
    ] as [(String?, ListQuery.Start)])
  func offsets(_ offset: String?, _ start: ListQuery.Start) throws {
    #expect(try query(ListRequest(offset: offset)).start == start)
  }

  @Test(
    "offsets that no response has named",
    arguments: [
      "", "0", "-2", "NOW", "42", "000000000000004", "00000000000000042", "000000000000004x",
      "+000000000000042", "000000000000 042", "-000000000000042", "00000000000000４",
      "_0000000000000042", "a_000000000000042", "a_00000000000000042", "a0000000000000042",
      "a/b_0000000000000042", "a_b_0000000000000042", "é_0000000000000042",
      String(repeating: "a", count: 201) + "_0000000000000042",
    ])
  func badOffsets(_ offset: String) {
    for live in [nil, "long-poll", "sse"] {
      #expect(
        refusal(ListRequest(offset: offset, live: live))
          == .parameter("there is no offset \(offset)"))
    }
  }

  @Test("an offset has the order of its position")
  func order() {
    let positions = [0, 1, 9, 10, 99, 100, 12_345, 9_999_999_999_999_999]
    for identity in [nil, "a", "B-2"] {
      let offsets = positions.map { ListOffset(identity, $0) }
      let names = offsets.map(\.name)
      #expect(names == names.sorted())
      #expect(names.map { ListOffset($0) } == offsets)
    }
    #expect(ListOffset("a-1", 42).name == "a-1_0000000000000042")
    let longest = String(repeating: "a", count: 200)
    #expect(ListOffset(longest + "_0000000000000042")?.identity == longest)
  }

  @Test(
    "limits",
    arguments: [
      (nil, 100), ("1", 1), ("99", 99), ("100", 100), ("101", 100), ("007", 7),
      ("99999999999999999999999999", 100),
    ] as [(String?, Int)])
  func limits(_ limit: String?, _ number: Int) throws {
    #expect(try query(ListRequest(limit: limit)).limit == number)
  }

  @Test("limits that are none", arguments: ["", "0", "000", "-1", "+1", "1.5", "many", "1 "])
  func badLimits(_ limit: String) {
    #expect(refusal(ListRequest(limit: limit)) != nil)
  }

  @Test(
    "modes",
    arguments: [
      (ListRequest(), .catchUp),
      (ListRequest(offset: "-1", live: "long-poll"), .longPoll),
      (ListRequest(offset: "-1", live: "sse"), .events(reconnects: false)),
      (ListRequest(accept: "text/event-stream"), .events(reconnects: false)),
      (
        ListRequest(accept: "text/html, Text/Event-Stream; q=0.9"),
        .events(reconnects: false)
      ),
      (ListRequest(accept: "application/json, */*"), .catchUp),
      (ListRequest(accept: "application/json, text/event-stream;q=0"), .catchUp),
      (ListRequest(accept: "text/event-stream; charset=utf-8; Q=0.000"), .catchUp),
      (ListRequest(accept: "text/event-stream;q=x"), .catchUp),
      (ListRequest(accept: "application/json, text/event-stream;q=0.5"), .catchUp),
      (
        ListRequest(accept: "application/json;q=0.5, text/event-stream"),
        .events(reconnects: false)
      ),
      (ListRequest(accept: "application/json, text/event-stream"), .events(reconnects: false)),
      (
        ListRequest(accept: "text/event-stream", lastEventID: "0000000000000007"),
        .events(reconnects: true)
      ),
    ] as [(ListRequest, ListQuery.Mode)])
  func modes(_ request: ListRequest, _ mode: ListQuery.Mode) throws {
    #expect(try query(request).mode == mode)
  }

  @Test(
    "an unknown mode is refused, and a live request without an offset", arguments: ["", "poll"])
  func badModes(_ live: String) {
    #expect(refusal(ListRequest(offset: "-1", live: live)) != nil)
    #expect(refusal(ListRequest(live: "long-poll")) != nil)
    #expect(refusal(ListRequest(live: "sse")) != nil)
  }

  @Test("Last-Event-ID counts more than the address, for events only")
  func lastEventID() throws {
    let id = "0000000000000007"
    let again = ListRequest(offset: "-1", live: "sse", lastEventID: id)
    #expect(try query(again).start == .offset(ListOffset(nil, 7)))
    // A browser that has got no event yet names none.
    #expect(try query(ListRequest(offset: "-1", live: "sse", lastEventID: "")).start == .first)
    #expect(try query(ListRequest(offset: "-1", lastEventID: id)).start == .first)
    #expect(refusal(ListRequest(offset: "-1", live: "sse", lastEventID: "7")) != nil)
  }

  @Test("methods", arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get", ""])
  func methods(_ method: String) {
    let refusal = refusal(ListRequest(method: method))
    #expect(refusal == .method)
    #expect(refusal?.response.status == 405)
    #expect(refusal?.response.headers["Allow"] == "GET, HEAD")
  }

  @Test("a request from a server's")
  func fromServer() {
    let query = ["offset": "now", "live": "sse", "limit": "5", "cursor": "9"]
    let fields = [
      "if-none-match": "\"a\"", "accept": "text/event-stream", "last-event-id": "0000000000000001",
      "origin": "https://example.com",
    ]
    let request = ListRequest(method: "HEAD") {
      query[$0]
    } header: {
      fields[$0.lowercased()]
    }
    #expect(
      request
        == ListRequest(
          method: "HEAD", offset: "now", live: "sse", limit: "5", cursor: "9",
          ifNoneMatch: "\"a\"", accept: "text/event-stream", lastEventID: "0000000000000001",
          origin: "https://example.com"))
  }

  @Test("a cursor grows with time, and is more than the client's")
  func cursors() throws {
    let date = Date(timeIntervalSince1970: StreamCursor.epoch + 20_019)
    #expect(StreamCursor.value(at: date, after: nil) == "1000")
    #expect(StreamCursor.value(at: date, after: "999") == "1000")
    for client in ["", "abc", "-5", "99999999999999999999", "\(Int.max)"] {
      #expect(StreamCursor.value(at: date, after: client) == "1000", "\(client)")
    }
    for client in [1000, 1001, 5000] {
      let cursor = try #require(Int(StreamCursor.value(at: date, after: String(client))))
      #expect(cursor > client && cursor <= client + 180)
    }
  }
}
