import Foundation
import NIOCore
import Tailrace
import TailraceStored
import Testing

@testable import ValkeyStore

/// A call of a store.
enum Call: String, CaseIterable, Sendable {
  case read, acquire, append, trim, wait

  func make(_ store: ValkeyStore<String, Int>, at position: Int) async throws {
    switch self {
    case .read: _ = try await store.read(from: position - 1, upTo: 10)
    case .acquire: _ = try await store.acquireLease()
    case .append: try await store.append(Commit(["\(position)"], state: position + 1), at: position)
    case .trim: _ = try await store.trim(before: 1)
    case .wait: try await store.waitForMore(than: position - 1)
    }
  }
}

@Suite("Faults of servers and networks", .serialized, .timeLimit(.minutes(10)))
struct FaultTests {
  /// A store with three elements, behind a proxy.
  func filled(
    _ server: Server, _ key: String = "list", timeout: Duration = .seconds(5)
  ) async throws -> (ValkeyStore<String, Int>, Proxy) {
    let proxy = try await Proxy(to: server.port)
    let store = server.store(key, through: proxy.port, timeout: timeout)
    _ = try await store.acquireLease()
    try await store.fill(0..<3)
    return (store, proxy)
  }

  /// The error of a call.
  func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do { try await body() } catch { return error }
    return nil
  }

  @Test(
    "every error reply has its code, and the next call goes on",
    arguments: [
      "LOADING Redis is loading the dataset in memory",
      "READONLY You can't write against a read only replica.",
      "NOAUTH Authentication required.", "OOM command not allowed when used memory > 'maxmemory'.",
      "WRONGTYPE Operation against a key holding the wrong kind of value",
      "BUSY Redis is busy running a script.", "MISCONF Errors writing to the AOF file",
      "MASTERDOWN Link with MASTER is down", "NOPERM this user has no permissions",
      "MOVED 3999 127.0.0.1:6381", "ERR max number of clients reached",
    ])
  func errorReplies(_ message: String) async throws {
    let server = try await Server()
    for call in Call.allCases {
      let (store, proxy) = try await filled(server, "\(call)")
      proxy.decide { _ in .reply("-\(message)\r\n") }
      let position = call == .wait ? 4 : 3
      let error = await failure { try await call.make(store, at: position) }
      let code = String(message.prefix { $0 != " " })
      #expect(error as? ValkeyError == .refused(code: code, message: message))
      #expect("\(error.map { "\($0)" } ?? "")".contains(message))
      proxy.decide(nil)
      try await call.make(store, at: 3)
      if call != .append { try await Call.append.make(store, at: 3) }
      #expect(try await store.all().elements == (0..<4).texts)
    }
  }

  @Test(
    "a reply that is no reply ends the connection, and the next call goes on",
    arguments: [
      "HTTP/1.1 400 Bad Request\r\n\r\n", "$5\r\nhelloworld\r\n", "+OK\r\n", "*0\r\n", ":1\r\n",
      "*1\r\n$6\r\nbanana\r\n", "*1\r\n$2\r\nok\r\n", "*3\r\n$2\r\nok\r\n*0\r\n*0\r\n", "$-1\r\n",
      "*1\r\n$4\r\nheld\r\n",
    ])
  func nonsense(_ reply: String) async throws {
    let server = try await Server()
    for call in Call.allCases {
      let (store, proxy) = try await filled(server, "\(call)")
      proxy.decide { _ in .reply(reply) }
      let position = call == .wait ? 4 : 3
      let error = await failure { try await call.make(store, at: position) }
      // A null is no news.
      if call != .wait || reply != "$-1\r\n" {
        guard case .unexpectedReply = error as? ValkeyError else {
          Issue.record("it failed with \(String(describing: error))")
          continue
        }
      }
      proxy.decide(nil)
      if call != .append { try await call.make(store, at: 3) }
      try await Call.append.make(store, at: 3)
      #expect(try await store.all().elements == (0..<4).texts)
    }
  }

  @Test("a server that does not answer is given up in time", arguments: Call.allCases)
  func silence(_ call: Call) async throws {
    let server = try await Server()
    let (store, proxy) = try await filled(server, timeout: .milliseconds(500))
    proxy.decide { _ in .silence }
    let position = call == .wait ? 4 : 3
    let error = await failure { try await call.make(store, at: position) }
    guard case .timedOut = error as? ValkeyError else {
      Issue.record("it failed with \(String(describing: error))")
      return
    }
    proxy.decide(nil)
    try await call.make(store, at: 3)
    if call != .append { try await Call.append.make(store, at: 3) }
    #expect(try await store.all().elements == (0..<4).texts)
  }

  @Test("an append that was carried out too late to be told is not stored twice")
  func lateReply() async throws {
    let server = try await Server()
    let (store, proxy) = try await filled(server, timeout: .milliseconds(500))
    let commit = Commit(["3", "4"], state: 5)
    try await server.run("CLIENT", "PAUSE", "1200", "ALL")
    await #expect(throws: ValkeyError.timedOut(.milliseconds(500))) {
      try await store.append(commit, at: 3)
    }
    var failures = 0
    while let error = await failure({ try await store.append(commit, at: 3) }) {
      failures += 1
      try #require(error as? ValkeyError == .timedOut(.milliseconds(500)))
    }
    #expect(try await store.all().elements == (0..<5).texts)
    #expect(failures < 10)
    // Another commit there is another one.
    await #expect(throws: ListStoreError.superseded) {
      try await store.append(Commit(["3", "x"], state: 5), at: 3)
    }
    withExtendedLifetime(proxy) {}
  }

  @Test("nobody listens; then somebody does", arguments: Call.allCases)
  func unreachable(_ call: Call) async throws {
    let server = try await Server(isDurable: true)
    let store = server.store()
    _ = try await store.acquireLease()
    try await store.fill(0..<3)
    await server.kill()
    for _ in 0..<3 {
      let error = await failure { try await call.make(store, at: call == .wait ? 4 : 3) }
      switch error as? ValkeyError {
      case .unreachable, .disconnected: break
      default: Issue.record("it failed with \(String(describing: error))")
      }
    }
    try await server.start()
    try await call.make(store, at: 3)
    if call != .append { try await Call.append.make(store, at: 3) }
    #expect(try await store.all().elements == (0..<4).texts)
  }

  @Test("a failed demand of a list computes nothing twice")
  func demands() async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    let store = server.store(through: proxy.port, timeout: .milliseconds(200))
    let steps = Locked<[Int]>([])
    let list = LazyList(storedIn: store, state: 0) { number in
      steps.withLock { $0.append(number) }
      number += 1
      return number <= 40 ? "\(number)" : nil
    }
    let fates: [Proxy.Fate] = [
      .cut, .runAndCut, .silence, .reply("-LOADING not yet\r\n"), .reply("nonsense\r\n"),
    ]
    var failures = 0
    for length in 1...41 {
      // Every other command fails.
      let count = Locked(0)
      proxy.decide { _ in
        count.withLock {
          $0 += 1; return $0 == 1
        } ? fates[length % fates.count] : .pass
      }
      while true {
        do {
          #expect(try await list.prefix(length).count() == min(length, 40))
          break
        } catch {
          failures += 1
          #expect(error is ValkeyError)
        }
      }
    }
    #expect(failures >= 40)
    #expect(steps.withLock { $0 } == Array(0...40))
    proxy.decide(nil)
    #expect(try await store.all() == ListPage((1..<41).texts, isEnd: true))
  }

  @Test("cancelling the reader of an append leaves it whole, and known")
  func cancellation() async throws {
    let server = try await Server()
    let (store, proxy) = try await filled(server)
    for position in 3..<60 {
      let append = Task { try await Call.append.make(store, at: position) }
      for _ in 0..<position % 7 { await Task.yield() }
      append.cancel()
      try await append.value
    }
    #expect(try await store.all().elements == (0..<60).texts)
    withExtendedLifetime(proxy) {}
  }

  @Test("passwords, users and databases")
  func logins() async throws {
    let server = try await Server(
      "--requirepass", "secret", "--user", "list", "on", ">pass", "~*", "+@all")
    func outcome(_ user: String?, _ password: String?, _ database: Int = 0) async -> String {
      let store = ValkeyStore(
        "list",
        on: ValkeyServer(
          port: server.port, username: user, password: password, database: database),
        element: .text as ValkeyCoding<String>, state: .json as ValkeyCoding<Int>)
      do {
        let count = try await store.acquireLease()?.count ?? -1
        if count == 0 { try await store.fill(0..<1) }
        try await store.release()
        return "\(count)"
      } catch ValkeyError.refused(let code, _) {
        return code
      } catch {
        return "\(error)"
      }
    }
    let stranger = await outcome(nil, nil)
    #expect(stranger == "NOAUTH")
    #expect(await outcome(nil, "wrong") == "WRONGPASS")
    #expect(await outcome(nil, "secret") == "0")
    #expect(await outcome("list", "pass") == "1")
    #expect(await outcome("list", "secret") == "WRONGPASS")
    #expect(await outcome("list", "pass", 1) == "0", "another database")
    #expect(await outcome(nil, "secret", 99) == "ERR")
  }

  @Test("real refusals of a server: another type, a replica, no memory")
  func refusals() async throws {
    let server = try await Server()
    let store = server.store()
    _ = try await store.acquireLease()
    try await store.fill(0..<3)
    func code(_ call: Call) async -> String {
      let error = await failure { try await call.make(store, at: call == .wait ? 9 : 3) }
      guard case .refused(let code, _) = error as? ValkeyError else {
        return String(describing: error)
      }
      return code
    }
    try await server.run("CONFIG", "SET", "maxmemory", "1")
    #expect(await code(.append) == "OOM")
    #expect(try await store.all().elements == (0..<3).texts)
    try await server.run("CONFIG", "SET", "maxmemory", "0")
    try await server.run("REPLICAOF", "127.0.0.1", "1")
    #expect(await code(.append) == "READONLY")
    #expect(await code(.acquire) == "READONLY")
    try await server.run("REPLICAOF", "NO", "ONE")
    try await store.fill(3..<4)
    try await server.run("DEL", "list")
    try await server.run("SET", "list", "text")
    for call in Call.allCases { #expect(await code(call) == "WRONGTYPE") }
  }

  @Test("a server that forgets its scripts is told again")
  func scripts() async throws {
    let server = try await Server()
    let (store, proxy) = try await filled(server)
    let sent = Locked<[String]>([])
    proxy.decide { words in
      sent.withLock { $0.append(words[0]) }
      return .pass
    }
    try await store.fill(3..<4)
    #expect(sent.withLock { $0 } == ["EVALSHA"])
    try await server.run("SCRIPT", "FLUSH")
    try await store.fill(4..<6)
    #expect(sent.withLock { $0 } == ["EVALSHA", "EVALSHA", "SCRIPT", "EVAL", "EVALSHA"])
    #expect(try await store.all().elements == (0..<6).texts)
  }
}
