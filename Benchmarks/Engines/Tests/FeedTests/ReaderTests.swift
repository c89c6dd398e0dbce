import Foundation
import Hummingbird
import HummingbirdLists
import Synchronization
import Tailrace
import TailraceFoundation
import TailraceStored
import TailraceTesting
import Testing

@testable import feed

/// Clients that leave, clients that do not read, and many clients.
@Suite("Readers", .serialized, .timeLimit(.minutes(5)))
struct ReaderTests {
  private func router(
    _ gauge: Gauge, _ endpoint: ListEndpoint<some ListSource>
  ) -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: ResponseGauge(gauge: gauge))
    router.list("stream", endpoint)
    return router
  }

  @Test(
    "a client that leaves ends its response, also if the list does not grow",
    arguments: ["sse", "long-poll"], [false, true])
  func leaving(live: String, isReset: Bool) async throws {
    let gauge = Gauge()
    let store = MemoryStore<Int, Int>()
    // Patience for longer than the test has time.
    let endpoint = ListEndpoint(store, patience: .seconds(600), eventsEnd: .seconds(600))
    try await withServer(router(gauge, endpoint)) { port in
      var sockets = try (0..<50).map { _ in
        let socket = try Socket(port: port)
        try socket.request("/stream?offset=-1&live=\(live)")
        return socket
      }
      await gauge.wait { $0 == 50 }
      // An answer has begun when its head is here.
      if live == "sse" {
        try await onThread { [sockets] in for socket in sockets { _ = try socket.receive() } }
      }
      // The last one stays.
      if isReset { for socket in sockets.dropLast() { socket.resetOnClose() } }
      sockets.removeFirst(49)
      await gauge.wait { $0 == 1 }
      _ = try await store.acquireLease()
      try await store.append(ListCommit([7], state: 1, isEnd: true), at: 0)
      let bytes = try await onThread { [socket = sockets[0]] in try socket.receiveAll() }
      #expect(String(decoding: bytes, as: UTF8.self).contains("[7]"))
    }
    #expect(gauge.value == 0)
  }

  @Test("a client that reads nothing stalls nobody, holds little, and is released when it leaves")
  func stuck() async throws {
    let (gauge, encoded) = (Gauge(), Gauge())
    let text = String(repeating: "x", count: 1 << 16)
    let count = 300
    let store = MemoryStore<Int, Int>(Array(0..<count), isEnded: true)
    let endpoint = ListEndpoint(store) { number in
      encoded.add(1)
      return Data("\"\(number) \(text)\"".utf8)
    }
    try await withServer(router(gauge, endpoint)) { port in
      var stuck: [Socket] = []
      for _ in 0..<4 {
        let socket = try Socket(port: port, buffer: 4096)
        try socket.request("/stream?offset=-1&live=sse")
        stuck.append(socket)
      }
      await gauge.wait { $0 == 4 }
      let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<2 {
          group.addTask { try await onThread { try Self.readAll(port) } }
        }
        var sizes: [Int] = []
        for try await size in group { sizes.append(size) }
        return sizes
      }
      for size in sizes { #expect(size > count << 16) }
      await gauge.wait { $0 == 4 }
      let ahead = encoded.total - 2 * count
      print("clients that read nothing: \(ahead / 4 * 64) KB of \(count * 64) KB computed for each")
      #expect(ahead < 4 * count / 2, "the socket's buffers, and a page")
      stuck = []
      await gauge.wait { $0 == 0 }
    }
  }

  @Test("clients that never read are left after a time, cost little until then, and slow nobody")
  func neverReading() async throws {
    let gauge = Gauge()
    let text = String(repeating: "x", count: 1 << 16)
    let count = 300
    let store = MemoryStore<Int, Int>(Array(0..<count), isEnded: true)
    let endpoint = ListEndpoint(store, sendPatience: .seconds(2)) { number in
      Data("\"\(number) \(text)\"".utf8)
    }
    try await withServer(router(gauge, endpoint)) { port in
      let clock = ContinuousClock()
      /// How long two clients need for the whole list.
      func reading() async throws -> Duration {
        try await clock.measure {
          try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
              group.addTask { try await onThread { try Self.readAll(port) } }
            }
            for try await size in group { #expect(size > count << 16) }
          }
        }
      }
      _ = try await reading()
      let alone = try await reading()
      let memory = kilobytes("VmRSS")
      let start = clock.now
      let stuck = try (0..<4).map { _ in
        let socket = try Socket(port: port, buffer: 4096)
        try socket.request("/stream?offset=-1&live=sse")
        return socket
      }
      await gauge.wait { $0 == 4 }
      let beside = try await reading()
      let growth = kilobytes("VmRSS") - memory
      // Nobody leaves: it is the server that does.
      await gauge.wait { $0 == 0 }
      let time = clock.now - start
      for socket in stuck {
        // The connection is closed, and the end of the list was never sent.
        let bytes = try await onThread { (try? socket.receiveAll()) ?? [] }
        #expect(!String(decoding: bytes.suffix(200), as: UTF8.self).contains("streamClosed"))
      }
      print(
        """
        four clients that never read: left after \(time), \(growth) KB more memory; \
        others read the list in \(beside), without them in \(alone)
        """)
      #expect(time >= .seconds(2) && time < .seconds(20))
      #expect(beside < alone * 4 + .seconds(1))
      // Four times the list is 77 MB.
      #expect(growth < 40_000)
    }
  }

  @Test("a thousand requests for an offset far ahead compute nothing, and nothing is kept for them")
  func farAhead() async throws {
    let (gauge, computed) = (Gauge(), Gauge())
    let list = LazyList(1...).map { number in
      computed.add(1)
      return number
    }
    let endpoint = ListEndpoint(list.source)
    let identity = try await list.source.extent().identity ?? ""
    try await withServer(router(gauge, endpoint)) { port in
      let offsets = ["9999999999999999", "\(identity)_9999999999999999"]
      @Sendable func ask(_ times: Int) throws {
        for number in 0..<times {
          let socket = try Socket(port: port)
          try socket.request(
            "/stream?offset=\(offsets[number % 2])&live=\(number % 4 < 2 ? "long-poll" : "sse")",
            ["Connection: close"])
          var response = PartialResponse()
          response.take(try socket.receiveAll())
          #expect(response.status == 410)
        }
      }
      // What is made once is made now.
      try await onThread { try ask(200) }
      let memory = kilobytes("VmRSS")
      try await onThread { try ask(1000) }
      let growth = kilobytes("VmRSS") - memory
      print("a thousand requests far ahead: \(computed.total) computed, \(growth) KB more memory")
      #expect(growth < 4000)
    }
    #expect(computed.total == 0)
    #expect(gauge.value == 0)
  }

  /// Returns the number of bytes up to the end of a list.
  private static func readAll(_ port: Int) throws -> Int {
    let socket = try Socket(port: port)
    try socket.request("/stream?offset=-1&live=sse")
    var count = 0
    var last: [UInt8] = []
    while case let bytes = try socket.receive(), !bytes.isEmpty {
      count += bytes.count
      last = last.suffix(200) + bytes.suffix(200)
    }
    return String(decoding: last, as: UTF8.self).contains("\"streamClosed\":true") ? count : 0
  }

  @Test("a thousand clients read a list that grows")
  func thousand() async throws {
    let clients = 1000
    let count = 50
    let folder = try FeedFolder()
    let (elements, faults, left) = try await onThread {
      let server = try folder.serve(["--every", "20", "--count", "\(count)"])
      let (memory, files) = (server.kilobytes("VmRSS"), server.openFiles)
      let start = ContinuousClock.now
      var crowd = try Crowd(clients, server.port)
      try crowd.readToEnd()
      let time = ContinuousClock.now - start
      let (elements, faults, peak) = (crowd.elements, crowd.faults, server.kilobytes("VmHWM"))
      print(
        """
        \(clients) clients, \(count) elements each, at most one each 20 ms: \(time), \
        server \(memory / 1024) MB before, \(peak / 1024) MB at most, \
        \((peak - memory) / clients) KB for each client
        """)
      crowd.leave()
      // Another process has no event to wait for. The list itself is open, since it was read.
      for _ in 0..<1000 where server.openFiles > files + 10 { usleep(10_000) }
      return (elements, faults, server.openFiles - files)
    }
    #expect(elements == clients * count)
    #expect(faults == 0)
    #expect(left <= 10, "connections that are still open")
  }
}

/// Many connections that one thread reads.
struct Crowd {
  private struct Member {
    let socket: Socket
    var response = PartialResponse()
    var items: [FeedItem] = []
  }

  private var members: [Member]

  var elements: Int { members.reduce(0) { $0 + $1.items.count } }
  var faults: Int { members.count { $0.items.firstFault != nil } }

  init(_ count: Int, _ port: Int) throws {
    members = try (0..<count).map { _ in
      let socket = try Socket(port: port)
      try socket.request("/stream?offset=-1&live=sse")
      return Member(socket: socket)
    }
  }

  mutating func leave() { members = [] }

  mutating func readToEnd() throws {
    let decoder = JSONDecoder()
    var open = Array(members.indices)
    while !open.isEmpty {
      var polls = open.map { index in
        pollfd(fd: members[index].socket.descriptor, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&polls, nfds_t(polls.count), 60_000) > 0 else { return }
      for (place, index) in open.enumerated() where polls[place].revents != 0 {
        let bytes = try members[index].socket.receive()
        if bytes.isEmpty { return }
        members[index].response.take(bytes)
        for event in StreamEvent.take(from: &members[index].response.body)
        where event.name == "data" {
          members[index].items += try decoder.decode(
            [FeedItem].self, from: Data(event.data.utf8))
        }
      }
      open.removeAll { members[$0].response.isComplete }
    }
  }
}
