import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceFoundation

/// Lists that have lost bytes: the errors of their readers, and the result of `cutDamage`.
@Suite("Damaged files, and their repair", .tags(.long), .hangLimit, .inTurn)
struct RepairTests {
  @Test("bytes that were on the disk and are gone are damage to readers, behind what is there")
  func missingBytes() async throws {
    for durability in [Durability.machine, .machineEvery(1)] {
      let (bytes, ends) = try await FaultTests.journal(20, durability)
      for cut in [ends[15], ends[15] + 9] {
        let file = try StoredFile.copy(of: bytes[..<cut])
        let store = Walk.store(file)
        #expect(
          try await store.read(from: 0, upTo: 100).elements == Walk.elements(16),
          "\(durability), cut at \(cut) of \(bytes.count)")
        for position in [16, 18] {
          await #expect(throws: ListStoreError.damaged(at: position)) {
            try await store.read(from: position, upTo: 1)
          }
        }
        #expect(try await LazyList(reading: store).element(at: 3) == Walk.elements(4)[3])
        withExtendedLifetime(file) {}
      }
    }
  }

  @Test("a trimmed list whose first cell is unreadable is read, claimed and repaired as before")
  func firstCell() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9000) {}
    let kept = try await Walk.store(file).trim(before: 5000)
    #expect(kept > 4000)
    var bytes = try file.bytes
    bytes[JournalCells.offset + 24] ^= 1
    try Data(bytes).write(to: file.url)
    let store = Walk.store(file)
    #expect(try await store.read(from: 5000, upTo: 2).elements == Walk.elements(5002).suffix(2))
    await #expect(throws: ListStoreError.trimmed(first: kept)) {
      try await store.read(from: 10, upTo: 1)
    }
    #expect(try await store.cutDamage() == 9000)
    #expect(try await store.read(from: 5000, upTo: 1).elements == [Walk.elements(5001)[5000]])
  }

  @Test("a commit that is bad before one that is good is damage, and is cut off only on demand")
  func middle() async throws {
    let (bytes, ends) = try await FaultTests.journal(12, .process)
    var broken = bytes
    broken[ends[5] + 70] ^= 4
    let file = try StoredFile.copy(of: broken)
    await #expect(throws: ListStoreError.damaged(at: 6)) { try await Walk.store(file).claim() }
    await #expect(throws: ListStoreError.damaged(at: 6)) {
      try await LazyList(reading: Walk.store(file)).element(at: 9)
    }
    // The elements before the damage can be read.
    let reading = LazyList(reading: Walk.store(file))
    #expect(try await reading.prefix(6).array() == Walk.elements(6))
    #expect(try file.bytes.count == broken.count)
    let store = Walk.store(file)
    #expect(try await store.cutDamage() == 6)
    #expect(try await Walk.list(in: store).prefix(8).array() == Walk.elements(8))
  }

  @Test("cutting off damage: the whole file is looked at, also by its writer", arguments: [3, 900])
  func damageFarBack(_ position: Int) async throws {
    let file = try StoredFile()
    let store = Walk.store(file)
    let list = Walk.list(in: store)
    let length = 5000
    for try await _ in list.prefix(length) {}
    var bytes = try file.bytes
    #expect(bytes.count > 2 * JournalWriter.unknownBytes)
    let text = Data(Walk.elements(position + 1)[position].utf8)
    let place = try #require(Data(bytes).range(of: text)?.lowerBound)
    bytes[place] ^= 1
    try Data(bytes).write(to: file.url)
    await #expect(throws: ListStoreError.damaged(at: position)) {
      try await store.read(from: position, upTo: 1)
    }
    #expect(try await store.cutDamage() == position)
    #expect(
      try await Walk.list(in: store).prefix(position + 9).array() == Walk.elements(position + 9))
    // The list that had stored more.
    await #expect(throws: ListStoreError.damaged(at: position + 9)) {
      try await list.element(at: length)
    }
  }

  @Test("cutting off damage: a state that nobody needs costs nothing, the last one its elements")
  func damagedStates() async throws {
    let (bytes, ends) = try await FaultTests.journal(12, .process)
    var broken = bytes
    broken[ends[3] - 1] ^= 1
    let file = try StoredFile.copy(of: broken)
    #expect(try await Walk.store(file).cutDamage() == 12)
    // The two last ones.
    for end in ends[10...] { broken[end - 1] ^= 1 }
    try Data(broken).write(to: file.url)
    #expect(try await Walk.store(file).cutDamage() == 10)
    #expect(try await Walk.list(in: Walk.store(file)).prefix(13).array() == Walk.elements(13))
  }

  @Test(
    "after a repair, a store that has given more than is left is refused; others go on",
    arguments: [Durability.process, .machine, .machineEvery(4)])
  func storesBesideARepair(_ durability: Durability) async throws {
    let (bytes, ends) = try await FaultTests.journal(20, durability)
    let file = try StoredFile.copy(of: bytes)
    let (far, near, fresh, idle) = (
      Walk.store(file), Walk.store(file), Walk.store(file), Walk.store(file)
    )
    let list = LazyList(reading: far)
    #expect(try await list.prefix(20).array() == Walk.elements(20))
    #expect(try await near.read(from: 0, upTo: 12).elements.count == 12)
    try Self.damage(file, at: ends[11] + 70)
    var writer: Walk.Store? = Walk.store(file)
    #expect(try await writer?.cutDamage() == 12)
    try await Self.append("new", from: 12, through: 30, to: try #require(writer))
    writer = nil

    for position in [0, 20, 25] {
      await Self.refused { _ = try await far.read(from: position, upTo: 1) }
    }
    await Self.refused { _ = try await list.element(at: 25) }
    await Self.refused { try await far.waitForMore(than: 31) }
    await Self.refused { _ = try await far.claim() }
    // Its claim has not stayed.
    for store in [near, fresh] {
      #expect(try await store.read(from: 12, upTo: 9).elements.first == "new 12")
    }
    #expect(try await idle.claim()?.count == 31)
  }

  @Test("of two repairs in between, only the last is known: any may have discarded elements")
  func severalRepairs() async throws {
    let (bytes, ends) = try await FaultTests.journal(20, .machine)
    let file = try StoredFile.copy(of: bytes)
    let (early, unread) = (Walk.store(file), Walk.store(file))
    _ = try await early.read(from: 0, upTo: 15)
    try Self.damage(file, at: ends[9] + 70)
    var writer: Walk.Store? = Walk.store(file)
    #expect(try await writer?.cutDamage() == 10)
    try await Self.append("new", from: 10, through: 29, to: try #require(writer))
    let size = try file.bytes.count
    writer = nil
    // Behind what the reader has read.
    let next = try #require(Data(try file.bytes).range(of: Data("new 20".utf8))?.lowerBound)
    #expect(next < size)
    try Self.damage(file, at: next)
    #expect(try await Walk.store(file).cutDamage() == 20)
    await Self.refused { _ = try await early.read(from: 15, upTo: 1) }
    #expect(try await unread.read(from: 15, upTo: 1).elements == ["new 15"])
  }

  @Test("a list that is whole is not repaired: readers do not notice it")
  func nothingToRepair() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    var reader: Walk.Store?
    for count in 20..<24 {
      for try await _ in Walk.list(in: Walk.store(file, .machine, disk)).prefix(count) {}
      if reader == nil {
        reader = Walk.store(file)
        _ = try await reader?.read(from: 0, upTo: 15)
      }
      #expect(try await Walk.store(file).cutDamage() == count)
    }
    #expect(disk.lies.withLock { $0.extensions } == 4, "there was room behind the last element")
    #expect(try await reader?.read(from: 15, upTo: 9).elements == Walk.elements(23).suffix(8))
  }

  @Test(
    "a repair during a read: the elements are those before it, or those after it",
    arguments: ["unnoticed", "noticed by another read of the store"])
  func repairDuringARead(_ situation: String) async throws {
    let (old, ends) = try await FaultTests.journal(20, .machine)
    let file = try StoredFile.copy(of: old)
    try Self.damage(file, at: ends[11] + 70)
    var writer: Walk.Store? = Walk.store(file)
    #expect(try await writer?.cutDamage() == 12)
    try await Self.append("new", from: 12, through: 30, to: try #require(writer))
    writer = nil
    let new = try file.bytes
    let later = (12...30).map { "new \($0)" }

    var outcomes: Set<String> = []
    for number in 1...30 {
      try Data(old).write(to: file.url)
      let disk = LyingDisk()
      let store = Walk.store(file, .machine, disk)
      #expect(try await store.read(from: 0, upTo: 12).elements.count == 12)
      let reads = disk.lies.withLock { $0.reads }
      let url = file.url
      disk.lies.withLock {
        $0.beforeRead = { read in
          guard read == reads + number else { return }
          try? Data(new).write(to: url)
          if situation == "unnoticed" { return }
          let end = DispatchSemaphore(value: 0)
          Task {
            _ = try? await store.read(from: 5, upTo: 1)
            end.signal()
          }
          end.wait()
        }
      }
      let page = try await store.read(from: 12, upTo: 100).elements
      try Data(new).write(to: file.url)
      switch page {
      case later:
        outcomes.insert("after")
        #expect(try await store.read(from: 31, upTo: 1).elements.isEmpty)
      case Array(Walk.elements(20).suffix(8)):
        outcomes.insert("before")
        await Self.refused { _ = try await store.read(from: 20, upTo: 1) }
      default: Issue.record("read \(number): \(page)")
      }
    }
    #expect(outcomes == ["before", "after"])
  }

  static func damage(_ file: StoredFile, at offset: Int) throws {
    var bytes = try file.bytes
    bytes[offset] ^= 4
    try Data(bytes).write(to: file.url)
  }

  static func append(
    _ name: String, from first: Int, through last: Int, to store: Walk.Store
  ) async throws {
    for position in first...last {
      try await store.append(ListCommit(["\(name) \(position)"], state: Walk()), at: position)
    }
  }

  /// Makes a store give its lock up: it does not know what is on the disk.
  static func fail(_ store: Walk.Store, on disk: LyingDisk, at position: Int) async {
    disk.lies.withLock { $0.failingSyncs = 1 }
    await #expect(throws: (any Error).self) {
      try await append("own", from: position, through: position, to: store)
    }
  }

  static func refused(
    because text: String = "was repaired", _ body: () async throws -> Void
  ) async {
    await #expect {
      try await body()
    } throws: { failure in
      if case ListStoreError.refused(let why)? = failure as? ListStoreError {
        return why.contains(text)
      }
      return false
    }
  }

  @Test("a place that a reader remembers is not believed once it was cut off")
  func rememberedPlace() async throws {
    typealias Store = FileStore<String, Int>
    let file = try StoredFile()
    let store = Store(file.url, element: .text, state: .raw, durability: .process)
    func list(_ name: String, length: Int) -> LazyList<String, any Error> {
      LazyList(storedIn: store, state: 0) { number in
        defer { number += 1 }
        return "\(name) \(number) ".padding(toLength: length, withPad: ".", startingAt: 0)
      }
    }
    let length = 100
    for try await _ in list("old", length: length).prefix(20) {}
    let bytes = try file.bytes
    let places = (5...6).map { Data(bytes).range(of: Data("old \($0) ".utf8))?.lowerBound ?? 0 }
    let frame = places[1] - places[0]
    // The store remembers the places of its last reads.
    for position in 0...10 { _ = try await store.read(from: position, upTo: 1) }
    var broken = bytes
    broken[places[0]] ^= 1
    try Data(broken).write(to: file.url)
    #expect(try await store.cutDamage() == 5)
    // Two new frames are as long as an old one: others begin where the remembered ones began.
    for try await _ in list("new", length: length - frame / 2).prefix(40) {}
    for position in 10...12 {
      let page = try await store.read(from: position, upTo: 1)
      #expect(page.elements.first?.hasPrefix("new \(position) ") == true, "position \(position)")
    }
  }
}
