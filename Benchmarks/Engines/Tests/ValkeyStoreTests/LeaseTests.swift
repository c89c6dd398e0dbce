import Foundation
import NIOCore
import Tailrace
import TailraceStored
import Testing

@testable import ValkeyStore

@Suite("Leases: one writer at a time", .serialized, .timeLimit(.minutes(10)))
struct LeaseTests {
  static let short = Duration.seconds(1)

  /// Waits until a lease succeeds, as a list would.
  func acquireInTurn(_ store: ValkeyStore<String, Int>) async throws -> ListCheckpoint<Int> {
    while true {
      if let checkpoint = try await store.acquireLease() { return checkpoint }
      try await store.waitForMore(than: .max)
    }
  }

  @Test("a second store is refused, and granted when the first releases or is let go of")
  func releases() async throws {
    let server = try await Server()
    let second = server.store()
    do {
      let first = server.store()
      #expect(try await first.acquireLease() != nil)
      #expect(try await first.acquireLease() != nil, "the writer may acquire it again")
      #expect(try await second.acquireLease() == nil)
      try await first.fill(0..<3)
      try await first.release()
      await #expect(throws: ListStoreError.superseded) { try await first.fill(3..<4) }
    }
    let checkpoint = ListCheckpoint(count: 3, state: 3, isEnded: false)
    #expect(try await second.acquireLease() == checkpoint)
    try await second.release()
    let third = server.store()
    do {
      let fourth = server.store()
      #expect(try await fourth.acquireLease() == checkpoint)
      #expect(try await third.acquireLease() == nil)
    }
    // The lease lasts for ten seconds: only its release can wake a waiting store so soon.
    let start = ContinuousClock.now
    #expect(try await acquireInTurn(third) == checkpoint)
    #expect(start.duration(to: .now) < .seconds(5))
  }

  @Test("a writer whose lease is gone is told once, acquires it again and goes on")
  func leaseIsGone() async throws {
    let server = try await Server()
    let (first, second) = (server.store(), server.store())
    _ = try await first.acquireLease()
    try await first.fill(0..<2)
    try await server.run("DEL", "{list}:lease")
    await #expect(throws: ListStoreError.superseded) { try await first.fill(2..<3) }
    #expect(try await first.acquireLease()?.count == 2)
    try await first.fill(2..<4)
    #expect(try await second.acquireLease() == nil)
    try await first.release()
    #expect(try await second.acquireLease()?.count == 4)
    try await second.fill(4..<5)
    await #expect(throws: ListStoreError.superseded) { try await first.fill(5..<6) }
  }

  @Test("a list whose lease is gone computes on, and not for ever")
  func listWithoutLease() async throws {
    let server = try await Server()
    let steps = Locked<[Int]>([])
    let list = LazyList(storedIn: server.store(), state: 0) { number in
      steps.withLock { $0.append(number) }
      number += 1
      return "\(number)"
    }
    for length in 1...5 {
      #expect(try await list.prefix(length).count() == length)
      try await server.run("DEL", "{list}:lease")
    }
    // A step whose element was superseded runs once more.
    #expect(steps.withLock { $0 } == [0, 1, 1, 2, 2, 3, 3, 4, 4])
  }

  @Test("a lease that is gone is not renewed, and keeps nobody from writing")
  func renewsNothing() async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    let first = server.store(through: proxy.port, lease: Self.short)
    let second = server.store()
    _ = try await first.acquireLease()
    try await first.fill(0..<2)
    let renewals = Progress()
    proxy.decide { _ in
      renewals.reached(renewals.count + 1)
      return .pass
    }
    try await server.run("DEL", "{list}:lease")
    await renewals.reaches(1)
    // Behind the renewal, which is on its way.
    _ = try await first.extent()
    #expect(try await server.run("EXISTS", "{list}:lease") == .number(0))
    #expect(try await second.acquireLease()?.count == 2)
    try await second.fill(2..<3)
    await #expect(throws: ListStoreError.superseded) { try await first.fill(2..<3) }
  }

  @Test("a lease from before the server's clock was set back keeps nobody from writing")
  func clockSetBack() async throws {
    let server = try await Server()
    let (first, second) = (server.store(), server.store())
    _ = try await first.acquireLease()
    try await first.fill(0..<1)
    #expect(try await second.acquireLease() == nil)
    // As if the clock had been an hour ahead then.
    let end = try #require(try await server.run("HGET", "{list}:lease", "until").asNumber)
    try await server.run("HSET", "{list}:lease", "until", "\(end + 3_600_000)")
    #expect(try await second.acquireLease()?.count == 1)
  }

  @Test("a renewal and an append that come after the release do not bring the lease back")
  func lateCalls() async throws {
    let server = try await Server()
    let (first, second) = (server.store(), server.store())
    _ = try await first.acquireLease()
    let token = try #require(try await server.run("HGET", "{list}:lease", "token").asText)
    try await first.release()
    // As if they had been on their way.
    let connection = Connection(ValkeyServer(port: server.port))
    defer { connection.close() }
    let keys = ["list", "{list}:lease", "{list}:freed"].map { ByteBuffer(string: $0) }
    for (script, arguments) in [
      (.renew, [token, "10000"]),
      (.append, [token, "10000", "0", "0", "", "commit", "0", "1", "0", "element"]),
    ] as [(Script, [String])] {
      let (reply, _) = try await script.run(
        keys, arguments.map { ByteBuffer(string: $0) }, on: connection)
      #expect(reply.asArray?.first?.asText == "superseded")
    }
    #expect(try await second.acquireLease()?.count == 0)
  }

  @Test("a waiting store learns of a release at once, also if a follower waits, too")
  func wakesAtRelease() async throws {
    let server = try await Server()
    let (first, second) = (server.store(), server.store())
    _ = try await first.acquireLease()
    // A pure follower, over the same store: its wait is the one that is shared.
    let follower = Task { try await LazyList(reading: second).prefix(1).array() }
    let start = ContinuousClock.now
    async let checkpoint = acquireInTurn(second)
    while try await server.run("CLIENT", "LIST").asText?.contains("cmd=xread") != true {}
    try await first.release()
    #expect(try await checkpoint.count == 0)
    #expect(start.duration(to: .now) < .seconds(5))
    try await second.fill(0..<1)
    #expect(try await follower.value == ["0"])
  }

  @Test("a lease is renewed while its store lives, and expires after a store that cannot renew it")
  func expires() async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    let first = server.store(through: proxy.port, lease: Self.short)
    let second = server.store(lease: Self.short)
    _ = try await first.acquireLease()
    try await first.fill(0..<2)
    // Four times as long as it lasts.
    for _ in 0..<4 {
      #expect(try await second.acquireLease() == nil)
      try await second.waitForMore(than: 2)
    }
    // As if its machine were cut off.
    proxy.decide { _ in .silence }
    #expect(try await acquireInTurn(second) == ListCheckpoint(count: 2, state: 2, isEnded: false))
    // It comes back, and has not noticed anything. The first call finds the connection dead.
    proxy.decide(nil)
    proxy.cutAll()
    _ = try? await first.read(from: 0, upTo: 1)
    await #expect(throws: ListStoreError.superseded) { try await first.fill(2..<3) }
    try await second.fill(2..<3)
    await #expect(throws: ListStoreError.superseded) { try await first.fill(2..<3) }
    #expect(try await first.acquireLease() == nil)
    #expect(try await first.all().elements == (0..<3).texts)
  }

  @Test("an append with a lease of the past is superseded, even at the right position")
  func fencing() async throws {
    let server = try await Server()
    let (first, second) = (server.store(), server.store())
    _ = try await first.acquireLease()
    try await first.fill(0..<2)
    try await server.expire()
    #expect(try await second.acquireLease()?.count == 2)
    // Nothing was appended since, and the second lease is gone, too.
    try await server.expire()
    for size in [1, 5] {
      await #expect(throws: ListStoreError.superseded) {
        try await first.append(Commit((2..<2 + size).texts, state: 9), at: 2)
      }
    }
    // The last lease that was granted counts, although its lease has expired.
    try await second.fill(2..<4)
    #expect(try await first.acquireLease() == nil, "an append renews the lease")
    #expect(try await first.all().elements == (0..<4).texts)
  }

  @Test("a store whose lease has expired goes on if nobody else has acquired it")
  func lateWriter() async throws {
    let server = try await Server()
    let store = server.store()
    _ = try await store.acquireLease()
    try await server.expire()
    try await store.fill(0..<1)
    #expect(try await server.store().acquireLease() == nil)
  }

  @Test(
    "three lists in one process compute one after the other's elements", arguments: [true, false])
  func threeWriters(_ sharesOneStore: Bool) async throws {
    let server = try await Server()
    let steps = Locked<[Int]>([])
    let shared = server.store(lease: Self.short)
    let results = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<3 {
        let store = sharesOneStore ? shared : server.store(lease: Self.short)
        group.addTask {
          let list = LazyList(storedIn: store, state: 0, atTail: .computeOrFollow) { number in
            steps.withLock { $0.append(number) }
            number += 1
            return number <= 200 ? "\(number)" : nil
          }
          var elements: [String] = []
          for try await element in list { elements.append(element) }
          return elements
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results == Array(repeating: (1...200).map { "\($0)" }, count: 3))
    // Each store computes only with a lease: nobody else computed the same.
    if !sharesOneStore { #expect(steps.withLock(\.count) == 201) }
    #expect(Set(steps.withLock { $0 }) == Set(0...200))
  }

  @Test("one that must not wait is told that the list is in use")
  func inUse() async throws {
    let server = try await Server()
    let first = server.store()
    _ = try await first.acquireLease()
    try await first.fill(0..<1)
    let list = LazyList(storedIn: server.store(), state: 0) {
      $0 += 1; return "\($0)"
    }
    #expect(try await list.prefix(1).array() == ["0"])
    await #expect(throws: ListStoreError.inUse) { try await list.prefix(2).array() }
    try await first.release()
    #expect(try await list.prefix(2).array() == ["0", "2"])
  }

  @Test("followers wait without asking again and again")
  func doesNotPoll() async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    let commands = Locked<[String]>([])
    proxy.decide { words in
      commands.withLock { $0.append(words[0]) }
      return .pass
    }
    let writer = server.store()
    _ = try await writer.acquireLease()
    let store = server.store(through: proxy.port)
    let followers = (0..<20).map { number in
      Task {
        // Some want to compute, and some read beyond the end.
        let list =
          number % 3 == 0
          ? LazyList(storedIn: store, state: 0, atTail: .computeOrFollow) {
            $0 += 1; return ""
          }
          : LazyList(reading: store, from: number % 3 == 1 ? 0 : 2)
        return try await list.prefix(number % 3 == 2 ? 1 : 3).last()
      }
    }
    while commands.withLock({ !$0.contains("XREAD") }) { await Task.yield() }
    try await Task.sleep(for: .milliseconds(500))
    let calm = commands.withLock(\.count)
    try await Task.sleep(for: .milliseconds(500))
    #expect(commands.withLock(\.count) == calm, "somebody asks while nothing happens")
    #expect(proxy.connections == 2)
    try await writer.fill(0..<3)
    for follower in followers { #expect(try await follower.value == "2") }
    #expect(commands.withLock(\.count) < calm + 200)
  }

  @Test("one that waits and is cancelled comes back; the others go on")
  func cancelledWaits() async throws {
    let server = try await Server()
    let (writer, store) = (server.store(), server.store())
    _ = try await writer.acquireLease()
    let waits = (0..<10).map { _ in Task { try await store.waitForMore(than: 0) } }
    let other = Task { try await LazyList(reading: store).prefix(1).array() }
    for wait in waits {
      wait.cancel()
      _ = await wait.result
    }
    try await writer.fill(0..<1)
    #expect(try await other.value == ["0"])
  }
}
