import FileReading
import Tailrace
import TailraceStored
import TailraceTesting
import Testing

@testable import TailraceFoundation

/// Stores over a disk that is full, that fails, or that writes less than was asked for, and the
/// numbers of their calls.
@Suite("Disks that fail", .tags(.long), .hangLimit, .inTurn)
struct LyingDiskTests {
  @Test("writes that are short are gone on with", arguments: Durability.all)
  func shortWrites(_ durability: Durability) async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    disk.lies.withLock { $0.mostWritten = 7 }
    let list = Walk.list(in: Walk.store(file, durability, disk), upTo: 50)
    #expect(try await list.count() == 50)
    #expect(try await LazyList(reading: Walk.store(file)).array() == Walk.elements(50))
  }

  @Test(
    "a full disk: the failure at its position; the next demand stores the same element",
    arguments: Durability.all, [0, 1, 40, 64, 100, 170, 200, 230, 5000])
  func full(_ durability: Durability, _ room: Int) async throws {
    let (file, disk, steps) = (try StoredFile(), LyingDisk(), Probe<Int>())
    let list = Walk.list(in: Walk.store(file, durability, disk)) { steps.record($0) }
    #expect(try await list.element(at: 4) == Walk.elements(5)[4])
    disk.lies.withLock { $0.room = room }
    let stored = try await Walk.fill(list, from: 5)
    let before = steps.count
    for _ in 0..<2 {
      await #expect(throws: FileError.self) { try await list.element(at: stored) }
    }
    // Nothing of it is there, for anybody.
    #expect(
      try await Walk.store(file).read(from: 0, upTo: 10_000).elements == Walk.elements(stored))
    disk.lies.withLock { $0.room = .max }
    #expect(try await list.element(at: stored) == Walk.elements(stored + 1)[stored])
    #expect(steps.count == before)
    #expect(try await list.prefix(stored + 5).array() == Walk.elements(stored + 5))
    #expect(steps.values == Array(0..<stored + 5))
  }

  @Test("a sync that fails poisons the store; a new store writes again all that was not synced")
  func failingSync() async throws {
    let (file, disk, steps) = (try StoredFile(), LyingDisk(), Probe<Int>())
    disk.lies.withLock { $0.extends = false }
    let list = Walk.list(in: Walk.store(file, .survivesPowerLoss, disk)) { steps.record($0) }
    #expect(try await list.element(at: 4) == Walk.elements(5)[4])
    let size = try file.bytes.count
    disk.lies.withLock { $0.failingSyncs = 1 }
    await #expect(throws: FileError.self) { try await list.element(at: 5) }
    // Tried again it would succeed, and mean nothing.
    for _ in 0..<2 {
      await #expect(throws: ListStoreError.poisoned) { try await list.element(at: 5) }
    }
    #expect(list.evaluatedCount == 5)
    // It is in the file, and nobody is shown it.
    #expect(try file.bytes.count > size)
    #expect(try await Walk.store(file).read(from: 5, upTo: 1).elements == [])
    disk.lies.withLock { $0.log = [] }
    let anew = Walk.list(in: Walk.store(file, .survivesPowerLoss, disk)) { steps.record($0) }
    #expect(try await anew.element(at: 5) == Walk.elements(6)[5])
    let written = disk.lies.withLock { $0.log }
    #expect(
      written.contains {
        $0.offset == size && $0.bytes == (try? Array(file.bytes[size...].prefix($0.bytes.count)))
      })
    #expect(try await anew.element(at: 6) == Walk.elements(7)[6])
    #expect(steps.values == [0, 1, 2, 3, 4, 5, 6])
  }

  @Test(
    "how often it is written and synced",
    arguments: [
      (Durability.survivesProcess, 0, 100), (.survivesPowerLoss, 100, 200),
    ])
  func calls(_ durability: Durability, _ syncs: Int, _ writes: Int) async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let list = Walk.list(in: Walk.store(file, durability, disk))
    _ = try await list.head()
    let before = disk.lies.withLock { ($0.syncs, $0.writes) }
    for try await _ in list.prefix(101) {}
    let after = disk.lies.withLock { ($0.syncs, $0.writes) }
    #expect(after.0 - before.0 == syncs)
    #expect(after.1 - before.1 == writes)
  }

  @Test(
    "no sync keeps a task's thread, not even that of the end",
    arguments: Durability.all, [2, 3, 4])
  func syncsElsewhere(_ durability: Durability, _ count: Int) async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let list = Walk.list(in: Walk.store(file, durability, disk), upTo: count)
    for try await _ in list.prefix(count) {}
    let before = disk.lies.withLock { $0.syncs }
    #expect(try await list.count() == count)
    // The end is on the disk, whatever the durability.
    #expect(disk.lies.withLock { $0.syncs } == before + 1)
    #expect(disk.lies.withLock { $0.syncsInTasks } == 0)
  }

  @Test("each element is written and synced before it is given out", arguments: [1, 5, 17])
  func order(_ count: Int) async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let list = Walk.list(in: Walk.store(file, .survivesPowerLoss, disk))
    for number in 0..<count {
      _ = try await list.element(at: number)
      let lies = disk.lies.withLock { ($0.syncs, $0.log.count) }
      // A file that was just made is on the disk. One an element; each frame before its sync, the cells behind.
      #expect(lies.0 == number + 1)
      let frames = disk.lies.withLock { $0.log.count { $0.offset >= FaultTests.first } }
      #expect(frames == number + 1)
    }
  }
}
