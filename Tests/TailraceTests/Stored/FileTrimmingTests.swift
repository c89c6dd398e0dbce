import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("Retention of lists in files", .tags(.long), .hangLimit, .inTurn)
struct FileTrimmingTests {
  @Test("reading trimmed elements is an error, and positions stay", arguments: Durability.all)
  func trimming(_ durability: Durability) async throws {
    let file = try StoredFile()
    let store = Walk.store(file, durability)
    let list = Walk.list(in: store)
    _ = try await list.element(at: 1999)
    let behind = LazyList(reading: Walk.store(file))
    let ahead = LazyList(reading: Walk.store(file), from: 1500)
    #expect(try await behind.element(at: 3) == Walk.elements(4)[3])
    #expect(try await ahead.head() == Walk.elements(1501)[1500])
    let first = try await store.trim(before: 1200)
    #expect(first == 1200)
    #expect(try await store.trim(before: 100) == 1200)
    // One that has read its page goes on to the end of it, and then is told.
    await #expect(throws: ListStoreError.trimmed(first: first)) {
      try await behind.element(at: 1100)
    }
    #expect(try await ahead.prefix(500).count() == 500)
    await #expect(throws: ListStoreError.trimmed(first: first)) {
      try await Walk.store(file).read(from: 0, upTo: 1)
    }
    await #expect(throws: ListStoreError.trimmed(first: first)) {
      try await Walk.store(file).read(from: first - 1, upTo: 1)
    }
    let expected = Walk.elements(2100)
    #expect(
      try await Walk.store(file).read(from: first, upTo: 2).elements
        == Array(expected[first..<first + 2]))
    // The writer goes on, and so does whoever opens it anew.
    #expect(try await list.element(at: 2049) == expected[2049])
    #expect(try await store.trim(before: .max) == 2049)
    #expect(try await list.element(at: 2050) == expected[2050])
  }

  @Test("a trimmed list is opened anew, and goes on")
  func trimmedAndOpened() async throws {
    let file = try StoredFile()
    do {
      let store = Walk.store(file)
      let list = Walk.list(in: store)
      _ = try await list.element(at: 999)
      #expect(try await store.trim(before: 900) == 900)
    }
    let store = Walk.store(file)
    let first = try await store.trim(before: 0)
    #expect(first == 900)
    let list = LazyList(storedIn: store, from: first, state: Walk()) { walk in walk.next() }
    #expect(try await list.prefix(300).array() == Array(Walk.elements(1300)[first..<first + 300]))
  }

  @Test(
    "one damaged mark brings no trimmed element back, and loses none that was kept",
    arguments: Durability.all, [0, JournalMark.stride])
  func damagedMark(_ durability: Durability, _ slot: Int) async throws {
    let disk = ModelDisk()
    let store = DiskModelTests.store(disk, durability)
    _ = try await store.acquireLease()
    var walk = Walk()
    for position in 0..<6 {
      try await store.append(ListCommit([walk.next()], state: walk), at: position)
    }
    #expect(try await store.trim(before: 4) == 4)
    var image = disk.contents.withLock { $0.image }
    let file = try #require(image.names[DiskModelTests.path])
    image.files[file]?[JournalMark.offset + slot] ^= 1
    for boot in [disk.boot, nil] {
      let anew = DiskModelTests.store(ModelDisk(image, boot: boot), durability)
      let extent = try await anew.extent()
      #expect(extent.first == 4 && extent.count == 6)
      #expect(try await anew.acquireLease()?.count == 6)
    }
  }

  @Test("trimming makes no file")
  func trimmingNothing() async throws {
    let file = try StoredFile()
    #expect(try await Walk.store(file).trim(before: 5) == 0)
    #expect(!file.exists)
  }

  @Test("commits are trimmed as a whole")
  func trimmingCommits() async throws {
    let file = try StoredFile()
    let store = Walk.store(file)
    _ = try await Walk.list(in: store, upTo: 1000).count()
    let size = try await store.trim(before: 900)
    #expect((773...900).contains(size))
    #expect(
      try await LazyList(reading: store, from: size).array() == Array(Walk.elements(1000)[size...]))
  }

  @Test("where the state is rebuilt, the elements since the last snapshot are kept")
  func trimmingRebuilt() async throws {
    let file = try StoredFile()
    func open() -> (FileStore<Int, [Int]>, LazyList<Int, any Error>) {
      let store = FileStore<Int, [Int]>(
        file.url, element: .raw, state: .json, durability: .survivesProcess)
      let list = LazyList(
        storedIn: store, state: [], snapshots: .every(10), rebuilding: { $0.append($1) }
      ) { state in state.reduce(1, +) % 1000 }
      return (store, list)
    }
    var expected: [Int] = []
    for _ in 0..<60 { expected.append(expected.reduce(1, +) % 1000) }
    do {
      let (store, list) = open()
      for try await _ in list.prefix(37) {}
      #expect(try await store.trim(before: 35) == 29)
    }
    let (store, _) = open()
    let list = LazyList(
      storedIn: store, from: 29, state: [], snapshots: .every(10), rebuilding: { $0.append($1) }
    ) { state in state.reduce(1, +) % 1000 }
    #expect(try await list.prefix(31).array() == Array(expected[29..<60]))
  }

  @Test("bytes that are written for an element stay the same however long a rebuilt list gets")
  func flat() async throws {
    /// A frontier that grows by one with each element.
    func bytes(_ count: Int, _ snapshots: SnapshotPolicy?) async throws -> Int {
      let file = try StoredFile()
      let store = FileStore<Int, [Int]>(
        file.url, element: .raw, state: .packed, durability: .survivesProcess)
      let list =
        if let snapshots {
          LazyList(
            storedIn: store, state: [], snapshots: snapshots, rebuilding: { $0.append($1) },
            next: { $0.count })
        } else {
          LazyList(storedIn: store, state: [Int]()) { state in
            state.append(state.count)
            return state.count - 1
          }
        }
      for try await _ in list.prefix(count) {}
      return try file.bytes.count / count
    }
    let count = Size.usual(10_000, full: 40_000)
    let (short, long) = (
      try await bytes(count / 8, .growing), try await bytes(count, .growing)
    )
    #expect(long <= short * 2)
    #expect(try await bytes(count, .never) <= 100)
    #expect(try await bytes(2_000, nil) > 4 * (try await bytes(500, nil)) / 2)
  }
}

extension ByteCoding where Value == [Int] {
  fileprivate static var packed: ByteCoding {
    ByteCoding(name: "ints") { value, bytes in
      value.withUnsafeBytes { bytes.append(contentsOf: $0) }
    } decode: { bytes, _ in
      Array(bytes.bindMemory(to: Int.self))
    }
  }
}
