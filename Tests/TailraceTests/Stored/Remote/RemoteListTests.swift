import Tailrace
import TailraceSupport
import Foundation
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("A list of a server", .inTurn, .hangLimit)
struct RemoteListTests {
  typealias Store = MemoryStore<Int, Int>

  // MARK: Reading

  @Test("an ended list, whatever the size of its pages", arguments: [1, 2, 3, 7, 300, 1000])
  func ended(_ limit: Int) async throws {
    let store = Store(Array(0..<300), isEnded: true)
    let faulty = FaultyTransport(ListEndpoint(store, pageLimit: limit).transport)
    let list = LazyList(reading: remote(faulty))
    #expect(faulty.requests.count == 0)
    #expect(try await list.array() == Array(0..<300))
    #expect(faulty.events == 0)
    let extent = try await remote(faulty).extent()
    #expect(extent == (try await store.extent()))
  }

  @Test("from a position on, and beyond what is there")
  func positions() async throws {
    let store = Store(Array(0..<300), isEnded: true)
    let endpoint = ListEndpoint(store, pageLimit: 10)
    for position in [0, 1, 150, 299, 300] {
      let list = LazyList(reading: remote(endpoint.transport), from: position)
      #expect(try await list.array() == Array(position..<300))
    }
    let page = try await remote(endpoint.transport).read(from: 1000, upTo: 10)
    #expect(page == ListPage([], isEnd: true))
    let open = ListEndpoint(Store([1, 2]))
    #expect(try await remote(open.transport).read(from: 5, upTo: 10) == ListPage([]))
  }

  @Test("elements that come: all readers share one connection, and each element is decoded once")
  func live() async throws {
    let source = ChangingSource([0, 1])
    let faulty = FaultyTransport(ListEndpoint(source).transport)
    let decoded = Counter()
    let coding = ByteCoding<Int>.json
    let counting = ByteCoding<Int>(name: "counting") {
      try coding.encode($0, &$1)
    } decode: { bytes, version in
      decoded.increment()
      return try coding.decode(bytes, version)
    }
    let remote = RemoteList(
      faulty.transport, path: "/list", element: counting, lingering: .seconds(100),
      clock: PauseClock())
    let ready = Probe<Void>()
    let sums = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<10 {
        group.addTask {
          var all: [Int] = []
          for try await element in LazyList(reading: remote) {
            all.append(element)
            if all.count == 2 { ready.record(()) }
          }
          return all
        }
      }
      await ready.waitForCount(10)
      for number in 2..<50 { try await source.append([number]) }
      try await source.append([], isEnd: true)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sums.count == 10 && sums.allSatisfy { $0 == Array(0..<50) })
    #expect(faulty.events <= 1)
    // The first page may be read by several at once.
    #expect(decoded.value <= 50 + 9 * 50)
  }

  @Test("nobody waits: the connection stays for a moment, and ends")
  func lingering() async throws {
    let scheduler = VirtualScheduler()
    let faulty = FaultyTransport(ListEndpoint(Store([1]), clock: scheduler.clock).transport)
    let remote = remote(faulty.transport, lingering: .seconds(5), clock: scheduler.clock)
    let reader = Task { try await remote.waitForMore(than: 1) }
    // The alarm of the endpoint, and the one of the connection.
    await scheduler.waitForSleepers(2)
    #expect(faulty.open.withLock { $0 } == 1)
    reader.cancel()
    _ = await reader.result
    scheduler.advance(by: .seconds(4))
    #expect(faulty.open.withLock { $0 } == 1)
    scheduler.advance(by: .seconds(6))
    await faulty.closed.waitForCount(1)
    #expect(faulty.open.withLock { $0 } == 0)
  }

  @Test("nothing lingers: the connection is looked at now and then, not all the time")
  func noLingering() async throws {
    let scheduler = VirtualScheduler()
    let faulty = FaultyTransport(ListEndpoint(Store([1]), clock: scheduler.clock).transport)
    let remote = remote(faulty.transport, lingering: .zero, clock: scheduler.clock)
    let reader = Task { try await remote.waitForMore(than: 1) }
    await scheduler.waitForSleepers(2)
    reader.cancel()
    _ = await reader.result
    scheduler.advance(by: .milliseconds(100))
    await faulty.closed.waitForCount(1)
  }

  // MARK: Faults on the way

  @Test(
    "a response that is cut anywhere, with an error or as if it were complete",
    arguments: [true, false])
  func cuts(_ isError: Bool) async throws {
    for cut in 0..<700 {
      let source = ChangingSource(Array(0..<4))
      let endpoint = ListEndpoint(source, pageLimit: 2, eventsEnd: .seconds(1000))
      let faulty = FaultyTransport(endpoint.transport) { number, request in
        request.path.contains("live=sse") && number < 6 ? .cut(after: cut, isError: isError) : .none
      }
      let remote = remote(faulty)
      // Without pages: the events have everything.
      let waiting = Task { try await remote.waitForMore(than: 0) }
      try await waiting.value
      let reader = Task { try await LazyList(reading: remote).array() }
      try await source.append([4, 5, 6])
      try await source.append([7], isEnd: true)
      #expect(try await reader.value == Array(0..<8), "cut after \(cut)")
    }
  }

  @Test("pages that are cut anywhere")
  func cutPages() async throws {
    let store = Store(Array(0..<30), isEnded: true)
    for cut in 0..<90 {
      let faulty = FaultyTransport(ListEndpoint(store, pageLimit: 10).transport) { number, _ in
        number.isMultiple(of: 2) ? .none : .cut(after: cut, isError: cut.isMultiple(of: 2))
      }
      #expect(try await LazyList(reading: remote(faulty)).array() == Array(0..<30), "\(cut)")
    }
  }

  @Test("parts that come twice, and parts of every size", arguments: 0..<6)
  func twice(_ piece: Int) async throws {
    for size in [0, 1, 2, 3, 50] {
      let source = ChangingSource(Array(0..<4))
      let faulty = FaultyTransport(ListEndpoint(source, pageLimit: 2).transport) {
        number, request in
        if size > 0 { return .pieces(of: size) }
        return request.path.contains("live=sse") && number < 4 ? .twice(piece: piece) : .none
      }
      let remote = remote(faulty)
      try await remote.waitForMore(than: 0)
      let reader = Task { try await LazyList(reading: remote).array() }
      for number in 4..<9 { try await source.append([number]) }
      try await source.append([9], isEnd: true)
      #expect(try await reader.value == Array(0..<10))
    }
  }

  @Test("a server that is gone, or asks to come again, is asked again")
  func passing() async throws {
    let store = Store(Array(0..<5), isEnded: true)
    for fault in [
      FaultyTransport.Fault.unreachable, .status(500), .status(502, body: "<html>"), .status(503),
      .status(504), .status(429, headers: ["Retry-After": "1"]), .status(408), .status(425),
    ] {
      let faulty = FaultyTransport(ListEndpoint(store).transport) { number, _ in
        number <= 5 ? fault : .none
      }
      #expect(try await LazyList(reading: remote(faulty)).array() == Array(0..<5))
      #expect(faulty.requests.count == 6)
    }
  }

  @Test("a connection that falls silent is lost after its time, not before")
  func silent() async throws {
    let scheduler = VirtualScheduler()
    let source = ChangingSource([0])
    let faulty = FaultyTransport(ListEndpoint(source).transport) { number, request in
      request.path.contains("live=sse") && number <= 3 ? .silent(after: 500) : .none
    }
    let remote = remote(faulty.transport, lingering: .seconds(1000), clock: scheduler.clock)
    let reader = Task { try await LazyList(reading: remote).prefix(2).array() }
    // One request for what is there, and one for what comes.
    await faulty.requests.waitForCount(2)
    #expect(faulty.events == 1)
    await scheduler.waitForSleepers(1)
    scheduler.advance(by: .seconds(44))
    await scheduler.waitForSleepers(1)
    #expect(faulty.events == 1)
    // More bytes than the limit: what comes is not seen.
    for number in 1..<40 { try await source.append([number]) }
    let read = try await scheduler.advancing(by: .seconds(5)) { try await reader.value }
    #expect(read == [0, 1])
  }

  @Test("no events: long polls", arguments: [400, 405, 406, 415, 501])
  func longPolls(_ status: Int) async throws {
    let source = ChangingSource([0])
    let faulty = FaultyTransport(ListEndpoint(source).transport) { _, request in
      request.path.contains("live=sse") ? .status(status) : .none
    }
    let remote = remote(faulty)
    let reader = Task { try await LazyList(reading: remote).array() }
    try await remote.waitForMore(than: 0)
    for number in 1..<20 { try await source.append([number]) }
    try await source.append([], isEnd: true)
    #expect(try await reader.value == Array(0..<20))
    #expect(faulty.events <= 1)
  }

  // MARK: Other servers

  @Test("a server of another make", arguments: [true, false])
  func foreign(_ hasEvents: Bool) async throws {
    let server = ForeignServer(Array(0..<1000))
    server.contents.withLock { $0.hasEvents = hasEvents }
    let remote = remote(server.transport)
    let reader = Task { try await LazyList(reading: remote).array() }
    let late = Task { try await LazyList(reading: remote, from: 700).array() }
    try await remote.waitForMore(than: 999)
    server.contents.withLock { $0.elements += Array(1000..<1100) }
    try await remote.waitForMore(than: 1099)
    server.contents.withLock { $0.isClosed = true }
    #expect(try await reader.value == Array(0..<1100))
    #expect(try await late.value == Array(700..<1100))
    #expect(try await remote.read(from: 500, upTo: 3).elements == [500, 501, 502])
    #expect(try await TailraceTests.remote(server.transport).extent().count == 1100)
  }
}
