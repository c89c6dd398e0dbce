import Foundation
import Tailrace
import TailraceFoundation
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

/// A list has one history: who has seen elements that are lost is told that the list is another one.
@Suite("The history of a stored list", .tags(.long), .hangLimit, .inTurn)
struct HistoryTests {
  static let nextBoot = JournalID(7, 7)

  /// A disk after a restart of the machine.
  static func restarted() -> LyingDisk {
    let disk = LyingDisk()
    disk.lies.withLock { $0.boot = nextBoot }
    return disk
  }

  static func others(_ file: StoredFile, _ kind: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: file.folder, includingPropertiesForKeys: nil)
      .filter { $0.lastPathComponent.contains(".\(kind)-") }
  }

  // MARK: Restarts of the machine

  @Test("a list that was released, or has ended, is the same one after a restart of the machine")
  func cleanRestart() async throws {
    for isEnd in [false, true] {
      let (file, disk) = (try StoredFile(), Self.restarted())
      let store = Walk.store(file)
      let list = Walk.list(in: store, upTo: isEnd ? 2000 : .max)
      for try await _ in list.prefix(isEnd ? 2001 : 2000) {}
      let before = try await store.extent()
      try await store.release()
      let anew = Walk.store(file, .survivesProcess, disk)
      #expect(try await anew.extent() == before)
      #expect(
        try await anew.read(from: 1990, upTo: 9).elements == Array(Walk.elements(1999)[1990...]))
      #expect(disk.lies.withLock { $0.bytesRead } < 100_000, "it walks over the list")
      #expect(try await anew.acquireLease()?.count == 2000)
      #expect(try await anew.extent() == before)
      #expect(try Self.others(file, "lost").isEmpty)
    }
  }

  @Test("a list that was not released is another one after a restart of the machine")
  func dirtyRestart() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(20) {}
    let before = try await Walk.store(file).extent()
    let store = Walk.store(file, .survivesProcess, Self.restarted())
    // Until somebody goes on it is what is left of the list that it was.
    #expect(try await store.extent() == before)
    #expect(try await store.acquireLease()?.count == 20)
    let after = try await store.extent()
    #expect(after.identity != before.identity && after.count == 20)
    #expect(try Self.others(file, "lost").isEmpty, "nothing was cut off")
    // The writer that survives a loss of power has nothing to tell of the next one.
    try await store.release()
    #expect(try await Walk.store(file).extent() == after)
  }

  @Test("what is cut off after a loss of power is kept, and whoever has seen it is told")
  func lost() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    let before = try await Walk.store(file).extent()
    var bytes = try file.bytes
    let place = try #require(Data(bytes).range(of: Data(Walk.elements(5)[4].utf8))).lowerBound
    bytes[place] ^= 1
    try Data(bytes).write(to: file.url)
    let store = Walk.store(file, .survivesProcess, Self.restarted())
    #expect(try await store.extent().count == 4)
    #expect(try await store.read(from: 0, upTo: 99).elements.count == 4)
    #expect(try await store.acquireLease()?.count == 4)
    #expect(try await store.extent().identity != before.identity)
    let kept = try #require(try Self.others(file, "lost").first)
    #expect(Array(try Data(contentsOf: kept)) == Array(bytes[(try file.bytes.count)...]))
  }

  @Test(
    "damage that is followed by elements is another history, too; a commit written in part is not")
  func damagedTail() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    let (before, whole) = (try await Walk.store(file).extent(), try file.bytes)
    let torn = try StoredFile.copy(of: whole.dropLast(3))
    #expect(try await Walk.store(torn).acquireLease()?.count == 8)
    #expect(try await Walk.store(torn).extent().identity == before.identity)
    #expect(try Self.others(torn, "lost").isEmpty)
    var bytes = whole
    let place = try #require(Data(bytes).range(of: Data(Walk.elements(5)[4].utf8))).lowerBound
    bytes[place] ^= 1
    let flipped = try StoredFile.copy(of: bytes)
    #expect(try await Walk.store(flipped).acquireLease()?.count == 4)
    #expect(try await Walk.store(flipped).extent().identity != before.identity)
    #expect(try Self.others(flipped, "lost").count == 1)
    // So is damage of the last one, which was whole; and of its header.
    let last = try #require(Data(whole).range(of: Data(Walk.elements(9)[8].utf8))).lowerBound
    for place in [last, last - 20] {
      bytes = whole
      bytes[place] ^= 1
      let damaged = try StoredFile.copy(of: bytes)
      #expect(try await Walk.store(damaged).acquireLease()?.count == 8)
      #expect(try await Walk.store(damaged).extent().identity != before.identity)
      #expect(try Self.others(damaged, "lost").count == 1)
    }
  }

  @Test("the history is another one before anything is cut off, whoever is killed in between")
  func historyFirst() async throws {
    let disk = ModelDisk()
    let store = DiskModelTests.store(disk, .survivesProcess)
    _ = try await store.acquireLease()
    var walk = Walk()
    for position in 0..<3 {
      try await store.append(ListCommit([walk.next()], state: walk), at: position)
    }
    let before = try await store.extent()
    // The last frame is damaged, whose end is not in a mark yet.
    var image = disk.contents.withLock { $0.image }
    let file = try #require(image.names[DiskModelTests.path])
    let size = try #require(image.files[file]?.count)
    image.files[file]?[size - 1] ^= 1
    var calls = 0
    for number in 1... {
      let damaged = ModelDisk(image, boot: disk.boot)
      damaged.fail(.write, number: number, times: 100)
      let isKilled =
        (try? await DiskModelTests.store(damaged, .survivesProcess).acquireLease()) == nil
      let after = damaged.killed()
      let names = after.contents.withLock { Array($0.image.names.keys) }
      let isCut = after.contents.withLock { $0.image.files[file]?.count ?? 0 } < size
      let extent = try await DiskModelTests.store(after, .survivesProcess).extent()
      #expect(extent.count == 2)
      #expect(!isCut || extent.identity != before.identity, "write \(number)")
      if !isKilled {
        #expect(isCut && extent.identity != before.identity)
        #expect(names.count == 2, "what was cut off is kept")
        break
      }
      calls = number
    }
    #expect(calls > 1)
  }

  @Test("what a loss of power may take is not shown before the disk has a mark that says so")
  func showsLater() async throws {
    let disk = ModelDisk()
    var walk = Walk()
    do {
      let store = DiskModelTests.store(disk, .survivesPowerLoss)
      _ = try await store.acquireLease()
      try await store.append(ListCommit([walk.next()], state: walk), at: 0)
      // Written, and not on the disk.
      disk.fail(.sync, number: 1)
      let commit = ListCommit([walk.next()], state: walk)
      await #expect(throws: (any Error).self) { try await store.append(commit, at: 1) }
    }
    let next = disk.killed()
    next.fail(.sync, number: 1)
    let store = DiskModelTests.store(next, .survivesProcess)
    await #expect(throws: (any Error).self) { try await store.acquireLease() }
    #expect(try await DiskModelTests.store(next, .survivesProcess).extent().count == 1)
    #expect(try await DiskModelTests.store(next, .survivesProcess).acquireLease()?.count == 2)
    #expect(try await DiskModelTests.store(next, .survivesProcess).extent().count == 2)
  }

  @Test("a writer that syncs less than the one before: what a loss takes is another history")
  func syncsLess() async throws {
    let disk = ModelDisk()
    var walk = Walk()
    let synced = DiskModelTests.store(disk, .survivesPowerLoss)
    _ = try await synced.acquireLease()
    try await synced.append(ListCommit([walk.next()], state: walk), at: 0)
    try await synced.release()
    let store = DiskModelTests.store(disk, .survivesProcess)
    _ = try await store.acquireLease()
    try await store.append(ListCommit([walk.next()], state: walk), at: 1)
    let before = try await DiskModelTests.store(disk, .survivesProcess).extent()
    #expect(before.count == 2)
    let (log, initial) = disk.contents.withLock { ($0.log, $0.initial) }
    var loss = PowerLoss(initial)
    for event in log { loss.pass(event) }
    var (random, losses) = (SeededGenerator(seed: 5), 0)
    for image in loss.images(atMost: 200, using: &random) {
      let after = DiskModelTests.store(ModelDisk(image), .survivesProcess)
      guard try #require(await after.acquireLease()).count < 2 else { continue }
      losses += 1
      #expect(try await after.extent().identity != before.identity)
    }
    #expect(losses > 0)
  }

  @Test(
    "after a sync that failed, what the system may have dropped is written again",
    arguments: [JournalID.none, JournalID(1, 5)], Durability.all)
  func failedSync(_ boot: JournalID, _ durability: Durability) async throws {
    let disk = ModelDisk(boot: boot)
    var (store, walk) = (DiskModelTests.store(disk, durability), Walk())
    _ = try await store.acquireLease()
    try await store.append(ListCommit([walk.next()], state: walk), at: 0)
    disk.fail(.sync, number: 1)
    var next = walk
    if durability == .survivesPowerLoss {
      await #expect(throws: (any Error).self) {
        try await store.append(ListCommit([next.next()], state: next), at: 1)
      }
    } else {
      await #expect(throws: (any Error).self) { try await store.release() }
    }
    store = DiskModelTests.store(disk, durability)
    let checkpoint = try #require(try await store.acquireLease())
    walk = checkpoint.state ?? Walk()
    try await store.append(ListCommit([walk.next()], state: walk), at: checkpoint.count)
    try await store.release()
    let (log, initial) = disk.contents.withLock { ($0.log, $0.initial) }
    var loss = PowerLoss(initial)
    for event in log { loss.pass(event) }
    var random = SeededGenerator(seed: 3)
    for image in loss.images(atMost: 60, using: &random) {
      try await DiskModelTests.verify(
        ModelDisk(image), durability, atLeast: checkpoint.count + 1, "\(boot), \(durability)")
    }
  }

  // MARK: One walk

  @Test("no call walks over the same frames twice")
  func walksOnce() async throws {
    let (file, disk) = (try StoredFile(), Self.restarted())
    for try await _ in Walk.list(in: Walk.store(file)).prefix(3000) {}
    let size = try file.bytes.count
    let store = Walk.store(file, .survivesProcess, disk)
    func bytesRead(_ call: () async throws -> Void) async throws -> Int {
      let before = disk.lies.withLock { $0.bytesRead }
      try await call()
      return disk.lies.withLock { $0.bytesRead } - before
    }
    let few = size / 4
    let first = try await bytesRead { _ = try await store.extent() }
    let second = try await bytesRead { _ = try await store.extent() }
    #expect(first > size / 2 && second < few)
    #expect(try await store.extent().count == 3000)
    for position in [2990, 1500] {
      let bytes = try await bytesRead { _ = try await store.read(from: position, upTo: 3) }
      #expect(bytes < few)
      let elements = try await store.read(from: position, upTo: 3).elements
      #expect(elements == Array(Walk.elements(position + 3)[position...]))
    }
    let leasing = try await bytesRead { _ = try await store.acquireLease() }
    #expect(leasing < few)
    #expect(try await store.acquireLease()?.count == 3000)
  }

  @Test(
    "the first element never goes back, and nothing is said to be trimmed, beside a trimming writer"
  )
  func extentBesideTrim() async throws {
    let file = try StoredFile()
    let writer = Walk.store(file)
    for try await _ in Walk.list(in: writer).prefix(40) {}
    let first = Locked(0)
    // The writer trims at any of the reads of one call.
    for read in 1...6 {
      let (disk, position) = (LyingDisk(), 4 * read)
      let before = try file.bytes
      let trimmed = try StoredFile.copy(of: before)
      #expect(try await Walk.store(trimmed).trim(before: position) == position)
      let after = try trimmed.bytes
      disk.lies.withLock { lies in
        lies.beforeRead = { number in
          if number == read { try? Data(after).write(to: file.url, options: []) }
        }
      }
      let extent = try await Walk.store(file, .survivesProcess, disk).extent()
      #expect(extent.count == 40 && extent.first >= first.withLock { $0 })
      first.withLock { $0 = extent.first }
      try Data(after).write(to: file.url, options: [])
    }
    #expect(first.withLock { $0 } > 0)
  }

  // MARK: Unreadable sectors

  @Test("a sector that cannot be read: reading, going on and repairing, wherever it is")
  func unreadable() async throws {
    let source = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(source), upTo: 2000) {}
    let bytes = try source.bytes
    let block = JournalHeader.block
    var kept: [Int] = []
    for start in stride(from: 0, to: bytes.count, by: Size.usual(block * 3, full: block)) {
      let file = try StoredFile.copy(of: bytes)
      let disk = LyingDisk(unreadable: start..<start + block)
      let isFrame = start >= JournalHeader.size
      let reader = Walk.store(file, .survivesProcess, disk)
      var found: [String] = []
      do {
        while found.count < 2000 {
          let page = try await reader.read(from: found.count, upTo: 100)
          if page.elements.isEmpty { break }
          found += page.elements
        }
        #expect(found.count == 2000)
      } catch is FileError {
        #expect(isFrame, "block \(start)")
      }
      #expect(found == Walk.elements(found.count), "block \(start)")
      if !isFrame {
        #expect(found.count == 2000, "block \(start)")
        let extent = try await reader.extent()
        #expect(extent.count == 2000 && extent.isEnded, "block \(start)")
        #expect(try await reader.acquireLease()?.isEnded == true, "block \(start)")
        try await reader.release()
      }
      let outcome = try await FileStore.repair(file.url, disk: disk)
      #expect(outcome.damaged != nil, "block \(start)")
      disk.lies.withLock { $0.unreadable = nil }
      let repaired = Walk.store(file)
      let elements = try await repaired.read(from: outcome.first, upTo: 5000).elements
      #expect(elements == Array(Walk.elements(outcome.count)[outcome.first...]), "block \(start)")
      #expect(
        outcome.count - outcome.first >= found.count - 1 || outcome.first > 0, "block \(start)")
      #expect(outcome.count > outcome.first || start + block >= bytes.count, "block \(start)")
      kept.append(elements.count)
    }
    #expect(kept.count > 10 && kept.prefix(1) == [2000])
  }

  @Test(
    "a sector that cannot be read in the list of a writer that was killed: after a repair it goes on",
    arguments: Durability.all)
  func unreadableAfterAKill(_ durability: Durability) async throws {
    let source = try StoredFile()
    let writer = Walk.store(source, durability)
    for try await _ in Walk.list(in: writer).prefix(300) {}
    let bytes = try source.bytes
    try await writer.release()
    let block = JournalHeader.block
    for start in stride(from: JournalHeader.size, to: bytes.count, by: block) {
      let file = try StoredFile.copy(of: bytes)
      let disk = LyingDisk(unreadable: start..<start + block)
      let outcome = try await FileStore.repair(file.url, disk: disk)
      if outcome.damaged != nil { disk.lies.withLock { $0.unreadable = nil } }
      let store = Walk.store(file, durability, disk)
      let checkpoint = try await store.acquireLease()
      #expect(checkpoint?.count == outcome.count, "block \(start)")
      let elements = try await store.read(from: outcome.first, upTo: 999).elements
      #expect(elements == Array(Walk.elements(outcome.count)[outcome.first...]), "block \(start)")
      #expect(outcome.count > outcome.first, "block \(start)")
    }
  }

  @Test("elements behind a sector that cannot be read are found, from the end backwards")
  func behindUnreadable() async throws {
    let source = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(source), upTo: 400) {}
    let bytes = try source.bytes
    let expected = Walk.elements(400)
    let block = JournalHeader.block
    let step = Size.usual(3, full: 1)
    for start in stride(from: JournalHeader.size, to: bytes.count - block, by: block * step) {
      let file = try StoredFile.copy(of: bytes)
      let disk = LyingDisk(unreadable: start..<start + block)
      let reader = Walk.store(file, .survivesProcess, disk)
      // As many as there are in the block.
      var unread: [Int] = []
      for position in stride(from: 0, to: 400, by: step) {
        do {
          let page = try await reader.read(from: position, upTo: 1)
          #expect(page.elements == [expected[position]], "block \(start), \(position)")
        } catch is FileError {
          unread.append(position)
        }
      }
      #expect((1..<50).contains(unread.count * step), "block \(start): \(unread)")
      #expect(unread.last.map { $0 - unread[0] } == (unread.count - 1) * step, "block \(start)")
    }
  }

  @Test("a repaired file has the rights of the damaged one")
  func rights() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file, .survivesPowerLoss)).prefix(30) {}
    try Data(try file.bytes.prefix(JournalHeader.size + 500)).write(to: file.url)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.url.path)
    #expect(try await FileStore.repair(file.url).damaged != nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  // MARK: Hostile files

  /// A file whose checksums are right, and whose numbers are not.
  static func hostile(
    _ change: (inout JournalFrame) -> Void
  ) async throws -> (StoredFile, offset: Int) {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    var bytes = try file.bytes
    let disk = SystemDisk()
    let opened = try disk.open(file.url.fileSystemPath, writes: false)
    let reader = JournalReader(
      opened, try JournalHeader(of: opened, at: ""), boot: disk.boot, path: file.url.path)
    var frames = reader.frames(from: JournalHeader.size, upTo: bytes.count)
    while try frames.next() != nil {}
    let last = try #require(frames.last)
    var frame = last.frame
    let offset = last.offset
    change(&frame)
    bytes.withUnsafeMutableBytes {
      frame.put(
        into: UnsafeMutableRawBufferPointer(rebasing: $0[offset...]), at: offset, seed: reader.seed)
    }
    try Data(bytes).write(to: file.url)
    return (file, offset)
  }

  @Test("a frame that jumps to itself, or forward, is none")
  func jumps() async throws {
    for distance in [0, 64] {
      var place = 0
      let (file, offset) = try await Self.hostile { $0.jump = JournalFrame.farthest }
      place = offset
      let (other, _) = try await Self.hostile { $0.jump = place + distance }
      for file in [file, other] {
        let store = Walk.store(file)
        #expect(try await store.read(from: 0, upTo: 99).elements == Walk.elements(8))
        #expect(try await store.acquireLease()?.count == 8)
      }
    }
  }

  @Test("a frame that is longer than a writer makes them is refused, with words")
  func tooLong() async throws {
    let (file, _) = try await Self.hostile { $0.elementsLength = Int(UInt32.max) }
    for call in 0..<3 {
      await #expect {
        switch call {
        case 0: _ = try await Walk.store(file).read(from: 8, upTo: 1)
        case 1: _ = try await Walk.store(file).extent()
        default: _ = try await Walk.store(file).acquireLease()
        }
      } throws: {
        "\($0)".contains("made by something else")
      }
    }
  }

  @Test("a mark whose number has no next one is none")
  func markNumber() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    let disk = SystemDisk()
    let opened = try disk.open(file.url.fileSystemPath, writes: true)
    let seed = try JournalHeader(of: opened, at: "").seed
    for number in [Int.max - 1, JournalFrame.farthest + 1] {
      var mark = try #require(try JournalMark(of: opened, seed: seed))
      mark.number = number
      try mark.put(to: opened, seed: seed)
      #expect(try await Walk.store(file).acquireLease() != nil)
    }
  }

  // MARK: Leases

  @Test(
    "a lease that was given up, or whose store is gone, is free, whoever else has the file",
    arguments: [true, false])
  func releasedBesideChild(_ isGivenUp: Bool) async throws {
    let file = try StoredFile()
    var store: Walk.Store? = Walk.store(file)
    _ = try await store?.acquireLease()
    // A child of a bare fork has the same open file.
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self")
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(path)/fd")
    let copies = open.compactMap(Int32.init).filter { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))
        == file.url.resolvingSymlinksInPath().path
    }.map { dup($0) }
    defer { for copy in copies { close(copy) } }
    #expect(!copies.isEmpty)
    if isGivenUp { try await store?.release() } else { store = nil }
    #expect(try await Walk.store(file).acquireLease() != nil)
    withExtendedLifetime(store) {}
  }

  @Test("a follower of a file that is replaced is told, however busily the new one is written")
  func busilyReplaced() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    let (store, gate) = (Walk.store(file), Gate())
    let follower = Task {
      for try await element in LazyList(reading: store) where element == Walk.elements(9)[8] {
        gate.open()
      }
    }
    await gate.wait()
    // In one step: a follower that looks between two of them is told that there is none.
    let other = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(other)).prefix(1) {}
    try #require(rename(other.url.path, file.url.path) == 0)
    let writing = Task {
      for try await _ in Walk.list(in: Walk.store(file)) {
        if Task.isCancelled { return }
        await Task.yield()
      }
    }
    await #expect { try await follower.value } throws: { failure in
      guard case .refused(let words) = failure as? ListStoreError else { return false }
      return words.contains("another file")
    }
    writing.cancel()
    _ = await writing.result
  }

  @Test("a link to a file that is not there is told in words")
  func danglingLink() async throws {
    let file = try StoredFile()
    try FileManager.default.createSymbolicLink(
      at: file.url, withDestinationURL: file.folder.appending(path: "nowhere"))
    await #expect { try await Walk.store(file).acquireLease() } throws: {
      "\($0)".contains("is a link to a file that is not there")
    }
  }

  @Test("a list that rebuilds its state is not continued by one that stores it with each element")
  func otherKind() async throws {
    for snapshots in [SnapshotPolicy.every(3), .every(100)] {
      let store = MemoryStore<Int, Int>()
      let rebuilt = LazyList(storedIn: store, state: 0, snapshots: snapshots) {
        (state: inout Int, element: Int) in
        state = element + 1
      } next: {
        $0
      }
      #expect(try await rebuilt.prefix(5).array() == [0, 1, 2, 3, 4])
      store.release()
      let other = LazyList(storedIn: store, state: 0) { (state: inout Int) -> Int? in
        defer { state += 1 }
        return state
      }
      await #expect { try await other.prefix(8).array() } throws: {
        "\($0)".contains("rebuilds its state")
      }
      #expect(try await rebuilt.prefix(8).array() == Array(0..<8))
    }
  }
}
