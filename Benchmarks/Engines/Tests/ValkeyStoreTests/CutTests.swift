import Foundation
import Tailrace
import TailraceStored
import Testing

@testable import ValkeyStore

@Suite("Connections that are cut at every byte", .serialized, .timeLimit(.minutes(20)))
struct CutTests {
  static let isFull = ProcessInfo.processInfo.environment["FULL"] != nil
  /// So long that no renewal comes between.
  static let long = Duration.seconds(600)

  @Test(
    "an append that is cut is stored once, and known", arguments: [true, false], [false, true])
  func appends(_ serverKnowsTheScript: Bool, _ resets: Bool) async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    let store = server.store(through: proxy.port, lease: Self.long)
    _ = try await store.acquireLease()
    try await store.fill(0..<1)
    var position = 1
    /// Of two elements, so that half a commit would be seen.
    func append() async throws {
      try await store.append(
        Commit(["\(position)", "\(position + 1)"], state: position + 2), at: position)
    }
    func prepare() async throws {
      if !serverKnowsTheScript { try await server.run("SCRIPT", "FLUSH") }
    }
    try await prepare()
    let sizes = try await proxy.count { try await append() }
    position += 2
    var (cuts, failures) = (0, 0)
    for direction in Proxy.Direction.allCases {
      let size = try #require(sizes[direction])
      // The script itself is long, and all alike.
      let step = serverKnowsTheScript || Self.isFull ? 1 : 37
      for count in Array(stride(from: 0, to: size, by: step)) + [size] {
        try await prepare()
        proxy.cut(after: count, direction, resets: resets)
        var tries = 0
        while true {
          tries += 1
          do {
            try await append()
            break
          } catch {
            failures += 1
            // The list appends the same again at its next demand. Never `superseded`.
            guard case .disconnected = error as? ValkeyError, tries < 5 else { throw error }
          }
        }
        // Positions become longer, and so do commands.
        cuts += proxy.stopCutting() ? 1 : 0
        position += 2
      }
    }
    #expect(try await server.store().all().elements == (0..<position).texts)
    #expect(
      try await server.store("list").read(from: position - 1, upTo: 9).elements.count == 1)
    #expect(failures >= cuts - 4 && cuts > 100)
    print("figures: script known \(serverKnowsTheScript), resets \(resets), \(cuts) cuts")
  }

  @Test(
    "calls that are cut fail, and the next one succeeds", arguments: [Call.read, .acquire, .wait])
  func calls(_ call: Call) async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    let writer = server.store("other")
    _ = try await writer.acquireLease()
    for key in ["list", "other"] {
      let store = server.store(key, through: proxy.port, lease: Self.long)
      if key == "list" {
        _ = try await store.acquireLease()
        try await store.fill(0..<3)
      } else {
        try await writer.fill(0..<3)
      }
      // Once before, so that the server knows the script. A store that knows more does not wait.
      try await call.make(store, at: 2)
      func target() -> ValkeyStore<String, Int> {
        call == .wait ? server.store(key, through: proxy.port, lease: Self.long) : store
      }
      let sizes = try await proxy.count { try await call.make(target(), at: 2) }
      for direction in Proxy.Direction.allCases {
        for count in 0..<(sizes[direction] ?? 0) {
          proxy.cut(after: count, direction)
          let isCut: Bool
          do {
            try await call.make(target(), at: 2)
            isCut = false
          } catch ValkeyError.disconnected {
            isCut = true
          } catch ValkeyError.unreachable {
            isCut = true
          }
          #expect(proxy.stopCutting() == isCut, "\(direction) \(count)")
          try await call.make(target(), at: 2)
        }
      }
      #expect(try await store.all().elements == (0..<3).texts)
      #expect(try await (key == "list" ? store : writer).acquireLease()?.count == 3)
      // Otherwise it would do so later, while bytes are counted.
      try await store.release()
    }
  }
}
