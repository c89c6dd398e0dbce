import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("Lists in files", .tags(.long), .hangLimit, .inTurn)
struct FileStoreTests {
  @Test("a file keeps all rules of a store", arguments: Durability.all)
  func rules(_ durability: Durability) async throws {
    let files = Probe<StoredFile>()
    @Sendable func open(_ file: StoredFile) -> FileStore<Int, Int> {
      FileStore(file.url, element: .raw, state: .raw, durability: durability)
    }
    try await checkStore(
      reopening: { FileStore($0.url, element: .raw, state: .raw) },
      trimming: { try await $0.trim(before: $1) }
    ) {
      open(files.pass(try StoredFile()))
    }
  }

  @Test("no file before a demand, and none for those who only read")
  func demand() async throws {
    let file = try StoredFile()
    let list = Walk.list(in: Walk.store(file))
    _ = (list.description, list.tail, LazyList(reading: Walk.store(file)))
    #expect(!file.exists)
    #expect(try await Walk.store(file).read(from: 0, upTo: 1).elements == [])
    #expect(!file.exists)
    #expect(try await list.head() == Walk.elements(1)[0])
    #expect(file.exists)
    // Nothing else was left in the folder.
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.path) == ["list"])
  }

  @Test(
    "goes on where it stopped", arguments: Durability.all, [1, 2, 7, Size.usual(100, full: 1000)])
  func goingOn(_ durability: Durability, _ count: Int) async throws {
    let file = try StoredFile()
    for round in 1...3 {
      let steps = Probe<Int>()
      let list = Walk.list(in: Walk.store(file, durability)) { steps.record($0) }
      if round == 2 {
        for try await _ in list.prefix(count * round) {}
      } else {
        #expect(try await list.prefix(count * round).count() == count * round)
      }
      #expect(steps.values == Array(count * (round - 1)..<count * round))
    }
    let ended = Walk.list(in: Walk.store(file, durability), upTo: count * 3)
    #expect(try await ended.array() == Walk.elements(count * 3))
    let again = Walk.list(in: Walk.store(file, durability)) { _ in Issue.record("it has ended") }
    #expect(try await again.array() == Walk.elements(count * 3))
  }

  @Test("empty elements, large ones, and a large state", arguments: Durability.all)
  func sizes(_ durability: Durability) async throws {
    let file = try StoredFile()
    let sizes = [0, 1, 0, 70_000, 3, 1 << 20, 0]
    func list() -> LazyList<[UInt8], any Error> {
      let store = FileStore<[UInt8], [UInt8]>(
        file.url, element: .bytes, state: .bytes, durability: durability)
      return LazyList(storedIn: store, state: []) { state in
        guard state.count < sizes.count else { return nil }
        state.append(UInt8(state.count))
        return [UInt8](repeating: UInt8(state.count), count: sizes[state.count - 1])
      }
    }
    let expected = sizes.enumerated().map { [UInt8](repeating: UInt8($0 + 1), count: $1) }
    #expect(try await list().prefix(4).array() == Array(expected.prefix(4)))
    #expect(try await list().array() == expected)
    #expect(try await list().array() == expected)
    let big = try StoredFile()
    func heavy() -> LazyList<Int, any Error> {
      let store = FileStore<Int, [UInt8]>(
        big.url, element: .raw, state: .bytes, durability: durability)
      return LazyList(storedIn: store, state: [UInt8](repeating: 7, count: 300_000)) { state in
        state.append(1)
        return state.count
      }
    }
    #expect(try await heavy().element(at: 4) == 300_005)
    #expect(try await heavy().prefix(7).array() == Array(300_001...300_007))
  }

  @Test("a commit has at most 1 MiB, unless one element has more", arguments: Durability.all)
  func commitSizes(_ durability: Durability) async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let sizes = [100_000, 7, 3 << 20, 0] + [Int](repeating: 300_000, count: 20)
    let store = FileStore<[UInt8], Int>(
      file.url, element: .bytes, state: .raw, durability: durability, disk: disk)
    let list = LazyList(storedIn: store, state: 0) { number in
      guard number < sizes.count else { return nil }
      number += 1
      return [UInt8](repeating: UInt8(number), count: sizes[number - 1])
    }
    #expect(try await list.array().map(\.count) == sizes)
    let written = disk.lies.withLock { $0.log.filter { $0.offset >= JournalHeader.size } }
    let commits = written.map(\.bytes.count).filter { $0 > 100 }
    #expect(commits.filter { $0 > 1 << 20 }.count == 1)
    // As many as fit: three at a time.
    #expect(commits.filter { $0 > 900_000 && $0 < 1 << 20 }.count >= 5)
    #expect(try await LazyList(reading: store).array().map(\.count) == sizes)
  }

  // MARK: Two writers

  @Test("one writes, others read, and the lock goes with the writer")
  func twoWriters() async throws {
    let file = try StoredFile()
    var first = Optional(Walk.list(in: Walk.store(file)))
    #expect(try await first?.element(at: 9) == Walk.elements(10)[9])
    let second = Walk.list(in: Walk.store(file))
    #expect(try await second.element(at: 9) == Walk.elements(10)[9])
    await #expect(throws: ListStoreError.inUse) { try await second.element(at: 10) }
    let follower = Task {
      try await Walk.list(in: Walk.store(file), atTail: .computeOrFollow).prefix(30).array()
    }
    #expect(try await first?.element(at: 19) == Walk.elements(20)[19])
    first = nil
    #expect(try await follower.value == Walk.elements(30))
    #expect(try await second.prefix(31).array() == Walk.elements(31))
  }

  @Test("followers hear of each commit", arguments: Durability.all)
  func following(_ durability: Durability) async throws {
    let file = try StoredFile()
    let count = 40
    let heard = (0..<3).map { _ in Probe<String>() }
    let followers = heard.map { heard in
      Task {
        for try await element in LazyList(reading: Walk.store(file)) { heard.record(element) }
      }
    }
    let list = Walk.list(in: Walk.store(file, durability), upTo: count)
    var number = 0
    for try await element in list {
      number += 1
      // Each has it before the next one is computed; and has been told, or it would come a second
      // later.
      for heard in heard {
        await heard.waitForCount(number)
        #expect(heard.values.last == element)
      }
    }
    for follower in followers { try await follower.value }
    #expect(heard.allSatisfy { $0.values == Walk.elements(count) })
  }

  @Test("a network file system is refused, with words")
  func remote() async throws {
    let file = try StoredFile()
    let disk = LyingDisk()
    disk.lies.withLock { $0.remote = "nfs4" }
    let store = Walk.store(file, .survivesPowerLoss, disk)
    do {
      _ = try await store.acquireLease()
      Issue.record("it was not refused")
    } catch let failure as ListStoreError {
      #expect(failure.description.contains("nfs4"))
    }
    #expect(!file.exists)
    #if canImport(Glibc)
      let mounts = """
        22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
        45 22 0:42 / /mnt/far\\040away rw shared:7 - nfs4 server:/far rw,vers=4.2
        """
      #expect(MountedFileSystem.kind(of: "254:0", in: mounts) == "ext4")
      #expect(MountedFileSystem.kind(of: "0:42", in: mounts) == "nfs4")
      #expect(MountedFileSystem.kind(of: "0:43", in: mounts) == nil)
    #endif
  }

  // MARK: Places

  @Test("any position is found, from a store that has just been opened", arguments: Durability.all)
  func index(_ durability: Durability) async throws {
    let file = try StoredFile()
    let count = 3000
    // Half of them one by one, half of them together.
    _ = try await Walk.list(in: Walk.store(file, durability)).element(at: count / 2)
    _ = try await Walk.list(in: Walk.store(file, durability), upTo: count).count()
    let expected = Walk.elements(count)
    for position in stride(from: 0, to: count, by: 97) {
      let store = Walk.store(file)
      #expect(
        try await store.read(from: position, upTo: 3).elements
          == Array(expected.dropFirst(position).prefix(3)))
      // The same one knows more places with each read.
      #expect(
        try await store.read(from: count - 1 - position, upTo: 1).elements
          == [expected[count - 1 - position]])
    }
    #expect(try await Walk.store(file).read(from: count, upTo: 1).elements == [])
    #expect(try await Walk.store(file).read(from: count + 9, upTo: 1).elements == [])
    #expect(
      try await Walk.store(file).read(from: count - 9, upTo: .max)
        == ListPage(Array(expected.suffix(9)), isEnd: true))
  }

  @Test("a read of everything gives some elements, as any read", arguments: [1, 20, 2000])
  func readOfEverything(_ count: Int) async throws {
    let file = try StoredFile()
    _ = try await Walk.list(in: Walk.store(file), upTo: count).count()
    let page = try await Walk.store(file).read(from: 0, upTo: .max)
    #expect(!page.elements.isEmpty)
    #expect(Walk.elements(count).starts(with: page.elements))
    #expect(page.isEnd == (page.elements.count == count))
  }

  @Test("finding a position takes a logarithmic number of reads")
  func reads() async throws {
    let file = try StoredFile()
    let count = 20_000
    do {
      let store = FileStore<Int, Int>(
        file.url, element: .raw, state: .raw, durability: .survivesProcess)
      for try await _ in LazyList(
        storedIn: store, state: 0,
        next: { number in
          defer { number += 1 }
          return number
        }
      ).prefix(count) {}
    }
    let disk = LyingDisk()
    let store = FileStore<Int, Int>(
      file.url, element: .raw, state: .raw, durability: .survivesProcess, disk: disk)
    for position in [0, 1, 9_999, 12_345] {
      let before = disk.lies.withLock { $0.reads }
      #expect(try await store.read(from: position, upTo: 1).elements == [position])
      let reads = disk.lies.withLock { $0.reads } - before
      #expect(reads < 80, "\(reads) reads to find \(position)")
    }
    // And so does opening it for writing: the end, and the chain of jumps.
    let before = disk.lies.withLock { $0.bytesRead }
    #expect(try await store.acquireLease()?.count == count)
    #expect(disk.lies.withLock { $0.bytesRead } - before < 1 << 20)
  }
}
