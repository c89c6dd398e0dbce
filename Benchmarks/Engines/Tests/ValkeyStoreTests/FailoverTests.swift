import Foundation
import Tailrace
import TailraceStored
import Testing

@testable import ValkeyStore

@Suite("Replicas, and one that takes over", .serialized, .timeLimit(.minutes(5)))
struct FailoverTests {
  /// The store's address leads to another server, and the one before is a replica now.
  static func failOver(from old: Server, to new: Server, behind proxy: Proxy) async throws {
    try await new.lead()
    proxy.lead(to: new.port)
    try await old.follow(new)
  }

  @Test("a server that has become a replica says so, and the next call finds the new primary")
  func replica() async throws {
    let (first, second) = (try await Server(), try await Server())
    try await second.follow(first)
    let proxy = try await Proxy(to: first.port)
    let store = first.store(through: proxy.port, replicas: 1)
    let steps = Locked<[Int]>([])
    let list = LazyList(storedIn: store, state: 0) { number in
      steps.withLock { $0.append(number) }
      number += 1
      return "\(number)"
    }
    #expect(try await list.prefix(3).count() == 3)
    try await Self.failOver(from: first, to: second, behind: proxy)
    await #expect {
      try await list.prefix(4).count()
    } throws: {
      guard case .refused("READONLY", _) = $0 as? ValkeyError else { return false }
      return "\($0)".contains("It is a replica; the connection was closed")
    }
    #expect(try await list.prefix(4).array() == (1...4).map { "\($0)" })
    #expect(steps.withLock { $0 } == [0, 1, 2, 3])
    #expect(try await second.store().all().elements == (1...4).map { "\($0)" })
  }

  @Test("one that waits is led to the new primary, too")
  func follower() async throws {
    let (first, second) = (try await Server(), try await Server())
    try await second.follow(first)
    let proxy = try await Proxy(to: first.port)
    let writer = first.store(replicas: 1)
    _ = try await writer.acquireLease()
    try await writer.fill(0..<2)
    let store = first.store(through: proxy.port)
    let following = Task {
      var (elements, failures) = ([String](), [String]())
      let list = LazyList(reading: store)
      while elements.count < 3 {
        do {
          elements = try await list.prefix(3).array()
        } catch ValkeyError.refused(let code, _) where code == "UNBLOCKED" {
          failures.append(code)
        } catch ValkeyError.disconnected(let reason) {
          failures.append(reason)
        }
      }
      return (elements, failures)
    }
    while try await first.run("CLIENT", "LIST").asText?.contains("cmd=xread") != true {}
    try await second.lead()
    proxy.lead(to: second.port)
    // Nobody replicates to it: what it has, it has for ever.
    try await first.run("REPLICAOF", "127.0.0.1", "1")
    let next = second.store()
    try await second.expire()
    #expect(try await next.acquireLease()?.count == 2)
    try await next.fill(2..<3)
    let (elements, failures) = try await following.value
    #expect(elements == (0..<3).texts)
    // It still read from the one before, once.
    #expect(
      failures == [
        "UNBLOCKED", "it has 2 entries of the list, and 3 were announced by another server",
      ])
  }

  @Test("an element that too few replicas have is not returned, and stored once")
  func missingReplica() async throws {
    let (first, second) = (try await Server(), try await Server())
    try await second.follow(first)
    let proxy = try await Proxy(to: first.port)
    let store = first.store(
      through: proxy.port, lease: .seconds(60), timeout: .seconds(1), replicas: 1)
    let steps = Locked<[Int]>([])
    let list = LazyList(storedIn: store, state: 0) { number in
      steps.withLock { $0.append(number) }
      number += 1
      return "\(number)"
    }
    #expect(try await list.prefix(2).count() == 2)
    second.signal(SIGSTOP)
    for isNewConnection in [false, true, true] {
      if isNewConnection {
        proxy.cutAll()
        // The first call may find that the connection is dead.
        _ = try? await store.extent()
      }
      await #expect(throws: ValkeyError.notReplicated(to: 0, of: 1)) {
        try await list.prefix(3).count()
      }
      await #expect(throws: ValkeyError.notReplicated(to: 0, of: 1)) {
        try await store.acquireLease()
      }
    }
    #expect("\(ValkeyError.notReplicated(to: 0, of: 1))".contains("0 of 1 replicas have"))
    second.signal(SIGCONT)
    try await first.waitForReplica()
    #expect(try await list.prefix(3).array() == ["1", "2", "3"])
    #expect(steps.withLock { $0 } == [0, 1, 2])
    #expect(try await first.store().all().elements == ["1", "2", "3"])
  }

  @Test("elements that were returned are there when the primary is gone", arguments: [1, 2, 3])
  func lostPrimary(_ round: Int) async throws {
    let (first, second) = (try await Server(), try await Server())
    try await second.follow(first)
    let store = first.store(timeout: .seconds(3), replicas: 1)
    let list = LazyList(storedIn: store, state: 0) { number in
      number += 1
      return "\(number)"
    }
    var returned: [String] = []
    await #expect(throws: ValkeyError.notReplicated(to: 0, of: 1)) {
      for try await element in list {
        returned.append(element)
        // It takes over while the old one still writes.
        if returned.count == 20 * round { try await second.lead() }
      }
    }
    await first.kill()
    let kept = try await second.store().all().elements
    #expect(returned.count == 20 * round)
    #expect(kept == returned)
  }

  @Test("without replicas to wait for, the one that takes over may lack what was returned")
  func acknowledgedAndLost() async throws {
    let (first, second) = (try await Server(), try await Server())
    try await second.follow(first)
    let proxy = try await Proxy(to: first.port)
    let store = first.store(through: proxy.port)
    _ = try await store.acquireLease()
    try await store.fill(0..<2)
    while try await second.store().extent().count < 2 {}
    try await second.lead()
    try await store.fill(2..<3)
    await first.kill()
    proxy.lead(to: second.port)
    // The first call may find that the connection is dead.
    _ = try? await store.extent()
    await #expect(throws: ValkeyError.lost(key: "list", seen: 3, stored: 2)) {
      try await store.fill(3..<4)
    }
  }
}
