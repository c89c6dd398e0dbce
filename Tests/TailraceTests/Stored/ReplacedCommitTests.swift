import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceFoundation

/// Stores that have given elements which are not there any more, although no repair tells of it.
@Suite("Commits that are damaged or replaced after they were given", .hangLimit, .inTurn)
struct ReplacedCommitTests {
  private static func replaced(_ body: () async throws -> Void) async {
    await RepairTests.refused(because: "not there any more", body)
  }

  /// A journal of 12 elements that are not on the disk, and a place in the last of them.
  private static func unsynced() async throws -> (file: StoredFile, last: Int) {
    let (bytes, ends) = try await FaultTests.journal(12, .process)
    return (try StoredFile.copy(of: bytes), ends[10] + 70)
  }

  @Test("a torn commit is not confirmed by those that another writer has put in its place")
  func tornAndReplaced() async throws {
    let file = try StoredFile()
    func contents(
      of text: String, after bytes: [UInt8], at positions: ClosedRange<Int>
    ) async throws -> [UInt8] {
      if !bytes.isEmpty { try Data(bytes).write(to: file.url) }
      let writer = Walk.store(file, .process)
      #expect(try await writer.claim()?.count == positions.lowerBound)
      try await RepairTests.append(
        text, from: positions.lowerBound, through: positions.upperBound, to: writer)
      return try file.bytes
    }
    let kept = try await contents(of: "old", after: [], at: 0...11)
    let whole = try await contents(of: "old", after: kept, at: 12...12)
    let new = try await contents(of: "new", after: kept, at: 12...13)
    // The rest of the commit was not written yet, where zeros are.
    let torn = whole.dropLast(5) + [UInt8](repeating: 0, count: 4096)
    let url = file.url
    var outcomes: Set<[String]> = []
    for number in 1...16 {
      try Data(torn).write(to: url)
      let disk = LyingDisk()
      disk.lies.withLock {
        $0.beforeRead = { if $0 == number { try? Data(new).write(to: url) } }
      }
      outcomes.insert(try await Walk.store(file, .process, disk).read(from: 12, upTo: 5).elements)
    }
    #expect(outcomes.isSubset(of: [[], ["new 12"], ["new 12", "new 13"]]))
    #expect(outcomes.count > 1, "the contents were replaced before and after the reads")
  }

  @Test("a last commit that is damaged after it was given is damage to the store that gave it")
  func givenAndDamaged() async throws {
    let (file, last) = try await Self.unsynced()
    let (store, size) = (Walk.store(file), try file.bytes.count)
    #expect(try await store.read(from: 0, upTo: 12).elements.count == 12)
    try RepairTests.damage(file, at: last)
    await #expect(throws: ListStoreError.damaged(at: 11)) { try await store.claim() }
    #expect(try file.bytes.count == size, "nothing is discarded")
    #expect(try await store.cutDamage() == 11)
    #expect(try await Walk.list(in: store).prefix(13).array() == Walk.elements(13))
  }

  @Test("a store that has given less of the damaged commit cuts it off, as after a crash")
  func notGivenAndDamaged() async throws {
    let (file, last) = try await Self.unsynced()
    let store = Walk.store(file)
    #expect(try await store.read(from: 0, upTo: 11).elements.count == 11)
    try RepairTests.damage(file, at: last)
    #expect(try await store.claim()?.count == 11)
    try await RepairTests.append("new", from: 11, through: 12, to: store)
    #expect(try await store.read(from: 11, upTo: 9).elements == ["new 11", "new 12"])
  }

  @Test(
    "a store is refused if another has cut off the last commit that it gave",
    arguments: ["before others are appended", "after"])
  func givenAndCutOff(_ moment: String) async throws {
    let (file, last) = try await Self.unsynced()
    let (early, reader) = (Walk.store(file), Walk.store(file))
    #expect(try await early.read(from: 0, upTo: 11).elements.count == 11)
    #expect(try await reader.read(from: 0, upTo: 12).elements.count == 12)
    try RepairTests.damage(file, at: last)
    let writer = Walk.store(file)
    #expect(try await writer.claim()?.count == 11)
    if moment == "after" {
      try await RepairTests.append("new", from: 11, through: 13, to: writer)
    }
    for _ in 0..<2 { await Self.replaced { _ = try await reader.read(from: 12, upTo: 1) } }
    let more = moment == "after" ? ["new 11", "new 12"] : []
    #expect(try await early.read(from: 11, upTo: 2).elements == more)
  }

  @Test(
    "such a store is refused in all its lists, also when the others' elements are on the disk",
    arguments: Durability.all)
  func refusedForGood(_ durability: Durability) async throws {
    let (file, last) = try await Self.unsynced()
    let reader = Walk.store(file)
    #expect(try await reader.read(from: 0, upTo: 12).elements.count == 12)
    try RepairTests.damage(file, at: last)
    let writer = Walk.store(file, durability)
    #expect(try await writer.claim()?.count == 11)
    try await RepairTests.append("new", from: 11, through: 20, to: writer)
    // One that has read less would find the place where another one waits.
    for position in [11, 12, 3, 0, 12] {
      await Self.replaced { _ = try await reader.read(from: position, upTo: 1) }
    }
    #expect(try await writer.read(from: 11, upTo: 1).elements == ["new 11"])
  }

  @Test("the store that has appended a commit is refused like those that have read it")
  func ownCommitReplaced() async throws {
    let (file, _) = try await Self.unsynced()
    let disk = LyingDisk()
    let store = Walk.store(file, .machineEvery(2), disk)
    #expect(try await store.claim()?.count == 12)
    try await RepairTests.append("own", from: 12, through: 12, to: store)
    let offset = try #require(Data(try file.bytes).range(of: Data("own 12".utf8))?.lowerBound)
    await RepairTests.fail(store, on: disk, at: 13)
    try RepairTests.damage(file, at: offset)
    let size = try #require(Data(try file.bytes).range(of: Data("own 13".utf8))?.lowerBound) - 70
    try Data(try file.bytes.prefix(size)).write(to: file.url)
    let writer = Walk.store(file)
    #expect(try await writer.claim()?.count == 12)
    try await RepairTests.append("new", from: 12, through: 20, to: writer)
    await Self.replaced { _ = try await store.read(from: 13, upTo: 1) }
  }

  @Test(
    "an end that was given and is cut off is noticed like elements",
    arguments: ["with the last element", "alone"])
  func givenEndCutOff(_ way: String) async throws {
    let file = try StoredFile()
    do {
      let list = Walk.list(in: Walk.store(file, .process), upTo: 20)
      _ = try await list.element(at: 19)
    }
    let end = try file.bytes.count
    #expect(try await Walk.list(in: Walk.store(file, .process), upTo: 20).count() == 20)
    let reader = Walk.store(file)
    #expect(try await reader.read(from: way == "alone" ? 20 : 0, upTo: 20).isEnd)
    try RepairTests.damage(file, at: end + 2)
    let writer = Walk.store(file, .process)
    #expect(try await writer.claim()?.count == 20)
    try await RepairTests.append("new", from: 20, through: 22, to: writer)
    await Self.replaced { _ = try await reader.read(from: 20, upTo: 1) }
  }

  @Test("a read from beyond the end is no damage to those who write")
  func beyondTheEnd() async throws {
    let file = try StoredFile()
    #expect(try await Walk.list(in: Walk.store(file), upTo: 6).count() == 6)
    let store = Walk.store(file)
    #expect(try await store.read(from: 10, upTo: 1).isEnd)
    #expect(try await store.claim()?.count == 6)
    #expect(try await store.cutDamage() == 6)
    #expect(try await store.read(from: 5, upTo: 2).isEnd)
  }
}
