import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceFoundation

/// Stores that read while another one, or they themselves, repair the list.
@Suite("Readers beside a repair", .hangLimit, .inTurn)
struct RepairReaderTests {
  /// A damaged journal of 20 elements, of which a repair leaves 12.
  private static func damaged() async throws -> StoredFile {
    let (bytes, ends) = try await FaultTests.journal(20, .machine)
    let file = try StoredFile.copy(of: bytes)
    try RepairTests.damage(file, at: ends[11] + 70)
    return file
  }

  /// A journal of 12 elements, and of a part of the next.
  private static func torn() async throws -> StoredFile {
    let (bytes, ends) = try await FaultTests.journal(13, .process)
    return try StoredFile.copy(of: Array(bytes[..<(ends[12] - 5)]))
  }

  /// Runs an asynchronous call to its end, on a thread that may be blocked.
  private static func wait(for call: @escaping @Sendable () async -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task {
      await call()
      end.signal()
    }
    end.wait()
  }

  private static func outcome(
    _ store: Walk.Store, from position: Int, upTo count: Int
  ) async -> String {
    do {
      return "\(try await store.read(from: position, upTo: count).elements.count) elements"
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "once a repair is announced, readers are given only elements that it leaves",
    arguments: ["before the removal", "after it"])
  func announced(_ moment: String) async throws {
    let file = try await Self.damaged()
    let disk = LyingDisk()
    let (reader, found) = (Walk.store(file), Probe<String>())
    _ = try await reader.read(from: 0, upTo: 1)
    let look: @Sendable () -> Void = {
      Self.wait {
        for (position, count) in [(15, 3), (12, 1), (10, 5), (3, 4), (15, 3)] {
          found.record(await Self.outcome(reader, from: position, upTo: count))
        }
      }
    }
    disk.lies.withLock {
      if moment == "after it" { $0.afterTruncation = look } else { $0.beforeTruncation = look }
    }
    let writer = Walk.store(file, .machine, disk)
    #expect(try await writer.cutDamage() == 12)
    func damaged(_ position: Int) -> String { "\(ListStoreError.damaged(at: position))" }
    #expect(
      found.values == [damaged(15), damaged(12), "2 elements", "4 elements", damaged(15)])
    try await RepairTests.append("new", from: 12, through: 30, to: writer)
    #expect(try await reader.read(from: 11, upTo: 3).elements.last == "new 13")
  }

  @Test("a look at the last repair that is older than another read's refuses nothing")
  func olderLook() async throws {
    let file = try await Self.damaged()
    let old = try file.bytes
    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 12)
    try await RepairTests.append("new", from: 12, through: 30, to: writer)
    let (new, url) = (try file.bytes, file.url)
    try Data(old).write(to: url)

    let disk = LyingDisk()
    let store = Walk.store(file, .machine, disk)
    #expect(try await store.read(from: 0, upTo: 5).elements.count == 5)
    let found = Probe<String>()
    disk.lies.withLock {
      $0.afterRead = { offset in
        guard offset == JournalRepair.offset else { return }
        disk.lies.withLock { $0.afterRead = nil }
        try? Data(new).write(to: url)
        Self.wait { found.record(await Self.outcome(store, from: 5, upTo: 2)) }
      }
    }
    #expect(try await store.read(from: 10, upTo: 3).elements.last == "new 12")
    #expect(found.values == ["2 elements"])
  }

  @Test("the store that repairs a list goes on reading what is left")
  func ownReads() async throws {
    let file = try await Self.damaged()
    let disk = LyingDisk()
    let store = Walk.store(file, .machine, disk)
    let found = Probe<String>()
    #expect(try await store.claim()?.count == 20, "the damage is not among the last bytes")
    try await store.append(ListCommit(["old 20"], state: Walk()), at: 20)
    let look: @Sendable () -> Void = {
      Self.wait { found.record(await Self.outcome(store, from: 3, upTo: 1)) }
    }
    disk.lies.withLock {
      $0.beforeTruncation = look
      $0.afterTruncation = look
      $0.beforeSync = look
    }
    #expect(try await store.cutDamage() == 12)
    disk.lies.withLock { $0.beforeSync = nil }
    #expect(found.values.count >= 3 && Set(found.values) == ["1 elements"], "\(found.values)")
  }

  @Test("a store that has told the end is refused if the repair has discarded the end")
  func toldEnd() async throws {
    let file = try StoredFile()
    let list = Walk.list(in: Walk.store(file), upTo: 20)
    _ = try await list.element(at: 19)
    let end = try file.bytes.count
    #expect(try await list.count() == 20)
    var broken = try file.bytes
    #expect(broken.count > end, "the end is an entry of its own")
    broken[end + 2] ^= 4
    let (told, untold) = (Walk.store(file), Walk.store(file))
    #expect(try await told.read(from: 20, upTo: 1).isEnd)
    #expect(try await !untold.read(from: 0, upTo: 19).isEnd)
    try Data(broken).write(to: file.url)
    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 20)
    try await RepairTests.append("new", from: 20, through: 22, to: writer)
    await RepairTests.refused { _ = try await told.read(from: 20, upTo: 1) }
    #expect(try await untold.read(from: 19, upTo: 2).elements.last == "new 20")
  }

  @Test("an interrupted repair is damage until it is repeated, and then no other repair")
  func interrupted() async throws {
    let file = try await Self.damaged()
    let (far, near) = (Walk.store(file), Walk.store(file))
    #expect(try await far.read(from: 15, upTo: 2).elements.count == 2)
    #expect(try await near.read(from: 0, upTo: 12).elements.count == 12)
    // As after a kill behind the announcement.
    let disk = LyingDisk()
    disk.lies.withLock { $0.failingTruncations = 1 }
    await #expect(throws: (any Error).self) {
      try await Walk.store(file, .machine, disk).cutDamage()
    }
    await #expect(throws: ListStoreError.damaged(at: 12)) { try await Walk.store(file).claim() }
    #expect(await Self.outcome(near, from: 12, upTo: 1) == "\(ListStoreError.damaged(at: 12))")
    #expect(await Self.outcome(near, from: 11, upTo: 9) == "1 elements")
    await RepairTests.refused { _ = try await far.read(from: 15, upTo: 1) }

    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 12)
    try await RepairTests.append("new", from: 12, through: 14, to: writer)
    #expect(try await near.read(from: 12, upTo: 1).elements == ["new 12"])
    await RepairTests.refused { _ = try await far.read(from: 15, upTo: 1) }
  }

  @Test("elements behind a block of zeros are damage, and their repair is recorded")
  func zeroedHeader() async throws {
    let (bytes, ends) = try await FaultTests.journal(20, .process)
    let file = try StoredFile.copy(of: bytes)
    let reader = Walk.store(file)
    #expect(try await reader.read(from: 0, upTo: 20).elements.count == 20)
    var broken = bytes
    for offset in ends[18]..<ends[18] + JournalFrame.headerSize { broken[offset] = 0 }
    try Data(broken).write(to: file.url)
    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 19)
    try await RepairTests.append("new", from: 19, through: 22, to: writer)
    await RepairTests.refused { _ = try await reader.read(from: 20, upTo: 1) }
  }

  @Test("a reader of all that is left waits for more, also while a partly written end is removed")
  func readerAtTheEnd() async throws {
    let file = try await Self.torn()
    let disk = LyingDisk()
    let (reader, found) = (Walk.store(file), Probe<String>())
    #expect(try await reader.read(from: 0, upTo: 20).elements.count == 12)
    let look: @Sendable () -> Void = {
      Self.wait { found.record(await Self.outcome(reader, from: 12, upTo: 1)) }
    }
    disk.lies.withLock { ($0.beforeTruncation, $0.afterTruncation) = (look, look) }
    let writer = Walk.store(file, .process, disk)
    #expect(try await writer.cutDamage() == 12)
    #expect(found.values == ["0 elements", "0 elements"])
    try await RepairTests.append("new", from: 12, through: 13, to: writer)
    #expect(try await reader.read(from: 12, upTo: 1).elements == ["new 12"])
  }

  @Test("an end that a repair is about to remove is not told")
  func removedEnd() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    disk.lies.withLock { $0.extends = false }
    let list = Walk.list(in: Walk.store(file, .machine, disk), upTo: 20)
    _ = try await list.element(at: 19)
    let end = try file.bytes.count
    #expect(try await list.count() == 20)
    // Its header stays whole, and readers take what the cells promise at its word.
    let last = try file.bytes.count - 1
    #expect(last > end + JournalFrame.headerSize, "the end is an entry of its own")
    try RepairTests.damage(file, at: last)
    let (reader, found) = (Walk.store(file), Probe<Bool>())
    _ = try await reader.read(from: 0, upTo: 1)
    let look: @Sendable () -> Void = {
      Self.wait {
        if let page = try? await reader.read(from: 10, upTo: 10) { found.record(page.isEnd) }
      }
    }
    disk.lies.withLock { $0.beforeTruncation = look }
    let writer = Walk.store(file, .machine, disk)
    #expect(try await writer.cutDamage() == 20)
    #expect(found.values == [false])
    try await RepairTests.append("new", from: 20, through: 22, to: writer)
    #expect(try await reader.read(from: 20, upTo: 1).elements == ["new 20"])
  }

  @Test("a store whose repair failed is refused like any other once another store has repaired")
  func failedRepair() async throws {
    let file = try await Self.damaged()
    let disk = LyingDisk()
    let failing = Walk.store(file, .machine, disk)
    #expect(try await failing.read(from: 13, upTo: 7).elements.count == 7)
    disk.lies.withLock { $0.failingTruncations = 1 }
    await #expect(throws: (any Error).self) { try await failing.cutDamage() }
    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 12)
    try await RepairTests.append("new", from: 12, through: 30, to: writer)
    await RepairTests.refused { _ = try await failing.read(from: 20, upTo: 1) }
  }

  @Test("a store that could not announce its repair knows of none")
  func unannouncedRepair() async throws {
    let file = try await Self.torn()
    let disk = LyingDisk()
    let failing = Walk.store(file, .process, disk)
    #expect(try await failing.read(from: 0, upTo: 20).elements.count == 12)
    disk.lies.withLock { $0.room = 0 }
    await #expect(throws: (any Error).self) { try await failing.cutDamage() }
    // Another store cuts off the partly written end, as every writer does.
    let writer = Walk.store(file)
    #expect(try await writer.claim()?.count == 12)
    try await RepairTests.append("new", from: 12, through: 14, to: writer)
    #expect(try await failing.read(from: 12, upTo: 1).elements == ["new 12"])
  }

  @Test("a store that begins behind a bad frame is told of it", arguments: Durability.all)
  func behindABadFrame(_ durability: Durability) async throws {
    let (bytes, ends) = try await FaultTests.journal(20, durability)
    let file = try StoredFile.copy(of: bytes)
    try RepairTests.damage(file, at: ends[11] + 2)
    for position in [13, 15, 19, 20] {
      let outcome = await Self.outcome(Walk.store(file), from: position, upTo: 1)
      // Where the walk begins at the last frames, it passes the bad one only on the way back.
      let isFound = outcome == (position < 20 ? "1 elements" : "0 elements")
      #expect(
        durability == .process
          ? outcome == "\(ListStoreError.damaged(at: position))"
          : isFound || outcome.contains("damaged"))
    }
  }

  @Test("a read finds a kept element although the list is trimmed on the way to it")
  func trimmedOnTheWay() async throws {
    let (bytes, ends) = try await FaultTests.journal(200, .process)
    let file = try StoredFile.copy(of: bytes)
    let disk = LyingDisk()
    let (reader, trims) = (Walk.store(file, .process, disk), Probe<Int>())
    disk.lies.withLock {
      $0.afterRead = { offset in
        guard offset == ends[5], trims.count == 0 else { return }
        trims.record(0)
        Self.wait { trims.record((try? await Walk.store(file).trim(before: 150)) ?? -1) }
      }
    }
    #expect(try await reader.read(from: 190, upTo: 1).elements.count == 1)
    #expect(trims.values == [0, 150])
  }

  @Test("a repair that has failed is not the store's own any more when its lock ends")
  func failedAndUnlocked() async throws {
    let file = try await Self.damaged()
    let disk = LyingDisk()
    let store = Walk.store(file, .machine, disk)
    #expect(try await store.claim()?.count == 20, "the damage is not among the last bytes")
    try await store.append(ListCommit(["old 20"], state: Walk()), at: 20)
    let found = Probe<String>()
    disk.lies.withLock {
      $0.failingTruncations = 1
      $0.beforeUnlock = {
        disk.lies.withLock { $0.beforeUnlock = nil }
        Self.wait { found.record(await Self.outcome(store, from: 15, upTo: 3)) }
      }
    }
    await #expect(throws: (any Error).self) { try await store.cutDamage() }
    #expect(found.count == 1 && found.values.allSatisfy { $0.contains("was repaired") })
  }

  @Test("a damaged record of a repair does not make a store forget what it has given")
  func lostRecordOfAWhole() async throws {
    let (bytes, ends) = try await FaultTests.journal(20, .machine)
    let file = try StoredFile.copy(of: bytes)
    try RepairTests.damage(file, at: ends[17] + 70)
    _ = try await Walk.store(file).cutDamage()
    let disk = LyingDisk()
    let store = Walk.store(file, .machine, disk)
    #expect(try await store.read(from: 0, upTo: 18).elements.count == 18)
    try RepairTests.damage(file, at: JournalRepair.offset + 9)
    #expect(try await store.cutDamage() == 18)
    await RepairTests.fail(store, on: disk, at: 18)
    try RepairTests.damage(file, at: ends[11] + 70)
    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 12)
    try await RepairTests.append("new", from: 12, through: 20, to: writer)
    await RepairTests.refused { _ = try await store.read(from: 18, upTo: 1) }
  }

  @Test("a repair after one whose record is damaged is noticed by all that knew of that one")
  func lostRecord() async throws {
    let (bytes, ends) = try await FaultTests.journal(20, .machine)
    let file = try StoredFile.copy(of: bytes)
    for place in [ends[17], ends[15]] {
      try RepairTests.damage(file, at: place + 70)
      _ = try await Walk.store(file).cutDamage()
    }
    let (reader, untouched) = (Walk.store(file), Walk.store(file))
    #expect(try await reader.read(from: 0, upTo: 16).elements.count == 16)
    try RepairTests.damage(file, at: JournalRepair.offset + 9)
    #expect(try await reader.read(from: 3, upTo: 1).elements.count == 1, "nothing has changed")
    try RepairTests.damage(file, at: ends[11] + 70)
    let writer = Walk.store(file)
    #expect(try await writer.cutDamage() == 12)
    try await RepairTests.append("new", from: 12, through: 20, to: writer)
    await RepairTests.refused { _ = try await reader.read(from: 16, upTo: 1) }
    #expect(try await untouched.read(from: 16, upTo: 1).elements == ["new 16"])
  }
}
