import Tailrace
import TailraceSupport
import Foundation
import TailraceTesting
import Testing

@testable import TailraceStored

/// A source that becomes another list when a test wants it.
final class ChangingSource: ListSource {
  typealias Store = MemoryStore<Int, Int>

  private let store: Locked<Store>
  /// Called before each read: it may change the list.
  let onRead = Locked<(@Sendable (ChangingSource) -> Void)?>(nil)

  init(_ elements: [Int], isEnded: Bool = false) {
    store = Locked(Store(elements, isEnded: isEnded))
  }

  var current: Store { store.withLock { $0 } }

  /// The list is begun anew. Whoever waits in the old one is told, as by a file that is gone.
  func become(_ elements: [Int], isEnded: Bool = false) async throws {
    let old = current
    replace(elements, isEnded: isEnded)
    let count = try await old.acquireLease()?.count ?? 0
    try await old.append(ListCommit([], state: 0, isEnd: true), at: count)
  }

  func replace(_ elements: [Int], isEnded: Bool = false) {
    store.withLock { $0 = Store(elements, isEnded: isEnded) }
  }

  func append(_ elements: [Int], isEnd: Bool = false) async throws {
    let count = try await current.acquireLease()?.count ?? 0
    try await current.append(ListCommit(elements, state: 0, isEnd: isEnd), at: count)
  }

  func read(from position: Int, upTo count: Int) async throws -> ListPage<Int> {
    onRead.withLock { $0 }?(self)
    return try await current.read(from: position, upTo: count)
  }

  func waitForMore(than position: Int) async throws {
    try await current.waitForMore(than: position)
  }
  func extent() async throws -> ListExtent { try await current.extent() }
}

@Suite("An offset is of one list", .inTurn, .hangLimit)
struct ListIdentityTests {
  private static let modes = [nil, "long-poll", "sse"]

  @Test(
    "another list's offset and one beyond the end: 410, which names the beginning", arguments: modes
  )
  func gone(_ mode: String?) async throws {
    let source = ChangingSource([1, 2, 3])
    let endpoint = ListEndpoint(source)
    let old = try await ListNames(source)
    source.replace([7, 8, 9, 10])
    source.current.trim(before: 1)
    let new = try await ListNames(source)
    let offsets = [old(0), old(3), old(4), new(0), new(5), new(9_999_999_999_999_999)]
    for offset in offsets + [ListOffset(nil, 3).name] {
      let response = try await endpoint.response(to: ListRequest(offset: offset, live: mode))
      #expect(response.status == 410, "\(offset)")
      #expect(response.headers["Stream-Next-Offset"] == new(1), "\(offset)")
      #expect(response.headers["Cache-Control"] == "no-store")
    }
    let good = try await endpoint.response(to: ListRequest(offset: new(1), live: mode))
    #expect(good.status == 200)
  }

  @Test("a tag of another list is none: 200, with what is there now")
  func tags() async throws {
    let source = ChangingSource([1, 2, 3])
    let endpoint = ListEndpoint(source)
    let tag = try #require(try await endpoint.response(to: ListRequest()).headers["ETag"])
    #expect(try await endpoint.response(to: ListRequest(ifNoneMatch: tag)).status == 304)
    source.replace([1, 2, 3])
    let response = try await endpoint.response(to: ListRequest(ifNoneMatch: tag))
    #expect(response.status == 200 && response.headers["ETag"] != tag)
  }

  @Test("a list that does not exist yet is waited for from its beginning")
  func beginning() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "beginning-\(UUID())")
    defer { try? FileManager.default.removeItem(at: url) }
    let store = FileStore(url, element: .json as ByteCoding<Int>, state: .json as ByteCoding<Int>)
    let endpoint = ListEndpoint(store)
    let empty = try await endpoint.response(to: ListRequest())
    #expect(empty.headers["Stream-Next-Offset"] == ListOffset(nil, 0).name)
    async let waiting = endpoint.response(
      to: ListRequest(offset: empty.headers["Stream-Next-Offset"], live: "long-poll"))
    let list = LazyList(storedIn: store, state: 0) { number in
      number += 1
      return number <= 2 ? number : nil
    }
    #expect(try await list.count() == 2)
    let response = try await waiting
    #expect(response.status == 200)
    #expect(response.headers["Stream-Next-Offset"]?.contains("_") == true)
  }

  @Test("a list that changes while a page is read: elements and offsets are of one list")
  func during() async throws {
    for change in 1...4 {
      let source = ChangingSource(Array(0..<300))
      let endpoint = ListEndpoint(source)
      let reads = Counter()
      source.onRead.withLock {
        $0 = { source in
          if reads.increment() == change { source.replace(Array(1000..<1300)) }
        }
      }
      let response = try await endpoint.response(to: ListRequest())
      guard case .data(let data) = response.body else { return #expect(Bool(false)) }
      let elements = try JSONDecoder().decode([Int].self, from: data)
      let isNew = source.current.elements.first == 1000
      #expect(elements == (isNew ? Array(1000..<1300) : Array(0..<300)), "\(change)")
      #expect(response.headers["Stream-Next-Offset"] == (try await ListNames(source)(300)))
    }
  }

  @Test(
    "whoever waits when the list changes is told with the next request",
    arguments: ["long-poll", "sse"])
  func waiting(_ mode: String) async throws {
    let source = ChangingSource([1])
    let endpoint = ListEndpoint(source, clock: VirtualScheduler().clock)
    let old = try await ListNames(source)
    if mode == "sse" {
      let response = try await endpoint.response(to: ListRequest(offset: old(1), live: mode))
      guard case .events(let events) = response.body else { return #expect(Bool(false)) }
      var iterator = events.makeAsyncIterator()
      _ = try await iterator.next()
      try await source.become([7, 8])
      #expect(try await iterator.next() == nil)
    } else {
      async let response = endpoint.response(to: ListRequest(offset: old(1), live: mode))
      try await source.become([7, 8])
      #expect(try await response.status == 410)
    }
    let again = try await endpoint.response(to: ListRequest(offset: old(1), live: mode))
    #expect(again.status == 410)
  }

  // MARK: Demand

  @Test("no offset makes a list compute: a client that waits at the end demands one element")
  func demand() async throws {
    let computed = Counter()
    let list = LazyList(1...).map { number in
      computed.increment()
      return number
    }
    let source = list.source
    let endpoint = ListEndpoint(source)
    let name = try await ListNames(source)
    for mode in Self.modes {
      for offset in ["9999999999999999", name(1), name(9_999_999_999_999_999)] {
        let response = try await endpoint.response(to: ListRequest(offset: offset, live: mode))
        #expect(response.status == 410)
      }
    }
    // Nothing is kept for such requests, however many there are.
    for _ in 0..<1000 {
      let request = ListRequest(offset: "9999999999999999", live: "long-poll")
      #expect(try await endpoint.response(to: request).status == 410)
    }
    for request in [ListRequest(), ListRequest(offset: "now"), ListRequest(method: "HEAD")] {
      #expect(try await endpoint.response(to: request).status == 200)
    }
    #expect(computed.value == 0)
    for count in 1...3 {
      let request = ListRequest(offset: name(count - 1), live: "long-poll")
      #expect(try await endpoint.response(to: request).status == 200)
      #expect(computed.value == count)
    }
  }

  @Test("a page that is at the end and one that is full do not depend on what others have asked")
  func pages() async throws {
    let source = MemoryStore<Int, Int>(Array(0..<10))
    let endpoint = ListEndpoint(source, pageLimit: 6)
    let name = try await ListNames(source)
    for (limit, next) in [("2", 2), ("4", 4), ("6", 6), ("9", 6), ("1", 1), ("6", 6)] {
      let response = try await endpoint.response(to: ListRequest(offset: name(0), limit: limit))
      #expect(response.headers["Stream-Next-Offset"] == name(next))
      #expect(response.headers["Stream-Up-To-Date"] == nil)
    }
  }
}
