import Foundation
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("A list over HTTP", .inTurn, .hangLimit)
struct ListEndpointTests {
  typealias Store = MemoryStore<Int, Int>

  private func text(_ response: ListResponse) -> String? {
    guard case .data(let data) = response.body else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  private func isEmpty(_ response: ListResponse) -> Bool {
    if case .empty = response.body { true } else { false }
  }

  private func append(_ elements: [Int], isEnd: Bool = false, to store: Store) async throws {
    let count = try #require(try await store.acquireLease()).count
    try await store.append(ListCommit(elements, state: 0, isEnd: isEnd), at: count)
  }

  // MARK: Stored elements

  @Test(
    "pages follow each other, whatever their size", arguments: [1, 2, 3, 4, 5, 6, 7, 130, 1000])
  func pages(_ limit: Int) async throws {
    let store = Store(Array(0..<300), isEnded: true)
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store, pageLimit: limit)
    var (offset, numbers) = ("-1", [Int]())
    while true {
      let response = try await endpoint.response(to: ListRequest(offset: offset))
      #expect(response.status == 200)
      #expect(response.headers["Content-Type"] == "application/json")
      let page = try JSONDecoder().decode([Int].self, from: Data(try #require(text(response)).utf8))
      #expect(page.count <= limit)
      numbers += page
      offset = try #require(response.headers["Stream-Next-Offset"])
      #expect(offset == name(numbers.count))
      let isLast = numbers.count == 300
      #expect((response.headers["Stream-Up-To-Date"] == "true") == isLast)
      #expect((response.headers["Stream-Closed"] == "true") == isLast)
      if isLast { break }
    }
    #expect(numbers == Array(0..<300))
  }

  @Test("a page ends when it has enough bytes, and has one element at least")
  func bytes() async throws {
    let store = MemoryStore<String, Int>(["aaaa", "bbbb", "cccc"], isEnded: true)
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store, pageBytes: 8)
    let first = try await endpoint.response(to: ListRequest())
    #expect(text(first) == "[\"aaaa\",\"bbbb\"]")
    #expect(first.headers["Stream-Up-To-Date"] == nil)
    let tiny = ListEndpoint(store, pageBytes: 1)
    #expect(text(try await tiny.response(to: ListRequest(offset: name(1)))) == "[\"bbbb\"]")
  }

  @Test(
    "a page that is cut by its size ends no list, though the rest and the end came while it was read",
    arguments: ["-1", nil, "live"])
  func cut(_ offset: String?) async throws {
    let source = SwellingSource()
    let endpoint = ListEndpoint(source, pageBytes: 8)
    let names = try await ListNames(source)
    var request = ListRequest(offset: offset == "live" ? names(1) : offset)
    if offset == "live" { request.live = "long-poll" }
    source.swells.withLock { $0 = true }
    var texts: [String] = []
    while true {
      let response = try await endpoint.response(to: request)
      texts.append(try #require(text(response)))
      #expect(texts.count < 9)
      if response.headers["Stream-Closed"] != nil { break }
      request.offset = response.headers["Stream-Next-Offset"]
      #expect(response.headers["Stream-Up-To-Date"] == nil)
    }
    let elements = try texts.flatMap {
      try JSONDecoder().decode([String].self, from: Data($0.utf8))
    }
    #expect(elements == Array(SwellingSource.all.dropFirst(offset == "live" ? 1 : 0)))
  }

  @Test("an empty list")
  func nothing() async throws {
    let store = Store()
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store)
    let response = try await endpoint.response(to: ListRequest())
    #expect(text(response) == "[]")
    #expect(response.headers["Stream-Next-Offset"] == name(0))
    #expect(response.headers["Stream-Up-To-Date"] == "true")
    #expect(response.headers["Stream-Closed"] == nil)
  }

  @Test("the limit of a request, and of the endpoint")
  func limit() async throws {
    let endpoint = ListEndpoint(Store([1, 2, 3, 4, 5]), pageLimit: 3)
    let small = try await endpoint.response(to: ListRequest(limit: "2"))
    #expect(text(small) == "[1,2]")
    let huge = try await endpoint.response(to: ListRequest(limit: "99999999999999999999"))
    #expect(text(huge) == "[1,2,3]")
    let store = Store(Array(0..<300))
    let name = try await ListNames(store)
    let all = ListEndpoint(store, pageLimit: .max)
    let response = try await all.response(to: ListRequest(offset: name(297)))
    #expect(text(response) == "[297,298,299]")
    #expect(response.headers["Stream-Up-To-Date"] == "true")
  }

  @Test("a tag is that of the elements and of the end")
  func tags() async throws {
    let store = Store([1, 2])
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store, id: "numbers")
    let first = try await endpoint.response(to: ListRequest())
    let tag = try #require(first.headers["ETag"])
    #expect(tag == "\"numbers:\(name(0)):\(name(2))\"")
    // The page may grow.
    #expect(first.headers["Cache-Control"] == "private, no-cache")

    for field in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
      let again = try await endpoint.response(to: ListRequest(ifNoneMatch: field))
      #expect(again.status == 304 && isEmpty(again), "\(field)")
      #expect(again.headers["ETag"] == tag)
      #expect(again.headers["Content-Type"] == nil)
    }
    try await append([], isEnd: true, to: store)
    let ended = try await endpoint.response(to: ListRequest(ifNoneMatch: tag))
    #expect(ended.status == 200)
    #expect(ended.headers["Stream-Closed"] == "true")
    #expect(ended.headers["ETag"] == "\"numbers:\(name(0)):\(name(2)):c\"")
  }

  @Test("pages that do not change may be kept", arguments: [(false, "private"), (true, "public")])
  func caching(_ isShared: Bool, _ scope: String) async throws {
    let store = Store([1, 2, 3])
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store, pageLimit: 2, isShared: isShared)
    let full = try await endpoint.response(to: ListRequest(offset: name(0)))
    #expect(full.headers["Cache-Control"]?.hasPrefix("\(scope), max-age=") == true)
    for offset in ["-1", name(2)] {
      let other = try await endpoint.response(to: ListRequest(offset: offset))
      #expect(other.headers["Cache-Control"]?.hasSuffix("no-cache") == true, "\(offset)")
    }
  }

  @Test("an element has the same bytes each time")
  func bytesOfElements() async throws {
    struct Row: Codable, Sendable {
      var name = "a", price = 1, size = 2, weight = 3, color = "b"
    }
    let store = MemoryStore<Row, Int>(Array(repeating: Row(), count: 20))
    let one = #"{"color":"b","name":"a","price":1,"size":2,"weight":3}"#
    let response = try await ListEndpoint(store).response(to: ListRequest())
    #expect(text(response) == "[\(Array(repeating: one, count: 20).joined(separator: ","))]")
  }

  // MARK: The end of what is stored

  @Test(
    "where the list ends, however long it is and whatever was discarded",
    arguments: [(0, 0), (1, 0), (2, 0), (3, 1), (7, 7), (8, 3), (100, 0), (1000, 999)])
  func end(_ count: Int, _ trimmed: Int) async throws {
    let store = Store(Array(0..<count))
    let name = try await ListNames(store)
    store.trim(before: trimmed)
    let endpoint = ListEndpoint(store)
    let now = try await endpoint.response(to: ListRequest(offset: "now"))
    #expect(text(now) == "[]")
    #expect(now.headers["Stream-Next-Offset"] == name(count))
    #expect(now.headers["Stream-Up-To-Date"] == "true")
    #expect(now.headers["ETag"] == nil)
    #expect(now.headers["Cache-Control"] == "no-store")

    let head = try await endpoint.response(to: ListRequest(method: "HEAD"))
    #expect(head.status == 200 && isEmpty(head))
    #expect(head.headers["Stream-Next-Offset"] == name(count))
    #expect(head.headers["Content-Type"] == "application/json")
    #expect(head.headers["Stream-Closed"] == nil)
    try await append([], isEnd: true, to: store)
    let ended = try await endpoint.response(to: ListRequest(method: "HEAD"))
    #expect(ended.headers["Stream-Closed"] == "true")
  }

  @Test(
    "an end that comes while it is looked for is told behind the last element, not before it",
    arguments: ["GET", "HEAD"])
  func endsMeanwhile(_ method: String) async throws {
    let source = EndingSource()
    let name = try await ListNames(source)
    let endpoint = ListEndpoint(source)
    let response = try await endpoint.response(to: ListRequest(method: method, offset: "now"))
    #expect(response.status == 200)
    #expect(response.headers["Stream-Next-Offset"] == name(2))
    #expect(response.headers["Stream-Closed"] == nil)
    let last = try await endpoint.response(to: ListRequest(offset: name(2)))
    #expect(text(last) == "[3]")
    #expect(last.headers["Stream-Closed"] == "true")
    let end = try await endpoint.response(to: ListRequest(method: "HEAD"))
    #expect(end.headers["Stream-Next-Offset"] == name(3))
    #expect(end.headers["Stream-Closed"] == "true")
  }

  @Test("discarded elements: 410, which says where to begin; -1 begins there")
  func trimmed() async throws {
    let store = Store([10, 11, 12, 13])
    let name = try await ListNames(store)
    store.trim(before: 2)
    let endpoint = ListEndpoint(store)
    for live in [nil, "long-poll", "sse"] {
      let gone = try await endpoint.response(to: ListRequest(offset: name(1), live: live))
      #expect(gone.status == 410)
      #expect(gone.headers["Stream-Next-Offset"] == name(2))
    }
    let first = try await endpoint.response(to: ListRequest(offset: "-1"))
    #expect(text(first) == "[12,13]")
    #expect(first.headers["Stream-Next-Offset"] == name(4))
  }

  @Test("a refusal says why, but not to a HEAD", arguments: ["GET", "HEAD"])
  func refused(_ method: String) async throws {
    let endpoint = ListEndpoint(Store([1]))
    let response = try await endpoint.response(to: ListRequest(method: method, offset: "x"))
    #expect(response.status == 400)
    #expect(text(response) == (method == "HEAD" ? nil : "there is no offset x\n"))
  }

  // MARK: Long polls

  @Test("a long poll gets what is there at once, and else what comes")
  func longPoll() async throws {
    let store = Store([1])
    let scheduler = VirtualScheduler()
    let endpoint = ListEndpoint(store, clock: scheduler.clock)
    let request = ListRequest(offset: "-1", live: "long-poll")
    let name = try await ListNames(store)
    let first = try await endpoint.response(to: request)
    #expect(text(first) == "[1]")
    #expect(first.headers["Stream-Cursor"] != nil)

    async let waiting = endpoint.response(to: ListRequest(offset: name(1), live: "long-poll"))
    await scheduler.waitForSleepers(1)
    try await append([2, 3], to: store)
    let response = try await waiting
    #expect(text(response) == "[2,3]")
    #expect(response.headers["Stream-Next-Offset"] == name(3))
  }

  @Test("a long poll in vain: 204 after the patience, and not before", arguments: ["now", nil])
  func idle(_ offset: String?) async throws {
    let scheduler = VirtualScheduler()
    let store = Store([1])
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store, patience: .seconds(10), clock: scheduler.clock)
    let request = ListRequest(offset: offset ?? name(1), live: "long-poll", cursor: "99999999")
    async let waiting = endpoint.response(to: request)
    await scheduler.waitForSleepers(1)
    scheduler.advance(by: .seconds(9))
    // It still sleeps: otherwise this would wait for ever.
    await scheduler.waitForSleepers(1)
    scheduler.advance(by: .seconds(1))
    let response = try await waiting
    #expect(response.status == 204 && isEmpty(response))
    #expect(response.headers["Stream-Next-Offset"] == name(1))
    #expect(response.headers["Stream-Up-To-Date"] == "true")
    #expect(try #require(response.headers["Stream-Cursor"].flatMap(Int.init)) > 99_999_999)
    #expect(response.headers["Cache-Control"] == "no-store")
  }

  @Test("a long poll at the end of an ended list does not wait, and one that waits is told")
  func ended() async throws {
    let store = Store([1])
    let scheduler = VirtualScheduler()
    let endpoint = ListEndpoint(store, clock: scheduler.clock)
    let name = try await ListNames(store)
    let request = ListRequest(offset: name(1), live: "long-poll")
    async let waiting = endpoint.response(to: request)
    await scheduler.waitForSleepers(1)
    try await append([], isEnd: true, to: store)
    for response in [try await waiting, try await endpoint.response(to: request)] {
      #expect(response.status == 204)
      #expect(response.headers["Stream-Closed"] == "true")
    }
  }

  @Test("a long poll that is cancelled throws, and leaves no sleeper")
  func cancelled() async throws {
    let scheduler = VirtualScheduler()
    let endpoint = ListEndpoint(Store(), clock: scheduler.clock)
    let task = Task {
      try await endpoint.response(to: ListRequest(offset: "now", live: "long-poll"))
    }
    await scheduler.waitForSleepers(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    // The one alarm of all responses that wait.
    scheduler.advance(by: .seconds(25))
    await scheduler.waitForSleepers(0)
  }

  // MARK: Failures

  @Test("a failure after some elements ends the page; the next request gets it")
  func failures() async throws {
    let list = LazyList(0..<3).setFailureType(to: (any Error).self) + .failing(Broken())
    _ = try? await list.count()
    let source = list.source
    let name = try await ListNames(source)
    let endpoint = ListEndpoint(source)
    let first = try await endpoint.response(to: ListRequest())
    #expect(text(first) == "[0,1,2]")
    #expect(first.headers["Stream-Closed"] == nil)
    for live in [nil, "long-poll", "sse"] {
      await #expect(throws: Broken.self) {
        try await endpoint.response(to: ListRequest(offset: name(3), live: live))
      }
    }
  }

  struct Broken: Error {}

  @Test("a list in memory is computed as far as the clients wait")
  func demand() async throws {
    let computed = Probe<Int>()
    let list = LazyList(1...).map { number in
      computed.record(number)
      return number * number
    }
    let endpoint = ListEndpoint(list.source)
    #expect(text(try await endpoint.response(to: ListRequest())) == "[]")
    #expect(computed.count == 0)
    let one = try await endpoint.response(to: ListRequest(offset: "-1", live: "long-poll"))
    #expect(text(one) == "[1]")
    #expect(computed.count == 1)
  }
}

/// The numbers 1 to 3. The last one comes, with the end, after the first look for where it ends.
private final class EndingSource: ListSource {
  private let looks = Counter()

  func read(from position: Int, upTo count: Int) async throws -> ListPage<Int> {
    let page = Array([1, 2, 3].dropFirst(position).prefix(count))
    return ListPage(page, isEnd: position + page.count >= 3)
  }

  func waitForMore(than position: Int) async throws {}

  func extent() async throws -> ListExtent {
    let isFirst = looks.increment() <= 2
    return ListExtent(identity: "ending", count: isFirst ? 2 : 3, isEnded: !isFirst)
  }
}

/// A list of one element, that has five more and has ended as soon as it is read.
private final class SwellingSource: ListSource {
  static let all = (0..<6).map { "aaaaaa\($0)" }
  let swells = Locked(false)
  private let hasSwollen = Locked(false)

  func read(from position: Int, upTo count: Int) async throws -> ListPage<String> {
    if swells.withLock({ $0 }) { hasSwollen.withLock { $0 = true } }
    let isEnded = hasSwollen.withLock { $0 }
    let there = isEnded ? Self.all : Array(Self.all.prefix(1))
    let page = Array(there.dropFirst(position).prefix(count))
    return ListPage(page, isEnd: isEnded && position + page.count >= there.count)
  }

  func waitForMore(than position: Int) async throws {}

  func extent() async throws -> ListExtent {
    let isEnded = hasSwollen.withLock { $0 }
    return ListExtent(identity: "swelling", count: isEnded ? 6 : 1, isEnded: isEnded)
  }
}
