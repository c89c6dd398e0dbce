import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@testable import TailraceStored

/// Repairs on a disk that is a value: every crash that it may have, and every call that may fail.
@Suite("Repairs on a model of a disk", .tags(.long), .hangLimit, .inTurn)
struct DiskRepairTests {
  /// A list that was written by several lives, and is damaged where it was synced.
  static func damaged(
    _ durability: Durability, using random: inout SeededGenerator
  ) async throws -> ModelDisk {
    let disk = ModelDisk()
    var count = 0
    while count < 4 {
      count = try await DiskModelTests.live(disk, durability, steps: 8, using: &random)
    }
    // Something is promised: a release brings it on the disk.
    let store = DiskModelTests.store(disk, durability)
    _ = try await store.acquireLease()
    try await store.release()
    var image = disk.contents.withLock { $0.image }
    let file = try #require(image.names[DiskModelTests.path])
    let mark = try #require(
      try JournalMark(
        of: ModelFile(disk, file), seed: JournalHeader(of: ModelFile(disk, file), at: "").seed))
    let last = max(mark.syncedLast, mark.writtenLast)
    image.files[file]?[Int.random(in: mark.first..<last + 64, using: &random)] ^= 1
    image.files[file]?.resize(to: last + Int.random(in: 0..<64, using: &random))
    return ModelDisk(image, boot: disk.boot)
  }

  /// What must be true of a repaired list after a crash.
  static func verify(
    _ image: ModelDisk.Image, before: [UInt8], _ outcome: FileRepair, isDone: Bool, _ name: String
  ) async throws {
    let named = Set(image.names.values)
    #expect(named.contains { image.files[$0] == before }, "\(name): the damaged file is gone")
    let disk = ModelDisk(image)
    let store = DiskModelTests.store(disk, .survivesPowerLoss)
    let extent: ListExtent
    do { extent = try await store.extent() } catch ListStoreError.damaged {
      #expect(!isDone, "\(name): it was told to be repaired")
      return
    }
    guard let file = image.names[DiskModelTests.path], image.files[file] != before else {
      // Damage that only a lease notices.
      #expect(!isDone, "\(name): it was told to be repaired")
      return
    }
    #expect(extent.first == outcome.first && extent.count >= outcome.count, "\(name): \(extent)")
    let checkpoint = try #require(try await store.acquireLease())
    #expect(checkpoint.count == extent.count, "\(name): a lease finds other elements")
    let page = try await store.read(from: extent.first, upTo: 1000)
    #expect(extent.first + page.elements.count == extent.count)
    #expect(
      page.elements == Array(Walk.elements(extent.count).dropFirst(extent.first)), "\(name): wrong")
  }

  @Test(
    "a repair that is told to be done is on the disk, and one that is not has changed nothing",
    arguments: Durability.all)
  func repair(_ durability: Durability) async throws {
    var random = SeededGenerator(seed: RandomCases.firstSeed)
    var images = 0
    for life in 0..<Size.usual(4, full: 60) {
      let disk = try await Self.damaged(durability, using: &random)
      let before = try #require(
        disk.contents.withLock { contents in
          contents.image.names[DiskModelTests.path].flatMap { contents.image.files[$0] }
        })
      let outcome = try await FileStore.repair(DiskModelTests.url, disk: disk)
      disk.log(.repaired)
      #expect(outcome.damaged != nil)
      do {
        let store = DiskModelTests.store(disk, .survivesPowerLoss)
        let checkpoint = try #require(try await store.acquireLease())
        var walk = checkpoint.state ?? Walk()
        if !checkpoint.isEnded {
          try await store.append(ListCommit([walk.next()], state: walk), at: checkpoint.count)
        }
      }
      let (log, initial) = disk.contents.withLock { ($0.log, $0.initial) }
      var (loss, isDone) = (PowerLoss(initial), false)
      for (index, event) in log.enumerated() {
        loss.pass(event)
        if case .repaired = event { isDone = true }
        for image in loss.images(atMost: Size.usual(4, full: 40), using: &random) {
          images += 1
          let name = "life \(life), call \(index), image \(images)"
          do {
            try await Self.verify(image, before: before, outcome, isDone: isDone, name)
          } catch {
            Issue.record("\(name): \(error)")
          }
        }
      }
    }
    #expect(images > 100)
    print("\(durability): \(images) images of repairs")
  }

  @Test(
    "the n-th call of a kind fails while a list is repaired: it can be repaired again",
    arguments: ModelDisk.Call.allCases)
  func failingRepair(_ call: ModelDisk.Call) async throws {
    var random = SeededGenerator(seed: 7)
    let damaged = try await Self.damaged(.survivesPowerLoss, using: &random)
    let expected = try await FileStore.repair(DiskModelTests.url, disk: damaged.killed())
    for number in 1..<200 {
      let disk = damaged.killed()
      disk.fail(call, number: number)
      var outcome: FileRepair?
      do { outcome = try await FileStore.repair(DiskModelTests.url, disk: disk) } catch is FileError
      {}
      guard disk.contents.withLock({ $0.hasFailed }) else {
        #expect(outcome != nil)
        return
      }
      let again = try await FileStore.repair(DiskModelTests.url, disk: disk)
      #expect(again.first == expected.first && again.count == expected.count, "\(call) \(number)")
      let store = DiskModelTests.store(disk, .survivesPowerLoss)
      #expect(try await store.acquireLease()?.count == expected.count, "\(call) \(number)")
    }
    Issue.record("a repair makes too many calls")
  }
}
