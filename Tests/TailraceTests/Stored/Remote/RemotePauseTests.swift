import Foundation
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

/// When requests were made, on a clock that goes on by pauses only.
private final class RequestTimes: Sendable {
  let clock = PauseClock(longestPause: .seconds(1000))
  let pages = Probe<Duration>()
  let live = Probe<Duration>()

  func note(_ request: RemoteRequest) {
    (request.path.contains("live=") ? live : pages).record(clock.now.offset)
  }

  /// A list that takes no silence for a lost connection.
  func list(
    _ transport: @escaping RemoteTransport, patience: Duration? = nil, chance: Double = 1
  ) -> RemoteList<Int> {
    RemoteList(
      RemoteServer(
        transport: transport, path: "/list", element: .json, silence: .seconds(1_000_000),
        byteLimit: 1 << 20, clock: clock, now: timeFromNow(on: clock), chance: { chance }),
      .beginning, patience, .seconds(1_000_000))
  }

  /// The first pauses between requests.
  static func pauses(_ times: Probe<Duration>, _ count: Int) async -> [Duration] {
    await times.waitForCount(count + 1)
    let times = times.values.prefix(count + 1)
    return zip(times, times.dropFirst()).map { $1 - $0 }
  }
}

@Suite("A list of a server does not attack its server", .inTurn, .hangLimit)
struct RemotePauseTests {
  private static let empty = [
    "Stream-Next-Offset": "0", "Stream-Up-To-Date": "true", "Content-Type": "application/json",
  ]

  @Test(
    "events that end at once with nothing: the pause that the server has named, or a longer one")
  func named() async throws {
    let requests = RequestTimes()
    let list = requests.list { request in
      requests.note(request)
      let body = """
        retry: 10000

        event: control
        data: {"streamNextOffset":"0","upToDate":true}


        """
      return RemoteResponse(
        status: 200, headers: ["Content-Type": "text/event-stream"], body: [Array(body.utf8)])
    }
    let reader = Task { try await list.waitForMore(than: 0) }
    let pauses = await RequestTimes.pauses(requests.live, 8)
    reader.cancel()
    #expect(pauses == [10, 10, 10, 10, 10, 10, 15, 15].map { .seconds($0) })
  }

  enum Fruitless: CaseIterable {
    /// Responses of events that end at once; refused events, and long polls that nothing holds; pages.
    case events, longPolls, pages
  }

  @Test(
    "requests of every kind that bring nothing: longer and longer pauses, up to a bound",
    arguments: Fruitless.allCases, [0.0, 1.0])
  func growing(_ kind: Fruitless, _ chance: Double) async throws {
    let requests = RequestTimes()
    let list = requests.list(
      { request in
        requests.note(request)
        if kind == .events, request.path.contains("live=sse") {
          return RemoteResponse(status: 200, headers: ["Content-Type": "text/event-stream"])
        }
        if request.path.contains("live=") {
          return RemoteResponse(
            status: request.path.contains("long-poll") ? 204 : 501, headers: Self.empty)
        }
        return RemoteResponse(status: 503, headers: [:])
      }, chance: chance)
    let reader = Task {
      if kind == .pages {
        _ = try await list.read(from: 0, upTo: 1)
      } else {
        try await list.waitForMore(than: 0)
      }
    }
    let pauses = await RequestTimes.pauses(kind == .pages ? requests.pages : requests.live, 11)
    reader.cancel()
    let growing: [Duration] =
      [250, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000, 15000, 15000]
      .map { .milliseconds($0) }
    #expect(growing.last == RequestPace.longest && growing.first == RequestPace.shortest)
    // Half of it is by chance, so that clients do not all come again at the same time.
    #expect(pauses == growing.map { $0 * (0.5 + chance / 2) })
  }

  @Test("Retry-After as a date, by the server's clock, for requests of every kind")
  func date() async throws {
    let requests = RequestTimes()
    let list = requests.list(
      { request in
        requests.note(request)
        return RemoteResponse(
          status: 503,
          headers: [
            "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT",
          ])
      }, chance: 0)
    let first = Task { try await list.read(from: 0, upTo: 1) }
    await requests.pages.waitForCount(1)
    let second = Task { try await list.waitForMore(than: 0) }
    for times in [requests.live, requests.pages] {
      #expect(await RequestTimes.pauses(times, 3).allSatisfy { $0 >= .seconds(60) })
    }
    first.cancel()
    second.cancel()
  }

  @Test(
    "patience counts for a reader that comes while the server is given a pause",
    arguments: [false, true])
  func patience(_ isLive: Bool) async throws {
    let requests = RequestTimes()
    let list = requests.list(
      { request in
        requests.note(request)
        return RemoteResponse(status: 503, headers: ["Retry-After": "250"])
      }, patience: .seconds(20))
    for end in [20, 40] {
      do {
        if isLive {
          try await list.waitForMore(than: 0)
        } else {
          _ = try await list.read(from: 0, upTo: 1)
        }
        Issue.record("was read")
      } catch {
        guard case .unreachable = (error as? RemoteListError)?.reason else { throw error }
      }
      #expect(requests.clock.now.offset == .seconds(end))
    }
    #expect(requests.live.count + requests.pages.count == 1)
  }

  @Test("a closed list with fewer elements than were known: asked a few times, then told")
  func shrunk() async throws {
    let requests = Counter()
    let remote = remote { request in
      requests.increment()
      let asksExtent = request.path.contains("offset=now")
      let isBeginning = request.path.contains(ListOffset("a", 0).name)
      var headers = [
        ListOffset.field: ListOffset.form, "Stream-Up-To-Date": "true",
        "Stream-Next-Offset": ListOffset("a", asksExtent ? 10 : 8).name,
      ]
      if !asksExtent { headers["Stream-Closed"] = "true" }
      let json = isBeginning ? "[0,1,2,3,4,5,6,7]" : "[]"
      return RemoteResponse(status: 200, headers: headers, body: [Array(json.utf8)])
    }
    #expect(try await remote.extent().count == 10)
    await #expect(throws: RemoteListError(path: "/list", reason: .lost(from: 8))) {
      try await LazyList(reading: remote).array()
    }
    #expect(requests.value <= 8)
  }

  // MARK: Somebody else answers

  @Test(
    "a page of somebody else is no list: asked again, and then the list is read",
    arguments: [1, 4, 7])
  func captive(_ times: Int) async throws {
    let store = MemoryStore<Int, Int>([1, 4, 9], isEnded: true)
    let faulty = FaultyTransport(ListEndpoint(store).transport) { number, _ in
      number <= times
        ? .status(200, body: "<html>sign in</html>", headers: ["Content-Type": "text/html"]) : .none
    }
    let remote = remote(faulty.transport)
    var failures = 0
    while true {
      do {
        #expect(try await remote.extent().count == 3)
        break
      } catch {
        guard case .malformed = (error as? RemoteListError)?.reason else { throw error }
        failures += 1
      }
    }
    #expect(failures == times / 5)
    #expect(try await LazyList(reading: remote).array() == [1, 4, 9])
    #expect(faulty.requests.values.allSatisfy { $0.method == "GET" })
  }

  @Test("one strange answer to a request for events does not end them")
  func strangeEvents() async throws {
    let source = ChangingSource([0])
    let faulty = FaultyTransport(ListEndpoint(source).transport)
    faulty.order { [weak faulty] _, request in
      request.path.contains("live=sse") && faulty?.events == 1
        ? .status(200, body: "<html>", headers: ["Content-Type": "text/html"]) : .none
    }
    let remote = remote(faulty)
    let reader = Task { try await LazyList(reading: remote).array() }
    try await remote.waitForMore(than: 0)
    try await source.append([1], isEnd: true)
    #expect(try await reader.value == [0, 1])
    #expect(faulty.requests.values.allSatisfy { !$0.path.contains("long-poll") })
  }

  @Test("an error says of which list it is")
  func path() async throws {
    let remote = RemoteList(
      { _ in RemoteResponse(status: 404, headers: [:], body: [Array("no such run".utf8)]) },
      path: "/runs/7", element: .json as ByteCoding<Int>)
    do {
      _ = try await remote.read(from: 0, upTo: 1)
      Issue.record("was read")
    } catch {
      #expect("\(error)" == "/runs/7: the server refuses with status 404: no such run")
      #expect(error.localizedDescription == "\(error)")
    }
  }

  // MARK: Caches and long polls

  @Test(
    "behind a cache that keeps what it may, where a list begins and ends is asked of the server")
  func cache() async throws {
    let store = MemoryStore<Int, Int>(Array(0..<2500), isEnded: true)
    store.trim(before: 10)
    let endpoint = ListEndpoint(store, isShared: true)
    let cache = Locked<[String: ([String: String], [UInt8])]>([:])
    let remote = remote { request in
      if let (headers, body) = cache.withLock({ $0[request.path] }) {
        return RemoteResponse(status: 200, headers: headers, body: [body])
      }
      // Such a cache makes a GET of each HEAD.
      let get = RemoteRequest(path: request.path, headers: request.headers)
      let response = try await endpoint.transport(get)
      var body: [UInt8] = []
      for try await piece in response.body { body += piece }
      if response["Cache-Control"]?.contains("max-age") == true {
        cache.withLock { [body] in $0[request.path] = (response.headers, body) }
      }
      let sent = request.method == "HEAD" ? [] : [body]
      return RemoteResponse(status: response.status, headers: response.headers, body: sent)
    }
    let extent = try await store.extent()
    #expect(extent.first == 10 && extent.count == 2500)
    #expect(try await remote.extent() == extent)
    #expect(try await LazyList(reading: remote, from: 10).array() == Array(10..<2500))
    #expect(try await remote.extent() == extent)
    // A relay asks at every request.
    let relay = ListEndpoint(remote)
    for offset in ["now", "-1"] {
      #expect(try await relay.response(to: ListRequest(offset: offset)).status == 200)
    }
    #expect(cache.withLock { $0.count } > 0)
  }

  @Test("a list that is begun anew at the same address: a new client never gets the old beginning")
  func anew() async throws {
    let source = ChangingSource([1, 2, 3], isEnded: true)
    let endpoint = ListEndpoint(source, pageLimit: 2, isShared: true)
    for offset in ["-1", nil] {
      let response = try await endpoint.response(to: ListRequest(offset: offset))
      #expect(response.headers["Cache-Control"] == "no-cache" && response.headers["ETag"] != nil)
    }
    let list = try await ListNames(source)
    let page = try await endpoint.response(to: ListRequest(offset: list(0)))
    #expect(page.headers["Cache-Control"]?.hasPrefix("public, max-age") == true)
  }

  @Test("long polls cost one request an element, for any number of readers", arguments: [1, 5])
  func longPolls(_ readers: Int) async throws {
    let source = ChangingSource([0])
    let faulty = FaultyTransport(ListEndpoint(source).transport) { _, request in
      request.path.contains("live=sse") ? .status(501) : .none
    }
    let remote = remote(faulty)
    let read = Probe<Int>()
    let all = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<readers {
        group.addTask {
          var all: [Int] = []
          for try await element in LazyList(reading: remote) {
            all.append(element)
            read.record(element)
          }
          return all
        }
      }
      await read.waitForCount(readers)
      for number in 1...20 {
        // Not two at once: each one is waited for, by every reader. A reader that is late may ask for itself.
        await faulty.requests.waitForCount(
          faulty.requests.values.count { !$0.path.contains("long-poll") } + number)
        while remote.core.waitingCount < readers { await Task.yield() }
        try await source.append([number], isEnd: number == 20)
        await read.waitForCount(readers * (number + 1))
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(all.count == readers && all.allSatisfy { $0 == Array(0...20) })
    let polls = faulty.requests.values.filter { $0.path.contains("long-poll") }
    let pages = faulty.requests.values.filter { !$0.path.contains("live=") }
    #expect(polls.count <= 21)
    // The first page, by each reader at most, and what follows it, where a reader came after the others.
    #expect(pages.count <= 2 * readers, "\(pages.map(\.path))")
  }

  // MARK: Memory

  @Test("what nobody has read yet is bounded in bytes, and read again when it is wanted")
  func bytes() throws {
    var contents = RemoteContents<Int>(.beginning, byteCapacity: 1000)
    for number in 0..<50 {
      try contents.take(
        RemoteContents.Answer(
          elements: [number], sizes: [300], next: ListOffset("a", number + 1).name,
          isUpToDate: true, isClosed: false, isOurs: true, isLive: true), from: number)
      #expect(contents.tail.bytes <= 2000)
      #expect(contents.tail.bytes == 300 * contents.tail.elements.count)
      #expect(contents.isFull == (contents.tail.bytes >= 1000))
      let last = try contents.look(from: number, upTo: 1, isReading: true)
      #expect(last?.elements == [number])
    }
    #expect(try contents.look(from: 0, upTo: 1, isReading: true) == nil, "nothing is dropped")
  }

  @Test("a list that nobody reads: once more is here than it keeps, the connection ends")
  func unread() async throws {
    let source = ChangingSource([0])
    let faulty = FaultyTransport(ListEndpoint(source, pageLimit: 10).transport)
    let remote = remote(faulty.transport, byteLimit: 300)
    try await remote.waitForMore(than: 0)
    for number in 1..<200 { try await source.append([number]) }
    await faulty.closed.waitForCount(1)
    #expect(faulty.events == 1)
    try await source.append([200], isEnd: true)
    #expect(try await LazyList(reading: remote).array() == Array(0...200))
  }

  @Test("a server of another make is read at any place, by way of its nearest known offset")
  func foreignPlaces() async throws {
    let server = ForeignServer(Array(0..<3000), isClosed: true)
    let faulty = FaultyTransport(server.transport)
    let remote = remote(faulty)
    #expect(try await LazyList(reading: remote).array() == Array(0..<3000))
    for position in [1, 500, 1501, 2222, 2999] {
      let before = faulty.requests.count
      #expect(try await remote.read(from: position, upTo: 1).elements == [position])
      // 1000 pages, of which 128 offsets at least are known.
      #expect(faulty.requests.count - before <= 10)
    }
  }

  @Test("a place of an endpoint of ours is no place of another server")
  func otherMake() throws {
    var contents = RemoteContents<Int>(.beginning)
    contents.isOther()
    let place = RemotePlace(position: 3, offset: ListOffset("a", 3).name, named: 3, isOurs: true)
    do {
      try contents.resume(at: place)
      Issue.record("elements of two lists would be mixed")
    } catch {
      guard case .final(.remote(.otherList(found: nil))) = error else { throw error }
    }
  }

  @Test("a transport that changes a body: it is made of another one, and the fields can be listed")
  func body() async throws {
    let store = MemoryStore<Int, Int>([1, 2, 3], isEnded: true)
    let base = ListEndpoint(store).transport
    let bytes = Counter()
    let names = Probe<[String]>()
    let list = remote { request in
      let response = try await base(request)
      names.record(response.headers.keys.sorted())
      return RemoteResponse(
        status: response.status, headers: response.headers,
        body: RemoteBody(
          response.body.map { piece in
            bytes.increment(by: piece.count)
            return piece
          }))
    }
    #expect(try await LazyList(reading: list).array() == [1, 2, 3])
    #expect(bytes.value == "[1,2,3]".utf8.count)
    #expect(names.values.first?.contains("stream-next-offset") == true)
  }
}
