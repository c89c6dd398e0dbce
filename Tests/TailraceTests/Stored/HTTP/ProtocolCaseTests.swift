import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

// What the suite of the *durable streams* protocol for servers asks of those that are read, in JSON mode:
// https://github.com/durable-streams/durable-streams, packages/server-conformance-tests. The groups are that
// suite's; the conversations are in our words. Left out are writing, lifetimes, forks, and lists of text.

/// A list, and what is sent of it.
final class Conversation: Sendable {
  typealias Store = MemoryStore<String, Int>

  /// A response as it is sent.
  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let text: String

    subscript(field: String) -> String? { headers[field] }
    var next: String { headers["Stream-Next-Offset"] ?? "none" }
    var isUpToDate: Bool { headers["Stream-Up-To-Date"] == "true" }
    var isClosed: Bool { headers["Stream-Closed"] == "true" }

    /// The control events, as the suite looks for them.
    var controls: [Control] {
      get throws {
        try text.matches(of: /event: control\s*\ndata:(\{[^}]+\})/).map {
          try JSONDecoder().decode(Control.self, from: Data($0.1.utf8))
        }
      }
    }

    /// The events by name, as the HTML standard reads them.
    func events(_ name: String) throws -> [String] {
      var parser = EventParser(limit: 1 << 20)
      return try parser.take(Array(text.utf8)).filter { $0.name == name }
        .map { String(decoding: $0.data, as: UTF8.self) }
    }
  }

  struct Control: Decodable {
    var streamNextOffset: String
    var streamCursor: String?
    var upToDate: Bool?
    var streamClosed: Bool?
  }

  let store: Store
  let scheduler = VirtualScheduler()
  private let hasty: ListEndpoint<Store>
  private let patient: ListEndpoint<Store>

  init(_ elements: [String], isEnded: Bool = false, pageLimit: Int = 1000) {
    let store = Store(elements, isEnded: isEnded)
    self.store = store
    func endpoint(_ patience: Duration, _ clock: any Clock<Duration>) -> ListEndpoint<Store> {
      ListEndpoint(store, pageLimit: pageLimit, patience: patience, clock: clock) { Data($0.utf8) }
    }
    (hasty, patient) = (endpoint(.zero, scheduler.clock), endpoint(.seconds(25), scheduler.clock))
  }

  func append(_ elements: String..., isEnd: Bool = false) async throws {
    let count = try #require(try await store.acquireLease()).count
    try await store.append(ListCommit(elements, state: 0, isEnd: isEnd), at: count)
  }

  func head() async throws -> Answer { try await answer(ListRequest(method: "HEAD"), hasty) }

  /// A response; of events, all up to the first control event that is up to date.
  func get(
    _ offset: String? = nil, _ live: String? = nil, cursor: String? = nil, tag: String? = nil
  ) async throws -> Answer {
    try await answer(
      ListRequest(offset: offset, live: live, cursor: cursor, ifNoneMatch: tag), hasty)
  }

  /// The response to a long poll that waits, while something happens to the list.
  func poll(
    _ offset: String, while change: @escaping @Sendable () async throws -> Void
  ) async throws -> Answer {
    async let answer = answer(ListRequest(offset: offset, live: "long-poll"), patient)
    await scheduler.waitForSleepers(1)
    try await change()
    return try await answer
  }

  private func answer(
    _ request: ListRequest, _ endpoint: ListEndpoint<Store>
  ) async throws -> Answer {
    let response = try await endpoint.response(to: request)
    var text = ""
    switch response.body {
    case .empty: break
    case .data(let data): text = String(decoding: data, as: UTF8.self)
    case .events(let events):
      for try await part in events {
        text += String(decoding: part, as: UTF8.self)
        if text.contains("\"upToDate\"") { break }
      }
    }
    return Answer(status: response.status, headers: response.headers, text: text)
  }
}

/// A case of the suite.
struct ProtocolCase: Sendable, CustomTestStringConvertible {
  typealias Talk = @Sendable (Conversation) async throws -> Bool

  let group: String
  let name: String
  let list: @Sendable () -> Conversation
  let holds: Talk

  init(
    _ group: String, _ name: String, _ elements: [String] = ["1", "2"], isEnded: Bool = false,
    pageLimit: Int = 1000, _ holds: @escaping Talk
  ) {
    (self.group, self.name, self.holds) = (group, name, holds)
    list = { Conversation(elements, isEnded: isEnded, pageLimit: pageLimit) }
  }

  var testDescription: String { "\(group): \(name)" }
}

@Suite("Cases of the durable streams suite for servers that are read", .inTurn, .hangLimit)
struct ProtocolCaseTests {
  static let reading: [ProtocolCase] = [
    .init("Read", "an empty list", []) {
      let answer = try await $0.get()
      return answer.status == 200 && answer.text == "[]" && answer.isUpToDate
        && answer["Stream-Next-Offset"] != nil
    },
    .init("Read", "a list with data") {
      let answer = try await $0.get()
      return answer.text == "[1,2]" && answer.isUpToDate && answer["ETag"] != nil
        && answer["Content-Type"] == "application/json"
    },
    .init("Read", "from an offset on", ["1"]) { list in
      let next = try await list.get().next
      try await list.append("2")
      return try await list.get(next).text == "[2]"
    },
    .init("Append", "several appends are read as one array", []) { list in
      for number in 1...3 { try await list.append("\(number)") }
      return try await list.get().text == "[1,2,3]"
    },
    .init("Read your writes", "what was appended is read at once", ["1"]) { list in
      try await list.append("2")
      return try await list.get().text == "[1,2]"
    },
    .init("Read your writes", "also from an offset on", ["1"]) { list in
      let next = try await list.get().next
      try await list.append("2")
      try await list.append("3")
      return try await list.get(next).text == "[2,3]"
    },
    .init("Metadata", "no body, the type, and where the list ends") { list in
      let answer = try await list.head()
      let end = try await list.get().next
      return answer.status == 200 && answer.text == "" && answer.next == end
        && answer["Content-Type"] == "application/json"
    },
    .init("Metadata", "the end moves", []) { list in
      let before = try await list.head().next
      try await list.append("1")
      return try await list.head().next > before
    },
    .init("Metadata", "not kept") {
      try await $0.head()["Cache-Control"]?.contains("no-store") ?? false
    },
    .init("Edges", "a place is for good", ["1"]) { list in
      let place = try await list.get().next
      try await list.append("2")
      try await list.append("3")
      let first = try await list.get(place).text
      return try await list.get(place).text == first && first == "[2,3]"
    },
    .init("Edges", "offsets ascend, each another one", []) { list in
      var offsets: [String] = []
      for number in 0..<12 {
        try await list.append("\(number)")
        offsets.append(try await list.get().next)
      }
      return offsets == offsets.sorted() && Set(offsets).count == 12
    },
    .init("Edges", "an empty offset") { try await $0.get("").status == 400 },
    .init("Offsets", "-1, or none: the same", ["1"]) { list in
      let first = try await list.get("-1")
      let none = try await list.get()
      return first.text == none.text && first.next == none.next
    },
    .init("Offsets", "with a comma") { try await $0.get("0,1").status == 400 },
    .init("Offsets", "with a space") { try await $0.get("0 1").status == 400 },
    .init("Offsets", "reading on never brings an element twice", []) { list in
      var (all, offset) = ("", "-1")
      for number in 0..<5 {
        try await list.append("\(number)")
        let answer = try await list.get(offset)
        (all, offset) = (all + answer.text, answer.next)
      }
      return all == "[0][1][2][3][4]"
    },
    .init("Offsets", "at the end") { list in
      let end = try await list.get().next
      let answer = try await list.get(end)
      return answer.status == 200 && answer.text == "[]" && answer.isUpToDate && answer.next == end
    },
    .init(
      "Chunks", "pages, until one is empty and up to date", (0..<100).map(String.init), pageLimit: 7
    ) { list in
      var (all, offset): ([Int], String) = ([], "-1")
      while true {
        let answer = try await list.get(offset)
        let page = try JSONDecoder().decode([Int].self, from: Data(answer.text.utf8))
        guard offset == "-1" || answer.next >= offset else { return false }
        if page.isEmpty, answer.isUpToDate { return all == Array(0..<100) }
        (all, offset) = (all + page, answer.next)
      }
    },
  ]

  static let now: [ProtocolCase] = [
    .init("now", "an empty array, up to date, not kept") {
      let answer = try await $0.get("now")
      return answer.status == 200 && answer.text == "[]" && answer.isUpToDate
        && answer["Content-Type"] == "application/json" && answer["Cache-Control"] == "no-store"
    },
    .init("now", "the offset of the end") { list in
      let end = try await list.get().next
      return try await list.get("now").next == end
    },
    .init("now", "only what comes after it is read from it on") { list in
      let now = try await list.get("now").next
      try await list.append("3")
      return try await list.get(now).text == "[3]"
    },
    .init("now", "of an empty list", []) { list in
      let answer = try await list.get("now")
      try await list.append("1")
      let first = try await list.get(answer.next).text
      return answer.text == "[]" && answer.isUpToDate && first == "[1]"
    },
    .init("now", "a long poll in vain") { list in
      let end = try await list.get().next
      let answer = try await list.get("now", "long-poll")
      return answer.status == 204 && answer.isUpToDate && answer.next == end
    },
    .init("now", "a long poll gets what comes, and nothing else") { list in
      let answer = try await list.poll("now") { try await list.append("3") }
      return answer.status == 200 && answer.text == "[3]" && answer.isUpToDate
    },
    .init("now", "a long poll in vain of an empty list, and on from there", []) { list in
      let answer = try await list.get("now", "long-poll")
      try await list.append("1")
      let first = try await list.get(answer.next).text
      return answer.status == 204 && answer.isUpToDate && first == "[1]"
    },
    .init("now", "events: where the list ends, and no data") { list in
      let end = try await list.get().next
      let answer = try await list.get("now", "sse")
      let control = try answer.controls.first
      return try control?.streamNextOffset == end
        && control?.upToDate == true && answer.events("data").isEmpty
    },
    .init("now", "events of an empty list", []) {
      let control = try await $0.get("now", "sse").controls.first
      return control?.upToDate == true
    },
  ]

  static let longPoll: [ProtocolCase] = [
    .init("Long poll", "waits for what comes", []) { list in
      try await list.poll("-1") { try await list.append("1") }.text == "[1]"
    },
    .init("Long poll", "at once, if something is there") {
      let answer = try await $0.get("-1", "long-poll")
      return answer.status == 200 && answer.text == "[1,2]" && answer.isUpToDate
    },
    .init("Long poll", "without an offset") { try await $0.get(nil, "long-poll").status == 400 },
    .init("Long poll", "a cursor that is a number") {
      try await $0.get("-1", "long-poll")["Stream-Cursor"].flatMap(Int.init) != nil
    },
    .init("Long poll", "the same cursor again is replaced by a greater one") { list in
      let first = try await list.get("-1", "long-poll")["Stream-Cursor"]
      let next = try await list.get("-1", "long-poll", cursor: first)["Stream-Cursor"]
      return first.flatMap(Int.init) ?? .max < next.flatMap(Int.init) ?? 0
    },
    .init("Long poll", "in vain: offset, up to date, cursor") { list in
      let end = try await list.head().next
      let answer = try await list.get(end, "long-poll")
      return answer.status == 204 && answer.next == end && answer.isUpToDate
        && answer["Stream-Cursor"].flatMap(Int.init) != nil
    },
  ]

  static let caching: [ProtocolCase] = [
    .init("Caching", "the tag that the client has: 304, and no body") { list in
      let tag = try await list.get()["ETag"]
      let answer = try await list.get(tag: tag)
      return answer.status == 304 && answer.text == ""
    },
    .init("Caching", "another tag") {
      let answer = try await $0.get(tag: "\"wrong\"")
      return answer.status == 200 && answer.text == "[1,2]"
    },
    .init("Caching", "with other elements there is another tag", ["1"]) { list in
      let tag = try await list.get()["ETag"]
      try await list.append("2")
      let answer = try await list.get(tag: tag)
      return answer.status == 200 && answer["ETag"] != tag && answer["ETag"] != nil
    },
    .init("Caching", "closed since: another tag", ["1"]) { list in
      let tag = try await list.get()["ETag"]
      try await list.append(isEnd: true)
      let answer = try await list.get(tag: tag)
      return answer.status == 200 && answer.isClosed
    },
  ]

  static let events: [ProtocolCase] = [
    .init("Events", "the type; no length; not kept") {
      let answer = try await $0.get("-1", "sse")
      return answer.status == 200 && answer["Content-Type"] == "text/event-stream"
        && answer["Content-Length"] == nil && answer["Cache-Control"]?.contains("no-cache") == true
    },
    .init("Events", "without an offset") { try await $0.get(nil, "sse").status == 400 },
    .init("Events", "data is an array") {
      try await $0.get("-1", "sse").events("data") == ["[1,2]"]
    },
    .init("Events", "control with an offset, by the suite's letters") { list in
      let end = try await list.get().next
      return try await list.get("-1", "sse").controls.first?.streamNextOffset == end
    },
    .init("Events", "a cursor that is a number") {
      let cursor = try await $0.get("-1", "sse").controls.first?.streamCursor
      return cursor.flatMap(Int.init) != nil
    },
    .init("Events", "the same cursor again is replaced by a greater one") { list in
      let first = try await list.get("-1", "sse").controls.first?.streamCursor
      let next = try await list.get("-1", "sse", cursor: first).controls.first?.streamCursor
      return first.flatMap(Int.init) ?? .max < next.flatMap(Int.init) ?? 0
    },
    .init("Events", "an empty list has the offset that a page has", []) { list in
      let end = try await list.get().next
      let answer = try await list.get("-1", "sse")
      return try answer.controls.first?.streamNextOffset == end
        && answer.events("data").isEmpty
    },
    .init("Events", "up to date, once all was sent") {
      try await $0.get("-1", "sse").controls.last?.upToDate == true
    },
    .init("Events", "line feeds in a string stay in it", [#""a\nb\r\nc""#]) {
      try await $0.get("-1", "sse").events("data") == [#"["a\nb\r\nc"]"#]
    },
    .init("Events", "CRLF makes no other event", ["{\r\n\r\nevent: control\r\ndata: {}\r\n\r\n}"]) {
      let answer = try await $0.get("-1", "sse")
      return try answer.events("data").count == 1 && answer.events("control").count == 1
    },
    .init("Events", "LF makes no other event", ["{\n\nevent: data\ndata: {}\n\n}"]) {
      let answer = try await $0.get("-1", "sse")
      return try answer.events("data").count == 1 && answer.events("control").count == 1
    },
    .init("Events", "CR makes no other event", ["{\r\revent: control\rdata: {}\r\r}"]) {
      let answer = try await $0.get("-1", "sse")
      return try answer.events("data").count == 1 && answer.events("control").count == 1
    },
    .init("Events", "offsets ascend", (0..<5).map(String.init), pageLimit: 1) {
      let offsets = try await $0.get("-1", "sse").controls
        .map(\.streamNextOffset)
      return offsets.count == 5 && offsets == offsets.sorted() && Set(offsets).count == 5
    },
    .init("Events", "a client that connects again gets what it has not got") { list in
      let last = try await list.get("-1", "sse").controls.last?.streamNextOffset
      try await list.append("3")
      return try await list.get(last, "sse").events("data") == ["[3]"]
    },
  ]

  static let closing: [ProtocolCase] = [
    .init("Closure", "metadata", isEnded: true) { try await $0.head().isClosed },
    .init("Closure", "metadata of an open list") { try await !$0.head().isClosed },
    .init("Closure", "the last page", isEnded: true) {
      let answer = try await $0.get()
      return answer.isClosed && answer.isUpToDate
    },
    .init("Closure", "not a page before", isEnded: true, pageLimit: 1) {
      let answer = try await $0.get()
      return !answer.isClosed && !answer.isUpToDate
    },
    .init("Closure", "at the end: empty, and closed") { list in
      let end = try await list.get().next
      try await list.append(isEnd: true)
      let answer = try await list.get(end)
      return answer.text == "[]" && answer.isClosed && answer.isUpToDate
    },
    .init("Closure", "a long poll at the end: at once", isEnded: true) { list in
      let end = try await list.get().next
      let answer = try await list.get(end, "long-poll")
      return answer.status == 204 && answer.isClosed && answer.isUpToDate
    },
    .init("Closure", "a long poll that waits is told") { list in
      let end = try await list.get().next
      let answer = try await list.poll(end) { try await list.append(isEnd: true) }
      return answer.status == 204 && answer.isClosed
    },
    .init("Closure", "a long poll that waits gets the last element, and the end") { list in
      let end = try await list.get().next
      let answer = try await list.poll(end) { try await list.append("3", isEnd: true) }
      return answer.text == "[3]" && answer.isClosed
    },
    .init("Closure", "the last event says so, and has no cursor", isEnded: true) {
      let control = try await $0.get("-1", "sse").controls.last
      return control?.streamClosed == true && control?.streamCursor == nil
    },
    .init("Closure", "now", isEnded: true) {
      let answer = try await $0.get("now")
      return answer.text == "[]" && answer.isClosed
    },
    .init("Closure", "now, with a long poll", isEnded: true) {
      let answer = try await $0.get("now", "long-poll")
      return answer.status == 204 && answer.isClosed
    },
    .init("Closure", "now, with events", isEnded: true) {
      try await $0.get("now", "sse").controls.last?.streamClosed == true
    },
    .init("Closure", "a list that ends without elements", [], isEnded: true) {
      let answer = try await $0.get()
      return answer.text == "[]" && answer.isClosed && answer.isUpToDate
    },
  ]

  /// What elements may be: each stays as it is, in an array around all.
  static let json: [ProtocolCase] = [
    ["{\"message\":\"hello\"}"], ["[{\"id\":1},{\"id\":2}]"],
    ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"], ["1", "[2,3]", "4"],
    ["\"text\"", "42", "true", "null", "{\"object\":\"value\"}", "[1,2,3]"],
    ["{\"user\":{\"id\":123,\"tags\":[\"a\",\"b\"]}}"], ["[[1,2],[3,4]]"], ["[[1,2,3]]"],
    ["[1,2,3]", "[\"a\",\"b\"]"], ["{\"single\":1}", "[{\"batch\":2}]", "[[\"nested\"]]", "42"],
    ["\"\u{85}\u{2028}\u{2029}\""],
  ].map { elements in
    .init("JSON", elements.joined(separator: " "), elements) { list in
      let array = "[\(elements.joined(separator: ","))]"
      let events = try await list.get("-1", "sse").events("data")
      return try await list.get().text == array && events == [array]
    }
  }

  static let cases = reading + now + longPoll + caching + events + closing + json

  @Test("a case", arguments: cases)
  func holds(_ row: ProtocolCase) async throws { #expect(try await row.holds(row.list())) }

  @Test(
    "no such list: 404 for every kind of request, of no guessed type, not kept",
    arguments: [
      ListRequest(), ListRequest(method: "HEAD"), ListRequest(offset: "now"),
      ListRequest(offset: "now", live: "long-poll"), ListRequest(offset: "now", live: "sse"),
      ListRequest(offset: "-1", live: "long-poll"), ListRequest(offset: "-1", live: "sse"),
    ])
  func none(_ request: ListRequest) async throws {
    let directory = URL.temporaryDirectory.appending(path: "lists-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let lists = StoredLists(
      in: directory, element: .text, state: .raw as ByteCoding<Int>
    ) { _, _ in nil }
    let response = try await StoredListsEndpoint(lists).response(to: request, key: "none")
    #expect(response.status == 404)
    #expect(response.headers["X-Content-Type-Options"] == "nosniff")
    #expect(response.headers["Cache-Control"] == "no-store")
    await lists.close()
  }
}
