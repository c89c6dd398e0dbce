import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("A mirror of a server's list", .inTurn, .hangLimit)
struct MirrorTests {
  private typealias Mirror = FileStore<Int, RemotePlace>

  private func withStore(_ body: (_ store: () -> Mirror) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "mirror-\(UUID())")
    defer { try? FileManager.default.removeItem(at: url) }
    try await body { FileStore(url, element: .json, state: .json) }
  }

  @Test("what was read is read again without the server, and the rest from its place on")
  func continues() async throws {
    let source = ChangingSource(Array(0..<5))
    let endpoint = ListEndpoint(source)
    try await withStore { store in
      do {
        let list = LazyList(mirroring: remote(endpoint.transport), in: store())
        #expect(try await list.prefix(3).array() == [0, 1, 2])
      }
      // Another process, without a server.
      do {
        let faulty = FaultyTransport(endpoint.transport) { _, _ in .unreachable }
        let list = LazyList(mirroring: remote(faulty.transport), in: store())
        #expect(try await list.prefix(3).array() == [0, 1, 2])
        #expect(faulty.requests.count == 0)
      }
      let faulty = FaultyTransport(endpoint.transport)
      let list = LazyList(mirroring: remote(faulty.transport), in: store())
      let reader = Task { try await list.array() }
      try await source.append([5, 6], isEnd: true)
      #expect(try await reader.value == Array(0..<7))
      let names = try await ListNames(source)
      #expect(faulty.requests.values.allSatisfy { !$0.path.contains("offset=-1") })
      #expect(faulty.requests.values.first?.path.contains("offset=\(names(3))") == true)
    }
  }

  @Test(
    "a list that was begun anew in between is told, and nothing of it is stored",
    arguments: [0, 3, 5])
  func anew(_ count: Int) async throws {
    let source = ChangingSource(Array(0..<5))
    let endpoint = ListEndpoint(source)
    try await withStore { store in
      do {
        let list = LazyList(mirroring: remote(endpoint.transport), in: store())
        #expect(try await list.prefix(count).array() == Array(0..<count))
      }
      source.replace(Array(10..<20), isEnded: true)
      let identity = try await source.extent().identity
      let list = LazyList(mirroring: remote(endpoint.transport), in: store())
      if count == 0 {
        #expect(try await list.array() == Array(10..<20))
      } else {
        let other = RemoteListError(path: "/list", reason: .otherList(found: identity))
        await #expect(throws: other) { try await list.array() }
        let mirror = try await store().extent()
        #expect(mirror.count == count && !mirror.isEnded)
      }
    }
  }

  @Test("of a server of another make")
  func foreign() async throws {
    let server = ForeignServer(Array(0..<50), isClosed: true)
    try await withStore { (store) async throws -> Void in
      for count in [1, 4, 5, 20] {
        let list = LazyList(mirroring: remote(server.transport), in: store())
        #expect(try await list.prefix(count).array() == Array(0..<count))
      }
      let list = LazyList(mirroring: remote(server.transport), in: store())
      #expect(try await list.array() == Array(0..<50))
    }
  }

  @Test("views of one list and a second one in another process share the work")
  func following() async throws {
    let source = ChangingSource(Array(0..<5))
    let endpoint = ListEndpoint(source)
    try await withStore { store in
      let faulty = FaultyTransport(endpoint.transport)
      let first = LazyList(mirroring: remote(faulty.transport), in: store())
      let second = LazyList(mirroring: remote(faulty.transport), in: store(), atTail: .follow)
      let readers = [Task { try await first.array() }, Task { try await second.array() }]
      try await source.append([5, 6], isEnd: true)
      for reader in readers { #expect(try await reader.value == Array(0..<7)) }
    }
  }
}
