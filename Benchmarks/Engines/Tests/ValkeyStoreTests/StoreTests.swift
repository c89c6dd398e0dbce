import Tailrace
import TailraceStored
import TailraceTesting
import Testing

@testable import ValkeyStore

@Suite("A list in a stream", .serialized, .timeLimit(.minutes(10)))
struct StoreTests {
  @Test("it keeps the promises of a store")
  func check() async throws {
    let server = try await Server()
    let number = Locked(0)
    try await checkStore(
      element: { "element \($0)\r\n\0" }, state: { $0 },
      reopening: { store in server.store(store.key) }
    ) {
      server.store("list \(number.withLock { $0 += 1; return $0 })")
    }
  }

  @Test("nothing connects before the first demand")
  func laziness() async throws {
    let server = try await Server()
    let proxy = try await Proxy(to: server.port)
    do {
      let store = server.store(through: proxy.port)
      let list = LazyList(storedIn: store, state: 0) {
        $0 += 1; return "\($0)"
      }
      #expect(proxy.connections == 0)
      #expect(try await list.prefix(1).array() == ["1"])
      #expect(proxy.connections == 1)
    }
    _ = server.store(through: proxy.port)
    #expect(proxy.connections == 1)
  }

  @Test("a list goes on where it stopped, and ends")
  func goesOn() async throws {
    let server = try await Server()
    let steps = Locked<[Int]>([])
    func list(_ store: ValkeyStore<String, Int>) -> LazyList<String, any Error> {
      LazyList(storedIn: store, state: 0) { number in
        steps.withLock { $0.append(number) }
        number += 1
        return number <= 5 ? "\(number)" : nil
      }
    }
    do {
      let store = server.store()
      #expect(try await list(store).prefix(3).array() == ["1", "2", "3"])
      try await store.release()
    }
    #expect(try await list(server.store()).array() == ["1", "2", "3", "4", "5"])
    #expect(try await LazyList(reading: server.store()).array() == ["1", "2", "3", "4", "5"])
    #expect(steps.withLock { $0 } == [0, 1, 2, 3, 4, 5])
  }

  @Test("a list that is folded from its elements goes on from its snapshot")
  func rebuilds() async throws {
    let server = try await Server()
    func list(_ store: ValkeyStore<String, Int>) -> LazyList<String, any Error> {
      LazyList(storedIn: store, state: 0, snapshots: .every(10)) { (sum: inout Int, text: String) in
        sum += Int(text) ?? 0
      } next: { sum in
        sum < 10_000 ? "\(sum + 1)" : nil
      }
    }
    let store = server.store()
    let first = try await list(store).prefix(7).array()
    #expect(first == ["1", "2", "4", "8", "16", "32", "64"])
    #expect(try await store.acquireLease()?.stateCount == 0)
    try await store.release()
    let second = server.store()
    #expect(try await list(second).prefix(13).last() == "4096")
    #expect(
      try await second.acquireLease()
        == ListCheckpoint(count: 13, state: 1023, stateCount: 10, isEnded: false))
  }

  @Test("lists at several keys do not meet")
  func severalLists() async throws {
    let server = try await Server()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in ["a", "a:b", "{a}", "", "ä ö\r\n", "list:lease"] {
        group.addTask { try await writesAndReads(name, on: server) }
      }
      try await group.waitForAll()
    }
  }

  func writesAndReads(_ name: String, on server: Server) async throws {
    let list = LazyList(storedIn: server.store(name), state: 0) { number in
      number += 1
      return number <= 50 ? "\(name) \(number)" : nil
    }
    let expected = (1...50).map { "\(name) \($0)" }
    #expect(try await list.array() == expected)
    #expect(try await LazyList(reading: server.store(name)).array() == expected)
  }

  @Test("commits without a state keep the last one, however many there are")
  func states() async throws {
    let server = try await Server()
    let store = server.store()
    _ = try await store.acquireLease()
    try await store.append(Commit(["0", "1"], state: 2), at: 0)
    for position in 2..<300 {
      try await store.append(Commit(["\(position)"], state: nil), at: position)
    }
    let expected = ListCheckpoint(count: 300, state: 2, stateCount: 2, isEnded: false)
    #expect(try await store.acquireLease() == expected)
    try await store.append(Commit([], state: nil, isEnd: true), at: 300)
    #expect(
      try await store.acquireLease()
        == ListCheckpoint(count: 300, state: 2, stateCount: 2, isEnded: true))
    #expect(try await store.all() == ListPage((0..<300).texts, isEnd: true))
  }

  @Test("trimming keeps what the state needs")
  func trims() async throws {
    let server = try await Server()
    let store = server.store()
    _ = try await store.acquireLease()
    for position in 0..<10 {
      try await store.append(Commit(["\(position)"], state: nil), at: position)
    }
    // Without a state, all elements are needed.
    #expect(try await store.trim(before: 8) == 0)
    try await store.append(Commit(["10"], state: 11), at: 10)
    try await store.append(Commit(["11", "12"], state: nil), at: 11)
    #expect(try await store.trim(before: 6) == 5)
    #expect(try await store.read(from: 5, upTo: 2).elements == ["5", "6"])
    await #expect(throws: ListStoreError.trimmed(first: 5)) {
      try await store.read(from: 4, upTo: 2)
    }
    #expect(try await store.trim(before: 3) == 5)
    // The state is in the element at 10.
    #expect(try await store.trim(before: 1000) == 10)
    let expected = ListCheckpoint(count: 13, state: 11, stateCount: 11, isEnded: false)
    #expect(try await store.acquireLease() == expected)
    #expect(try await store.read(from: 10, upTo: 9).elements == ["10", "11", "12"])
    try await store.append(Commit(["13"], state: 14), at: 13)
    let reader = server.store()
    #expect(try await reader.read(from: 13, upTo: 9).elements == ["13"])
    await #expect(throws: ListStoreError.trimmed(first: 10)) {
      try await reader.read(from: 0, upTo: 1)
    }
  }

  @Test("a follower goes on when the elements that it has read are trimmed")
  func followsWhileTrimmed() async throws {
    let server = try await Server()
    let (writer, reader) = (server.store(), server.store())
    _ = try await writer.acquireLease()
    try await writer.fill(0..<5)
    #expect(try await reader.all().elements == (0..<5).texts)
    try await writer.fill(5..<20)
    #expect(try await writer.trim(before: 5) == 4)
    #expect(try await reader.read(from: 5, upTo: 100).elements == (5..<20).texts)
    #expect(try await writer.trim(before: 30) == 19)
    await #expect(throws: ListStoreError.trimmed(first: 19)) {
      try await reader.read(from: 0, upTo: 1)
    }
    try await writer.fill(20..<22)
    #expect(try await reader.read(from: 20, upTo: 100).elements == ["20", "21"])
  }

  @Test("pages are bounded by bytes, and big elements come whole")
  func bigElements() async throws {
    let server = try await Server()
    let store = server.store()
    _ = try await store.acquireLease()
    let big = String(repeating: "x", count: 3 << 20)
    try await store.append(Commit([big, "small", big, "last"], state: 1), at: 0)
    #expect(try await store.read(from: 0, upTo: 9).elements.map(\.utf8.count) == [3 << 20])
    #expect(try await store.all().elements == [big, "small", big, "last"])
  }

  @Test("an entry removed from the middle is damage at its position")
  func damage() async throws {
    let server = try await Server()
    let store = server.store()
    _ = try await store.acquireLease()
    try await store.fill(0..<5)
    try await server.run("XDEL", "list", "0-3")
    let reader = server.store()
    #expect(try await reader.read(from: 0, upTo: 9).elements == ["0", "1"])
    await #expect(throws: ListStoreError.damaged(at: 2)) {
      try await reader.read(from: 2, upTo: 9)
    }
    #expect(try await reader.read(from: 3, upTo: 9).elements == ["3", "4"])
  }

  @Test(
    "a stream of somebody else's is refused",
    arguments: [["*", "a", "b"], ["0-1", "e", "b"], ["7-1", "e", "x", "c", "y", "a", "1"]])
  func strange(_ entry: [String]) async throws {
    let server = try await Server()
    try await server.run("XADD", "list", more: entry)
    let store = server.store()
    let refusal = ListStoreError.refused("the stream list was not written by a ValkeyStore")
    await #expect(throws: refusal) { try await store.acquireLease() }
    await #expect(throws: refusal) { try await store.read(from: 0, upTo: 1) }
    await #expect(throws: refusal) { try await store.trim(before: 1) }
  }

  @Test("bytes that cannot be decoded fail at their position; a state is not written over")
  func codings() async throws {
    let server = try await Server()
    do {
      let texts = ValkeyStore(
        "list", on: ValkeyServer(port: server.port), element: .text as ValkeyCoding<String>,
        state: .text as ValkeyCoding<String>)
      _ = try await texts.acquireLease()
      try await texts.append(ListCommit(["1", "x"], state: "no number"), at: 0)
      try await texts.release()
    }
    let store = ValkeyStore(
      "list", on: ValkeyServer(port: server.port), element: .json as ValkeyCoding<Int>,
      state: .json as ValkeyCoding<Int>)
    #expect(try await store.read(from: 0, upTo: 9) == ListPage([1]))
    await #expect(throws: DecodingError.self) { try await store.read(from: 1, upTo: 9) }
    await #expect(throws: DecodingError.self) { try await store.acquireLease() }
    await #expect(throws: ListStoreError.superseded) {
      try await store.append(ListCommit([2], state: 2), at: 2)
    }
    let bytes = ValkeyStore(
      "bytes", on: ValkeyServer(port: server.port), element: .bytes as ValkeyCoding<[UInt8]>,
      state: .json as ValkeyCoding<[String: Int]>)
    _ = try await bytes.acquireLease()
    try await bytes.append(ListCommit([[0, 13, 10, 255], []], state: ["a": 1]), at: 0)
    #expect(try await bytes.read(from: 0, upTo: 9).elements == [[0, 13, 10, 255], []])
    #expect(try await bytes.acquireLease()?.state == ["a": 1])
  }
}
