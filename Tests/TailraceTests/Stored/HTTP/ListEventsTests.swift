import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("A list as Server-Sent Events", .inTurn, .hangLimit)
struct ListEventsTests {
  typealias Store = MemoryStore<Int, Int>

  private func events(_ response: ListResponse) throws -> ListEvents {
    #expect(response.status == 200)
    #expect(response.headers["Content-Type"] == "text/event-stream")
    guard case .events(let events) = response.body else { throw NoEvents() }
    return events
  }

  struct NoEvents: Error {}

  private func append(_ elements: [Int], isEnd: Bool = false, to store: Store) async throws {
    let count = try #require(try await store.acquireLease()).count
    try await store.append(ListCommit(elements, state: 0, isEnd: isEnd), at: count)
  }

  /// The events of some bytes: name, ID, data.
  private func parsed(_ bytes: Data?) throws -> [[String]] {
    let text = String(decoding: try #require(bytes), as: UTF8.self)
    return text.components(separatedBy: "\n\n").compactMap { event in
      var fields = ["", "", ""]
      for line in event.split(separator: "\n") {
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        let text = parts.last ?? ""
        let value = text.first == " " ? String(text.dropFirst()) : text
        switch parts.first {
        case "event": fields[0] = value
        case "id": fields[1] = value
        case "data": fields[2] += value
        default: return nil
        }
      }
      return fields == ["", "", ""] ? nil : fields
    }
  }

  private let date = Date(timeIntervalSince1970: StreamCursor.epoch + 140)

  private func endpoint(
    _ store: Store, _ scheduler: VirtualScheduler, pageLimit: Int = 1000
  ) -> ListEndpoint<Store> {
    var endpoint = ListEndpoint(store, pageLimit: pageLimit, clock: scheduler.clock)
    endpoint.date = { [date] in date }
    endpoint.chance = { 1 }
    return endpoint
  }

  @Test("all that is stored, then all that comes, then the end")
  func following() async throws {
    let store = Store([1, 2, 3])
    let name = try await ListNames(store)
    let scheduler = VirtualScheduler()
    let endpoint = endpoint(store, scheduler, pageLimit: 2)
    let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
    var iterator = try events(response).makeAsyncIterator()
    let begin = try await iterator.next()
    #expect(String(decoding: try #require(begin), as: UTF8.self).hasPrefix("retry: 1500\n\n"))
    #expect(
      try parsed(begin) == [
        ["data", name(2), "[1,2]"],
        ["control", name(2), #"{"streamNextOffset":"\#(name(2))","streamCursor":"7"}"#],
      ])
    #expect(
      try parsed(try await iterator.next()) == [
        ["data", name(3), "[3]"],
        [
          "control", name(3),
          #"{"streamNextOffset":"\#(name(3))","streamCursor":"7","upToDate":true}"#,
        ],
      ])
    let writing = Task {
      await scheduler.waitForSleepers(1)
      try await append([4], isEnd: true, to: store)
    }
    #expect(
      try parsed(try await iterator.next()) == [
        ["data", name(4), "[4]"],
        [
          "control", name(4),
          #"{"streamNextOffset":"\#(name(4))","upToDate":true,"streamClosed":true}"#,
        ],
      ])
    #expect(try await iterator.next() == nil)
    try await writing.value
  }

  @Test("from now on: first where the list ends, then what comes")
  func now() async throws {
    let store = Store([1, 2])
    let name = try await ListNames(store)
    let scheduler = VirtualScheduler()
    let response = try await endpoint(store, scheduler)
      .response(to: ListRequest(offset: "now", accept: "text/event-stream"))
    var iterator = try events(response).makeAsyncIterator()
    let first = try parsed(try await iterator.next())
    #expect(first.map { $0[0] } == ["control"])
    #expect(first.first?[1] == name(2))
    #expect(first.first?[2].contains("\"upToDate\":true") == true)
    try await append([3], to: store)
    #expect(try parsed(try await iterator.next()).first == ["data", name(3), "[3]"])
  }

  @Test("a browser that connects again goes on where it was, and is let go of at the end")
  func reconnecting() async throws {
    let store = Store([1, 2, 3])
    let name = try await ListNames(store)
    let endpoint = endpoint(store, VirtualScheduler())
    func request(_ position: Int) -> ListRequest {
      ListRequest(offset: "-1", accept: "text/event-stream", lastEventID: name(position))
    }
    let again = try events(try await endpoint.response(to: request(2)))
    var iterator = again.makeAsyncIterator()
    #expect(try parsed(try await iterator.next()).first == ["data", name(3), "[3]"])
    try await append([], isEnd: true, to: store)
    #expect(try await endpoint.response(to: request(3)).status == 204)
    // It has not got everything.
    #expect(try await endpoint.response(to: request(2)).status == 200)
    // Another client asks for itself, and is told.
    let told = try await endpoint.response(to: ListRequest(offset: name(3), live: "sse"))
    var events = try events(told).makeAsyncIterator()
    #expect(try parsed(try await events.next()).first?[2].contains("streamClosed") == true)
    #expect(try await events.next() == nil)
  }

  @Test("a response ends after its time, though elements come")
  func time() async throws {
    let store = Store([1])
    let name = try await ListNames(store)
    let scheduler = VirtualScheduler()
    let endpoint = endpoint(store, scheduler)
    let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
    var iterator = try events(response).makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    scheduler.advance(by: .seconds(54))
    try await append([2], to: store)
    #expect(try parsed(try await iterator.next()).first == ["data", name(2), "[2]"])
    scheduler.advance(by: .seconds(1))
    try await append([3], to: store)
    #expect(try await iterator.next() == nil)

    // One that waits ends, too.
    let idle = try await endpoint.response(to: ListRequest(offset: name(3), live: "sse"))
    var waiting = try events(idle).makeAsyncIterator()
    _ = try await waiting.next()
    let clock = Task {
      for _ in 0..<4 {
        await scheduler.waitForSleepers(1)
        scheduler.advance(by: .seconds(15))
      }
    }
    // A comment shows that it lives, or an event, since some clients do not count comments.
    #expect(try await waiting.next() == Data(":\n\n".utf8))
    #expect(try parsed(try await waiting.next()).map { $0[0] } == ["control"])
    #expect(try await waiting.next() == Data(":\n\n".utf8))
    #expect(try await waiting.next() == nil)
    await clock.value
  }

  @Test("JSON of several lines is one event")
  func lines() async throws {
    let store = Store([1], isEnded: true)
    let name = try await ListNames(store)
    let endpoint = ListEndpoint(store) { number in Data("{\r\n  \"n\":\n\(number)\r}".utf8) }
    let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
    var iterator = try events(response).makeAsyncIterator()
    #expect(try parsed(try await iterator.next()).first == ["data", name(1), "[{  \"n\":1}]"])
  }

  @Test("the data stand behind the name, without a space")
  func letters() async throws {
    let store = Store([1], isEnded: true)
    let name = try await ListNames(store)
    let response = try await ListEndpoint(store)
      .response(to: ListRequest(offset: "-1", live: "sse"))
    var iterator = try events(response).makeAsyncIterator()
    let text = String(decoding: try #require(try await iterator.next()), as: UTF8.self)
    #expect(text.contains("event: data\ndata:[1]\nid: \(name(1))\n\n"))
    #expect(text.contains("event: control\ndata:{\"streamNextOffset\":"))
  }

  @Test("two readers of one response get the same")
  func twice() async throws {
    let store = Store([1, 2, 3], isEnded: true)
    let endpoint = endpoint(store, VirtualScheduler(), pageLimit: 1)
    let events = try events(
      try await endpoint.response(to: ListRequest(offset: "-1", live: "sse")))
    var all: [[Data]] = []
    for _ in 0..<2 {
      var bytes: [Data] = []
      for try await part in events { bytes.append(part) }
      all.append(bytes)
    }
    #expect(all[0].count == 3)
    #expect(all[0] == all[1])
  }

  @Test("elements that are discarded while a client reads end its events")
  func trimmed() async throws {
    let store = Store([1, 2, 3])
    let name = try await ListNames(store)
    let endpoint = endpoint(store, VirtualScheduler(), pageLimit: 1)
    let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
    var iterator = try events(response).makeAsyncIterator()
    _ = try await iterator.next()
    store.trim(before: 2)
    #expect(try await iterator.next() == nil)
    // It connects again, and is told.
    let again = try await endpoint.response(to: ListRequest(offset: name(1), live: "sse"))
    #expect(again.status == 410 && again.headers["Stream-Next-Offset"] == name(2))
  }

  @Test("a thousand clients wait for one list, and all get what comes; it is encoded once")
  func crowd() async throws {
    let store = Store()
    let encoded = Counter()
    let endpoint = ListEndpoint(store, clock: VirtualScheduler().clock) { number in
      encoded.increment()
      return Data("\(number)".utf8)
    }
    let begun = Probe<Void>()
    let sums = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1000 {
        group.addTask {
          let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
          guard case .events(let events) = response.body else { return -1 }
          var iterator = events.makeAsyncIterator()
          _ = try await iterator.next()
          begun.record(())
          var bytes = 0
          while let part = try await iterator.next() { bytes += part.count }
          return bytes
        }
      }
      await begun.waitForCount(1000)
      try await append([1, 2, 3], isEnd: true, to: store)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sums.count == 1000)
    #expect(Set(sums).count == 1 && sums[0] > 0)
    #expect(encoded.value >= 3 && encoded.value < 1000)
  }

  @Test("clients that wait and are told at the same moment as others: no response ends early")
  func told() async throws {
    let (clients, count) = (50, 400)
    let store = Store()
    let endpoint = ListEndpoint(store, clock: VirtualScheduler().clock)
    let ends = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<clients {
        group.addTask {
          let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
          guard case .events(let events) = response.body else { return -1 }
          var parser = EventParser(limit: 1 << 20)
          var elements = 0
          for try await part in events {
            for event in try parser.take(Array(part)) where event.name == "data" {
              elements += try JSONDecoder().decode([Int].self, from: Data(event.data)).count
            }
          }
          return elements
        }
      }
      for number in 0..<count { try await append([number], to: store) }
      try await append([], isEnd: true, to: store)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ends == Array(repeating: count, count: clients))
  }

  @Test("a client that does not read is left after its time, and one that reads is not")
  func stalled() async throws {
    let store = Store([1])
    let scheduler = VirtualScheduler()
    let endpoint = endpoint(store, scheduler)
    let response = try await endpoint.response(to: ListRequest(offset: "-1", live: "sse"))
    let events = try events(response)
    let full = Gate()
    // It reads nothing until it is left.
    let sending = Task {
      try await events.send { _ in
        await withTaskCancellationHandler {
          await full.wait()
        } onCancel: {
          full.open()
        }
      }
    }
    await full.waitForArrivals(1)
    await scheduler.waitForSleepers(1)
    scheduler.advance(by: .seconds(30))
    await #expect(throws: ClientStalledError()) { try await sending.value }

    let ended = Store([1, 2], isEnded: true)
    let whole = try await self.endpoint(ended, scheduler)
      .response(to: ListRequest(offset: "-1", live: "sse"))
    let sent = Counter()
    try await self.events(whole).send { bytes in sent.increment(by: bytes.count) }
    #expect(sent.value > 0)
  }
}
