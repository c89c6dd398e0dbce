import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

// What the suite of the *durable streams* protocol for clients asks of those that read, in JSON mode:
// https://github.com/durable-streams/durable-streams, packages/client-conformance-tests. Left out are writing,
// and lists of text and of bytes.

/// An endpoint of ours that looks like a server of another make: its offsets have no meaning.
func foreign(_ transport: @escaping RemoteTransport) -> RemoteTransport {
  { request in
    let response = try await transport(request)
    let own = [ListOffset.field.lowercased(), "stream-first-offset"]
    return RemoteResponse(
      status: response.status, headers: response.headers.filter { !own.contains($0.key) },
      body: response.body)
  }
}

@Suite("Cases of the durable streams suite for clients that read", .inTurn, .hangLimit)
struct RemoteCaseTests {
  enum Mode: CaseIterable, Sendable {
    /// Pages, then events; events from the beginning; long polls from the beginning.
    case auto, events, longPoll
  }

  /// A list, what comes while it is read, and what a reader gets.
  struct Situation: Sendable, CustomTestStringConvertible {
    let name: String
    var elements: [Int] = []
    var isEnded = false
    var start = 0
    var appended: [Int] = []
    var endsAtLast = false
    let expected: [Int]

    var testDescription: String { name }
  }

  static let situations: [Situation] = [
    .init(name: "what is there", elements: [1, 2, 3], expected: [1, 2, 3]),
    .init(name: "from a position on", elements: [1, 2, 3], start: 1, expected: [2, 3]),
    .init(name: "the last element", elements: [1, 2, 3], start: 2, expected: [3]),
    .init(name: "what comes", elements: [1], start: 1, appended: [2], expected: [2]),
    .init(name: "what comes to an empty list", appended: [1], expected: [1]),
    .init(
      name: "what is there, and what comes, in order", elements: [1], appended: [2, 3, 4],
      expected: [1, 2, 3, 4]),
    .init(name: "many elements", elements: Array(0..<300), expected: Array(0..<300)),
    .init(name: "a closed list", elements: [1, 2], isEnded: true, expected: [1, 2]),
    .init(name: "the end of a closed list", elements: [1], isEnded: true, start: 1, expected: []),
    .init(name: "a closed list without elements", isEnded: true, expected: []),
    .init(
      name: "a list that is closed while it is read", elements: [1], appended: [2],
      endsAtLast: true, expected: [1, 2]),
  ]

  @Test("every way to read gets the same elements", arguments: situations, Mode.allCases)
  func reads(_ row: Situation, _ mode: Mode) async throws {
    let source = ChangingSource(row.elements, isEnded: row.isEnded)
    let faulty = FaultyTransport(foreign(ListEndpoint(source, pageLimit: 100).transport)) {
      _, request in
      mode == .longPoll && request.path.contains("live=sse") ? .status(501) : .none
    }
    let remote = remote(faulty)
    let isLive = mode != .auto && (row.start < row.elements.count || row.isEnded)
    if isLive { try await remote.waitForMore(than: row.start) }
    let list = LazyList(reading: remote, from: row.start)
    let isWhole = row.isEnded || row.endsAtLast
    let reader = Task {
      isWhole ? try await list.array() : try await list.prefix(row.expected.count).array()
    }
    for element in row.appended {
      try await source.append([element], isEnd: row.endsAtLast && element == row.appended.last)
    }
    #expect(try await reader.value == row.expected)
    // One live response has had all of it.
    if isLive, row.elements.count <= 100, row.appended.isEmpty {
      #expect(faulty.requests.values.allSatisfy { $0.path.contains("live=") })
    }
    if mode == .longPoll { #expect(faulty.events <= 1) }
    // A closed list is not asked again.
    let requests = faulty.requests.count
    if isWhole {
      #expect(try await list.array() == row.expected)
      #expect(faulty.requests.count == requests)
    }
  }

  /// Faults of the first responses to a kind of request.
  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let faults: [FaultyTransport.Fault]
    var testDescription: String { name }
  }

  static let faults: [Fault] = [
    .init(name: "500", faults: [.status(500)]),
    .init(name: "500, twice", faults: [.status(500), .status(500)]),
    .init(name: "503", faults: [.status(503)]),
    .init(
      name: "429, and when to come again", faults: [.status(429, headers: ["Retry-After": "1"])]),
    .init(name: "a lost connection", faults: [.unreachable]),
    .init(name: "two lost connections", faults: [.unreachable, .unreachable]),
    .init(name: "a lost connection, and 503", faults: [.unreachable, .status(503)]),
  ]

  @Test("faults that pass: every element once", arguments: faults, Mode.allCases)
  func passes(_ row: Fault, _ mode: Mode) async throws {
    let source = ChangingSource([1, 2], isEnded: true)
    let seen = Counter()
    let faulty = FaultyTransport(foreign(ListEndpoint(source).transport)) { _, request in
      if mode == .longPoll, request.path.contains("live=sse") { return .status(501) }
      seen.increment()
      return seen.value <= row.faults.count ? row.faults[seen.value - 1] : .none
    }
    let remote = remote(faulty)
    if mode != .auto { try await remote.waitForMore(than: 0) }
    #expect(try await LazyList(reading: remote).array() == [1, 2])
    #expect(seen.value == row.faults.count + 1)
  }

  @Test("refusals are told at once, with their status", arguments: [400, 404], Mode.allCases)
  func refused(_ status: Int, _ mode: Mode) async throws {
    let faulty = FaultyTransport(foreign(ListEndpoint(ChangingSource([1])).transport)) {
      _, request in
      mode == .longPoll && request.path.contains("live=sse") ? .status(501) : .status(status)
    }
    let remote = remote(faulty)
    await #expect(
      throws: RemoteListError(path: "/list", reason: .refused(status: status, body: ""))
    ) {
      if mode == .auto {
        _ = try await remote.read(from: 0, upTo: 1)
      } else {
        try await remote.waitForMore(than: 0)
      }
    }
    // Events that are refused with 400 may be had by long polls.
    #expect(
      faulty.requests.count == (mode == .longPoll || mode == .events && status == 400 ? 2 : 1))
  }

  @Test("a response that takes its time", arguments: Mode.allCases)
  func delayed(_ mode: Mode) async throws {
    let gate = Gate()
    let transport = foreign(ListEndpoint(ChangingSource([1, 2], isEnded: true)).transport)
    let remote = remote { request in
      if mode == .longPoll, request.path.contains("live=sse") {
        return RemoteResponse(status: 501, headers: [:])
      }
      await gate.wait()
      return try await transport(request)
    }
    let reader = Task {
      if mode != .auto { try await remote.waitForMore(than: 0) }
      return try await LazyList(reading: remote).array()
    }
    await gate.waitForArrivals(1)
    gate.open()
    #expect(try await reader.value == [1, 2])
  }

  @Test("a place is kept, and read on from in another process; so is an extent")
  func places() async throws {
    let source = ChangingSource(Array(0..<9))
    let transport = foreign(ListEndpoint(source, pageLimit: 4).transport)
    let first = remote(transport)
    #expect(try await LazyList(reading: first).prefix(9).array() == Array(0..<9))
    #expect(try await first.extent().count == 9)
    let places = (0...9).map { first.place(at: $0) }
    try await source.append([9], isEnd: true)
    for (position, place) in places.enumerated() {
      let other = RemoteList(
        transport, path: "/list", element: .json as ByteCoding<Int>, from: place,
        clock: PauseClock())
      // Twice: the same each time.
      for _ in 0..<2 {
        let list = LazyList(reading: other, from: position)
        #expect(try await list.array() == Array(position...9))
      }
    }
    #expect(try await remote(transport).read(from: 20, upTo: 1) == ListPage([], isEnd: true))
  }

  // MARK: Events

  /// What a proxy or a later server puts before the events of a response.
  private static func injecting(
    _ text: String, times: Int, _ transport: @escaping RemoteTransport
  ) -> RemoteTransport {
    let count = Counter()
    return { request in
      let response = try await transport(request)
      guard response["Content-Type"] == "text/event-stream" else { return response }
      count.increment()
      guard count.value <= times else { return response }
      let isFirst = Locked(true)
      return RemoteResponse(
        status: response.status, headers: response.headers,
        body: RemoteBody(
          response.body.map { piece in
            isFirst.withLock { $0.take() } ? Array(text.utf8) + piece : piece
          }))
    }
  }

  @Test(
    "events with unknown names, comments and other fields are passed over",
    arguments: [
      "event: unknown-future-type\ndata: {\"some\":\"future-data\"}\n\n",
      "event: future-event-v2\ndata: {\"version\":2}\n\nevent: v3\ndata\n\n",
      ":a comment\n\n", "data: a message without a name\n\n", "later: 1\nid: 7\n\n",
    ])
  func unknown(_ text: String) async throws {
    let source = ChangingSource([1, 2], isEnded: true)
    let transport = foreign(ListEndpoint(source).transport)
    let remote = remote(Self.injecting(text, times: .max, transport))
    try await remote.waitForMore(than: 0)
    #expect(try await LazyList(reading: remote).array() == [1, 2])
  }

  @Test(
    "elements of every kind stay what they are, by events and by pages",
    arguments: [
      "before\u{85}after", "hello\u{2028}world", "para1\u{2029}para2", "a\u{85}b\u{2028}c\u{2029}d",
      "  two spaces", "line\nfeeds\r\n", "",
    ])
  func texts(_ text: String) async throws {
    let transport = foreign(
      ListEndpoint(MemoryStore<String, Int>([text], isEnded: true)).transport)
    for isLive in [false, true] {
      let remote = RemoteList(
        transport, path: "/list", element: .json as ByteCoding<String>, clock: PauseClock())
      if isLive { try await remote.waitForMore(than: 0) }
      #expect(try await LazyList(reading: remote).array() == [text])
    }
  }

  // MARK: Where ours is another way on purpose

  @Test(
    "the suite wants an error at once; here a damaged response is asked for again, five times in a row",
    arguments: [
      ("event: control\ndata: {invalid json here\n\n", 1),
      ("event: control\ndata: {invalid json here\n\n", .max),
      ("event: control\ndata: \n\n", 1), ("event: control\ndata: \n\n", .max),
    ])
  func damaged(_ text: String, _ times: Int) async throws {
    let source = ChangingSource([1, 2], isEnded: true)
    let faulty = FaultyTransport(
      Self.injecting(text, times: times, foreign(ListEndpoint(source).transport))
    ) { _, request in
      // Long polls would do instead.
      request.path.contains("long-poll") ? .status(501) : .none
    }
    let remote = remote(faulty)
    guard times == .max else {
      try await remote.waitForMore(than: 0)
      #expect(try await LazyList(reading: remote).array() == [1, 2])
      return
    }
    await #expect(throws: RemoteListError.self) { try await remote.waitForMore(than: 0) }
    #expect(faulty.requests.count <= 6)
  }

  @Test(
    "a response without an offset is of somebody else; one without a cursor needs none",
    arguments: ["stream-next-offset", "stream-cursor"], [1, .max])
  func stripped(_ field: String, _ times: Int) async throws {
    let source = ChangingSource([1, 2], isEnded: true)
    let transport = foreign(ListEndpoint(source).transport)
    let count = Counter()
    let remote = remote { request in
      let response = try await transport(request)
      count.increment()
      guard count.value <= times else { return response }
      return RemoteResponse(
        status: response.status, headers: response.headers.filter { $0.key != field },
        body: response.body)
    }
    if field == "stream-next-offset", times == .max {
      do {
        _ = try await remote.read(from: 0, upTo: 1)
        Issue.record("was read")
      } catch {
        guard case .malformed(let why) = (error as? RemoteListError)?.reason else { throw error }
        #expect(why.contains("names no next offset"))
      }
    } else {
      #expect(try await LazyList(reading: remote).array() == [1, 2])
    }
  }
}

extension Bool {
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
