import FileReading
import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

/// Faults that a disk, a system or a stranger can cause in a file, each with its outcome.
///
/// `FULL` asks for every bit of every byte, and for a cut at every byte.
@Suite("Faults of files", .tags(.long), .hangLimit, .inTurn)
struct FaultTests {
  static let length = Size.usual(5, full: 12)
  /// Every how many bytes one is damaged, and a file is cut.
  static let step = Size.usual(5, full: 1)

  /// The bytes at which a file is damaged or cut: other ones in each run, and those beside the given ones.
  static func places(_ range: Range<Int>, beside ends: [Int] = []) -> [Int] {
    let start = range.lowerBound + Int(RandomCases.firstSeed % UInt64(step))
    let near = ends.flatMap { $0 - 1...$0 + 1 }.filter { range.contains($0) }
    return Set(Array(stride(from: start, to: range.upperBound, by: step)) + near).sorted()
  }

  /// The result of opening a file as a writer, going on for two elements, and reading all of them.
  enum Outcome: Equatable {
    case elements(Int)
    case damaged
    case other(String)
  }

  static func reopen(_ bytes: some Sequence<UInt8>, _ durability: Durability) async -> Outcome {
    do {
      let file = try StoredFile.copy(of: bytes)
      let count: Int
      do {
        guard let checkpoint = try await Walk.store(file, durability).acquireLease() else {
          return .other("in use")
        }
        count = checkpoint.count
        guard count == 0 || checkpoint.state?.number == count else {
          return .other("state \(String(describing: checkpoint.state)) of \(count)")
        }
      }
      let list = Walk.list(in: Walk.store(file, durability))
      let elements = try await list.prefix(count + 2).array()
      guard elements == Walk.elements(count + 2) else { return .other("wrong elements") }
      // A list that only reads sees the same.
      let read = try await LazyList(reading: Walk.store(file)).prefix(count + 2).array()
      return read == elements ? .elements(count) : .other("other elements")
    } catch ListStoreError.damaged {
      return .damaged
    } catch {
      return .other("\(error)")
    }
  }

  /// A file of some elements, without room behind them, and its size after each.
  static func journal(
    _ count: Int, _ durability: Durability, together: Bool = false
  ) async throws -> (bytes: [UInt8], ends: [Int]) {
    let (file, disk) = (try StoredFile(), LyingDisk())
    disk.lies.withLock { $0.extends = false }
    let list = Walk.list(in: Walk.store(file, durability, disk), upTo: together ? count : .max)
    var ends: [Int] = []
    if together {
      _ = try await list.count()
    } else {
      for try await _ in list.prefix(count) { ends.append(try file.bytes.count) }
    }
    return (try file.bytes, ends)
  }

  static let first = JournalHeader.size

  // MARK: Cuts

  @Test("an end that is written only in part is no end", arguments: [1, 3])
  func tornEnd(_ count: Int) async throws {
    let (file, room) = (try StoredFile(), [UInt8](repeating: 0, count: 200))
    for try await _ in Walk.list(in: Walk.store(file)).prefix(count) {}
    let start = try file.bytes.count
    #expect(try await Walk.list(in: Walk.store(file), upTo: count).count() == count)
    let bytes = try file.bytes
    for cut in start...bytes.count {
      let torn = try StoredFile.copy(of: bytes[..<cut] + room)
      let isWhole = bytes[cut...].allSatisfy { $0 == 0 }
      for most in [count, count + 1] {
        let page = try await Walk.store(torn).read(from: 0, upTo: most)
        #expect(page.isEnd == isWhole && page.elements == Walk.elements(count), "cut at \(cut)")
      }
    }
  }

  @Test("a read at the end looks at a few places, however many commits there are")
  func readsAtTheEnd() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let writer = Walk.list(in: Walk.store(file))
    for try await _ in writer.prefix(2000) {}
    let store = Walk.store(file, .survivesProcess, disk)
    #expect(try await store.read(from: 1999, upTo: 9).elements.count == 1)
    let before = disk.lies.withLock { $0.reads }
    for _ in 0..<10 { #expect(try await store.read(from: 2000, upTo: 9).elements.isEmpty) }
    #expect(disk.lies.withLock { $0.reads } - before <= 100)
    #expect(try await writer.element(at: 2000) == Walk.elements(2001)[2000])
    #expect(try await store.read(from: 2000, upTo: 9).elements.count == 1)
  }

  @Test("the marks are read once for a page or an extent in which nothing is missing")
  func marksOnce() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    for try await _ in Walk.list(in: Walk.store(file)).prefix(300) {}
    let store = Walk.store(file, .survivesProcess, disk)
    func reads(_ call: () async throws -> Void) async throws -> Int {
      let before = disk.lies.withLock { $0.reads }
      try await call()
      return disk.lies.withLock { $0.reads } - before
    }
    #expect(try await store.read(from: 290, upTo: 5).elements.count == 5)
    // Two marks, the last frame known, and those of the page; behind a full page, one header more.
    let page = try await reads { _ = try await store.read(from: 295, upTo: 4) }
    let end = try await reads { _ = try await store.read(from: 299, upTo: 4) }
    #expect(page == 5 && end == 4)
    // And the header.
    let extent = try await reads { _ = try await store.extent() }
    #expect(extent == 5)
  }

  @Test("room behind the end is made seldom, is no element, and goes with the end")
  func room() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    var size = 0
    do {
      let list = Walk.list(in: Walk.store(file, .survivesPowerLoss, disk))
      for try await _ in list.prefix(200) {}
      #expect(disk.lies.withLock { $0.extensions } == 1)
      size = try file.bytes.count
      #expect(try file.bytes.suffix(10_000).allSatisfy { $0 == 0 })
      #expect(try await Walk.store(file).read(from: 195, upTo: 100).elements.count == 5)
    }
    // A bit in it is an unfinished commit, and is cut off.
    var bytes = try file.bytes
    bytes[size - 500] ^= 1
    let flipped = try StoredFile.copy(of: bytes)
    #expect(
      try await Walk.list(in: Walk.store(flipped)).prefix(210).array() == Walk.elements(210))
    #expect(try flipped.bytes.count < size)
    let ended = Walk.list(in: Walk.store(file, .survivesPowerLoss, disk), upTo: 300)
    #expect(try await ended.array() == Walk.elements(300))
    #expect(try file.bytes.suffix(16).contains { $0 != 0 }, "the file ends with the last state")
  }

  @Test("where no room can be made, and where none is needed, there is none")
  func noRoom() async throws {
    for (durability, extends) in [(Durability.survivesPowerLoss, false), (.survivesProcess, true)] {
      let (file, disk) = (try StoredFile(), LyingDisk())
      disk.lies.withLock { $0.extends = extends }
      for try await _ in Walk.list(in: Walk.store(file, durability, disk)).prefix(50) {}
      #expect(disk.lies.withLock { $0.extensions } == (extends ? 0 : 1))
      #expect(try file.bytes.count < 26_000)
      #expect(await Self.reopen(try file.bytes, durability) == .elements(50))
    }
  }

  // MARK: Bits

  @Test(
    "a bit: a prefix, or damaged; never a wrong element",
    arguments: [Durability.survivesProcess, .survivesPowerLoss], [false, true])
  func bits(_ durability: Durability, _ together: Bool) async throws {
    let (bytes, ends) = try await Self.journal(Self.length, durability, together: together)
    let places =
      Self.places(0..<100) + Self.places(4096..<4196) + Self.places(8192..<8288)
      + Self.places(12288..<12384)
      + Self.places(Self.first..<bytes.count, beside: together ? [] : ends)
    for place in places {
      let bits = Self.step == 1 ? Array(0..<8) : [place % 8]
      for bit in bits {
        var flipped = bytes
        flipped[place] ^= 1 << UInt8(bit)
        let outcome = await Self.reopenEnded(flipped, durability)
        switch outcome {
        case .damaged, .other: break
        case .elements(let count):
          if together { continue }
          let before = place < Self.first ? Self.length : ends.count { $0 <= place }
          #expect(
            count == (durability == .survivesPowerLoss ? Self.length : before),
            "bit \(place).\(bit)")
        }
        if case .other(let text) = outcome {
          Issue.record("bit \(place).\(bit): \(text)")
        }
      }
    }
  }

  /// The same for a list that may have ended.
  static func reopenEnded(_ bytes: [UInt8], _ durability: Durability) async -> Outcome {
    do {
      let file = try StoredFile.copy(of: bytes)
      let list = Walk.list(in: Walk.store(file, durability), upTo: 30)
      let count = try await Walk.store(file, durability).acquireLease()?.count ?? -1
      let elements = try await list.array()
      guard elements == Walk.elements(elements.count), elements.count >= count else {
        return .other("wrong elements")
      }
      return .elements(count)
    } catch ListStoreError.damaged {
      return .damaged
    } catch {
      return .other("\(error)")
    }
  }

  @Test("a copy of a commit, within an element or from another file, is no commit")
  func copies() async throws {
    let (bytes, ends) = try await Self.journal(3, .survivesProcess)
    let other = try await Self.journal(9, .survivesProcess)
    let frame = Array(bytes[ends[0]..<ends[1]])
    // A torn commit that holds whole commits of this file and of another one is torn, not damaged.
    let torn = bytes + bytes[ends[1]..<ends[2]].prefix(40) + frame + other.bytes[other.ends[3]...]
    #expect(await Self.reopen(torn, .survivesProcess) == .elements(3))
  }

  // MARK: A writer beside the reader

  @Test("a commit that is read while it is written is there at the next look")
  func readWhileWritten() async throws {
    let (bytes, ends) = try await Self.journal(4, .survivesProcess)
    for cut in stride(from: ends[0], through: ends[1], by: 7) {
      // The writer goes on between two reads of one call, and has more than that commit then.
      for number in 1...12 {
        let file = try StoredFile.copy(of: bytes[..<cut])
        let disk = LyingDisk()
        disk.lies.withLock { lies in
          lies.beforeRead = { read in
            if read == number { try? Data(bytes).write(to: file.url, options: []) }
          }
        }
        let store = Walk.store(file, .survivesProcess, disk)
        var elements: [String] = []
        while elements.count < 4 {
          let page = try await store.read(from: elements.count, upTo: 10)
          elements += page.elements
          if page.elements.isEmpty, disk.lies.withLock({ $0.reads }) > 40 { break }
        }
        #expect(elements == Walk.elements(4), "cut at \(cut), read \(number)")
      }
    }
  }

  @Test(
    "a reader gets elements while the list is trimmed, or is told so", arguments: [0, 1, 5],
    [Durability.survivesProcess, .survivesPowerLoss])
  func readWhileTrimmed(_ position: Int, _ durability: Durability) async throws {
    let (bytes, _) = try await Self.journal(9, durability)
    for number in 1...12 {
      let file = try StoredFile.copy(of: bytes)
      let trimmed = try StoredFile.copy(of: bytes)
      #expect(try await Walk.store(trimmed).trim(before: 6) == 6)
      let after = try trimmed.bytes
      let disk = LyingDisk()
      disk.lies.withLock { lies in
        lies.beforeRead = { read in
          if read == number { try? Data(after).write(to: file.url, options: []) }
        }
      }
      do {
        let page = try await Walk.store(file, .survivesProcess, disk).read(from: position, upTo: 3)
        let expected = Walk.elements(9)[position..<position + 3]
        #expect(expected.starts(with: page.elements), "read \(number)")
      } catch {
        #expect(error as? ListStoreError == .trimmed(first: 6), "read \(number)")
      }
    }
  }
}
