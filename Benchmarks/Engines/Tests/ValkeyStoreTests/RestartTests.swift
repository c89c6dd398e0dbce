import Foundation
import Tailrace
import TailraceStored
import Testing
import Walking

@testable import ValkeyStore

@Suite("Servers that are killed and restarted", .serialized, .timeLimit(.minutes(10)))
struct RestartTests {
  /// A store of a chain.
  static func chain(_ server: Server) -> ValkeyStore<String, Link> {
    ValkeyStore(
      "list", on: ValkeyServer(port: server.port), element: .text, state: .json,
      lease: .milliseconds(300))
  }

  /// Reads a list to its end, and demands again after every failure of the server. Returns how
  /// many failures there were.
  static func readToEnd(
    _ list: LazyList<String, any Error>, noting count: Progress = Progress()
  ) async throws -> (ChainCheck, failures: Int) {
    var (check, failures) = (ChainCheck(), 0)
    var rest = list
    while true {
      do {
        for try await element in rest {
          try check.pass(element)
          count.reached(check.count)
          rest = rest.dropFirst()
        }
        return (check, failures)
      } catch let error as ValkeyError {
        switch error {
        case .unreachable, .disconnected, .timedOut, .refused("LOADING", _): failures += 1
        default: throw error
        }
        // The server is starting.
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  @Test("a writer and three followers survive 20 kills of a server with an append-only file")
  func kills() async throws {
    let server = try await Server(isDurable: true)
    let (kills, end) = (20, Progress())
    let steps = Locked<[Int]>([])
    let progress = Progress()
    let store = Self.chain(server)
    let list = LazyList(storedIn: store, state: Link()) { link in
      if end.count > 0 { return nil }
      steps.withLock { $0.append(link.number) }
      return link.next()
    }
    let writer = Task { try await Self.readToEnd(list, noting: progress) }
    let followers = (0..<3).map { _ in
      Task { try await Self.readToEnd(LazyList(reading: Self.chain(server))) }
    }
    for _ in 0..<kills {
      await progress.reaches(progress.count + Int.random(in: 1...30))
      await server.kill()
      try await server.start()
    }
    end.reached(1)
    let (all, failures) = try await writer.value
    for follower in followers {
      let (check, _) = try await follower.value
      #expect(check.link == all.link)
    }
    #expect(failures > 0)
    // No step ran twice: the writer lived, and stored its element when the server was back.
    #expect(steps.withLock { $0 } == Array(0..<all.count))
    print("figures: \(kills) kills of the server, \(all.count) elements, \(failures) failures told")
  }

  @Test("a server that has lost everything is noticed by all that had seen it", arguments: [0, 5])
  func lostList(_ refilled: Int) async throws {
    let server = try await Server()
    let (writer, reader, waiting) = (server.store(), server.store(), server.store())
    _ = try await writer.acquireLease()
    try await writer.fill(0..<5)
    for store in [reader, waiting] { #expect(try await store.all().elements == (0..<5).texts) }
    let wait = Task { try await LazyList(reading: waiting, from: 5).prefix(1).array() }
    while try await server.run("CLIENT", "LIST").asText?.contains("cmd=xread") != true {}
    try await server.restart()
    if refilled > 0 {
      // Somebody begins anew, as long as the old list was.
      let other = server.store()
      _ = try await other.acquireLease()
      for position in 0..<refilled {
        try await other.append(Commit(["other"], state: 77), at: position)
      }
      try await other.release()
    }
    let lost = ValkeyError.lost(key: "list", seen: 5, stored: refilled)
    // The first call may find that the connection is dead.
    for store in [writer, reader] { _ = try? await store.read(from: 0, upTo: 1) }
    for store in [writer, reader] {
      for position in [0, 4, 5, 9] {
        await #expect(throws: lost) { try await store.read(from: position, upTo: 1) }
      }
      await #expect(throws: lost) { try await store.acquireLease() }
      await #expect(throws: lost) { try await store.trim(before: 1) }
    }
    for position in [0, 5] {
      await #expect(throws: lost) {
        try await writer.append(Commit(["x"], state: 1), at: position)
      }
    }
    await #expect(throws: ValkeyError.self) { try await wait.value }
    await #expect(throws: lost) { try await LazyList(reading: waiting, from: 5).prefix(1).array() }
    #expect("\(lost)".contains("make a new store"))
    // A new store takes what there is.
    #expect(try await server.store().acquireLease()?.count == refilled)
  }

  @Test("a server that has lost the last elements is noticed, also if others are there now")
  func lostEnd() async throws {
    let server = try await Server()
    let (writer, behind, ahead) = (server.store(), server.store(), server.store())
    _ = try await writer.acquireLease()
    try await writer.fill(0..<10)
    #expect(try await ahead.all().elements.count == 10)
    #expect(try await behind.read(from: 0, upTo: 6).elements == (0..<6).texts)
    // The contents of a replica that was behind.
    for number in 7...10 { try await server.run("XDEL", "list", "0-\(number)") }
    try await server.run("XSETID", "list", "0-6")
    try await server.expire()
    await #expect(throws: ValkeyError.lost(key: "list", seen: 10, stored: 6)) {
      try await ahead.read(from: 10, upTo: 1)
    }
    #expect(try await behind.all().elements == (0..<6).texts, "it had not seen more")
    let other = server.store()
    #expect(try await other.acquireLease()?.count == 6)
    for position in 6..<12 { try await other.append(Commit(["x"], state: 1), at: position) }
    let lost = ValkeyError.lost(key: "list", seen: 10, stored: 12)
    await #expect(throws: lost) { try await ahead.read(from: 10, upTo: 1) }
    await #expect(throws: lost) { try await writer.fill(10..<11) }
    await #expect(throws: lost) { try await writer.acquireLease() }
    #expect(try await behind.read(from: 6, upTo: 9).elements == Array(repeating: "x", count: 6))
  }

  @Test("a lease from before the loss is not taken for the one that has its number now")
  func lostLeases() async throws {
    let server = try await Server()
    let (first, second) = (server.store(), server.store())
    #expect(try await first.acquireLease()?.count == 0)
    try await server.run("FLUSHALL")
    #expect(try await second.acquireLease()?.count == 0)
    await #expect(throws: ListStoreError.superseded) { try await first.fill(0..<1) }
    try await second.fill(0..<1)
    #expect(try await first.acquireLease() == nil)
  }

  @Test("a list over a lost list fails, and does not begin again")
  func lostByAList() async throws {
    let server = try await Server()
    let list = LazyList(storedIn: server.store(), state: 0) {
      $0 += 1; return "\($0)"
    }
    #expect(try await list.prefix(4).count() == 4)
    try await server.restart()
    for _ in 0..<3 {
      await #expect(throws: ValkeyError.self) { try await list.prefix(5).count() }
    }
    #expect(try await server.run("EXISTS", "list") == .number(0))
    #expect(try await list.prefix(4).last() == "4", "elements that were given out stay")
  }
}

/// A number that grows, and tasks that wait for it.
final class Progress: Sendable {
  private struct State {
    var count = 0
    var waiter: (number: Int, CheckedContinuation<Void, Never>)?
  }

  private let state = Locked(State())

  var count: Int { state.withLock(\.count) }

  func reached(_ number: Int) {
    let waiter = state.withLock { state in
      state.count = max(state.count, number)
      guard let waiter = state.waiter, waiter.number <= number else {
        return nil as CheckedContinuation<Void, Never>?
      }
      state.waiter = nil
      return waiter.1
    }
    waiter?.resume()
  }

  /// One task waits at a time.
  func reaches(_ number: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.count < number { state.waiter = (number, continuation) }
        return state.count >= number
      }
      if isThere { continuation.resume() }
    }
  }
}
