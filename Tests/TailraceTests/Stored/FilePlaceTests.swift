import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

/// Files that are removed, replaced, cut off or damaged, and what else may be in their place.
@Suite("The place of a stored list", .tags(.long), .hangLimit, .inTurn)
struct FilePlaceTests {
  enum Change: CaseIterable {
    case removed, replaced, shortened, emptied, overwritten

    func make(to file: StoredFile) throws {
      let bytes = try file.bytes
      switch self {
      case .removed: try FileManager.default.removeItem(at: file.url)
      case .replaced:
        let other = file.folder.appending(path: "other")
        try Data(bytes).write(to: other)
        guard rename(other.path, file.url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
      case .shortened: try Data(bytes.prefix(JournalHeader.size + 1000)).write(to: file.url)
      case .emptied: try Data().write(to: file.url)
      case .overwritten:
        var other = JournalHeader(schema: "text, state raw Walk of 16 bytes").bytes(in: .none)
        other += [UInt8](repeating: 0, count: bytes.count)
        try Data(other).write(to: file.url)
      }
    }
  }

  static func isRefused(_ failure: any Error) -> Bool {
    switch failure as? ListStoreError {
    case .refused, .damaged: true
    default: false
    }
  }

  @Test(
    "a file that is changed under a writer takes nothing more", arguments: Change.allCases,
    Durability.all)
  func writer(_ change: Change, _ durability: Durability) async throws {
    let file = try StoredFile()
    let store = Walk.store(file, durability)
    for try await _ in Walk.list(in: store).prefix(100) {}
    try change.make(to: file)
    let clock = ContinuousClock()
    let start = clock.now
    var walk = Walk()
    for _ in 0..<100 { _ = walk.next() }
    var position = 100
    await #expect {
      while clock.now - start < .seconds(5) {
        try await store.append(ListCommit([walk.next()], state: walk), at: position)
        position += 1
      }
    } throws: {
      Self.isRefused($0)
    }
    if durability == .survivesPowerLoss {
      #expect(position == 100, "an element was stored into nothing")
    }
    #expect(clock.now - start < .seconds(2))
    await #expect { _ = try await store.acquireLease() } throws: { Self.isRefused($0) }
  }

  @Test(
    "a reader of a file that is changed gets what was there, or is told", arguments: Change.allCases
  )
  func reader(_ change: Change) async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(100) {}
    let store = Walk.store(file)
    #expect(try await store.read(from: 0, upTo: 10).elements == Walk.elements(10))
    try change.make(to: file)
    var elements = Walk.elements(10)
    do {
      while case let page = try await store.read(from: elements.count, upTo: 30),
        !page.elements.isEmpty
      {
        elements += page.elements
      }
    } catch {
      #expect(Self.isRefused(error))
    }
    #expect(elements == Walk.elements(elements.count))
    // Where there seem to be no more elements, whoever waits for one looks at the file.
    await #expect { try await store.extent() } throws: { Self.isRefused($0) }
  }

  @Test("a symbolic link is the file that it leads to, also when that is repaired")
  func symbolicLink() async throws {
    let (file, folder) = (try StoredFile(), try StoredFile())
    let manager = FileManager.default
    try manager.createSymbolicLink(at: folder.url, withDestinationURL: file.url)
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    let writer = Walk.store(folder)
    #expect(try await writer.acquireLease()?.count == 9)
    #expect(try await Walk.store(file).acquireLease() == nil)
    try await writer.release()
    try Data(try file.bytes.prefix(JournalHeader.size + 500)).write(to: file.url)
    let outcome = try await FileStore.repair(folder.url)
    #expect(
      outcome.count > 0 && outcome.damaged?.deletingLastPathComponent().path == file.folder.path)
    #expect(try manager.destinationOfSymbolicLink(atPath: folder.url.path) == file.url.path)
    #expect(try await Walk.store(file).extent() == Walk.store(folder).extent())
    #expect(try await Walk.list(in: Walk.store(folder)).prefix(20).array() == Walk.elements(20))
  }

  @Test("a follower of a file that is changed is told", arguments: Change.allCases)
  func follower(_ change: Change) async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file)).prefix(100) {}
    let (store, gate) = (Walk.store(file), Gate())
    let follower = Task {
      for try await element in LazyList(reading: store) where element == Walk.elements(100)[99] {
        gate.open()
      }
    }
    await gate.wait()
    try change.make(to: file)
    let start = ContinuousClock.now
    await #expect { try await follower.value } throws: { Self.isRefused($0) }
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test("a writer that has read nothing has its own file, wherever that is")
  func unreadWriter() async throws {
    let file = try StoredFile()
    let store = Walk.store(file)
    #expect(try await store.acquireLease()?.count == 0)
    var walk = Walk()
    for position in 0..<3 {
      try await store.append(ListCommit([walk.next()], state: walk), at: position)
    }
    try FileManager.default.moveItem(at: file.url, to: file.folder.appending(path: "elsewhere"))
    await #expect { try await store.trim(before: 2) } throws: { Self.isRefused($0) }
    await #expect { try await store.extent() } throws: { Self.isRefused($0) }
    #expect(try await store.read(from: 0, upTo: 9).elements == Walk.elements(3))
    // Another one in its place is not trimmed either, nor ended.
    for try await _ in Walk.list(in: Walk.store(file)).prefix(2) {}
    for isReleased in [false, true] {
      if isReleased { try await store.release() }
      await #expect { try await store.trim(before: 2) } throws: { Self.isRefused($0) }
      await #expect { try await store.end() } throws: { Self.isRefused($0) }
    }
    #expect(try await Walk.store(file).extent().isEnded == false)
  }

  @Test("a pipe in the place of a file is refused, and nobody waits for its other end")
  func pipe() async throws {
    let file = try StoredFile()
    guard mkfifo(file.url.path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
    await #expect { try await Walk.store(file).acquireLease() } throws: { Self.isRefused($0) }
    await #expect { try await LazyList(reading: Walk.store(file)).head() } throws: {
      Self.isRefused($0)
    }
  }

  @Test("a name may be as long as names may be", arguments: [250, 255])
  func longName(_ length: Int) async throws {
    let file = try StoredFile()
    let url = file.folder.appending(path: String(repeating: "n", count: length))
    let store = FileStore<Int, Int>(url, element: .raw, state: .raw)
    #expect(try await store.acquireLease()?.count == 0)
    try await store.append(ListCommit([7], state: 1), at: 0)
    #expect(try await store.read(from: 0, upTo: 9).elements == [7])
  }

  @Test("an older format is refused with both versions, and left alone")
  func olderFormat() async throws {
    var bytes = [UInt8](repeating: 0, count: 300)
    bytes.replaceSubrange(0..<8, with: Array("TAILRACE".utf8))
    bytes[8] = 1
    let file = try StoredFile.copy(of: bytes)
    await #expect {
      try await Walk.store(file).acquireLease()
    } throws: {
      guard case ListStoreError.refused(let why) = $0 else { return false }
      return why.contains("version 1") && why.contains("version 3")
    }
    #expect(try file.bytes == bytes)
  }

  // MARK: Leases

  @Test("a store that is released lets another one go on", arguments: Durability.all)
  func release(_ durability: Durability) async throws {
    let file = try StoredFile()
    let (first, second) = (Walk.store(file, durability), Walk.store(file, durability))
    _ = try await Walk.list(in: first).element(at: 3)
    #expect(try await second.acquireLease() == nil)
    try await first.release()
    #expect(try await second.acquireLease()?.count == 4)
    await #expect(throws: ListStoreError.superseded) {
      try await first.append(ListCommit(["x"], state: Walk()), at: 4)
    }
    #expect(try await Walk.list(in: second).prefix(9).array() == Walk.elements(9))
  }

  // MARK: Repair

  @Test("a damaged list is repaired into another one, and the damaged file is kept")
  func repair() async throws {
    let file = try StoredFile()
    for try await _ in Walk.list(in: Walk.store(file, .survivesPowerLoss)).prefix(50) {}
    #expect(try await FileStore.repair(file.url) == FileRepair(first: 0, count: 50, damaged: nil))
    let (before, reader) = (try await Walk.store(file).extent(), Walk.store(file))
    #expect(try await reader.read(from: 0, upTo: 10).elements.count == 10)
    var bytes = try file.bytes
    let needle = Data(bytes).range(of: Data(Walk.elements(31)[30].utf8))
    bytes[try #require(needle).lowerBound] ^= 1
    try Data(bytes).write(to: file.url)
    await #expect(throws: ListStoreError.damaged(at: 30)) {
      try await LazyList(reading: Walk.store(file)).prefix(50).array()
    }
    // Its end is whole, so it is made shorter, which a lease notices.
    try Data(bytes.prefix(JournalHeader.size + 3000)).write(to: file.url)
    await #expect { try await Walk.store(file).acquireLease() } throws: { Self.isRefused($0) }
    let damaged = try file.bytes
    let outcome = try await FileStore.repair(file.url)
    #expect(outcome.first == 0 && outcome.count > 10 && outcome.count <= 30)
    #expect(try Array(Data(contentsOf: try #require(outcome.damaged))) == damaged)
    let after = try await Walk.store(file).extent()
    #expect(after.identity != before.identity && after.count == outcome.count)
    #expect(try await Walk.list(in: Walk.store(file)).prefix(60).array() == Walk.elements(60))
    // The one that has the damaged file open is told.
    await #expect { try await reader.extent() } throws: { Self.isRefused($0) }
  }

  @Test("nothing is repaired while somebody writes")
  func repairInUse() async throws {
    let file = try StoredFile()
    let writer = Walk.store(file)
    _ = try await Walk.list(in: writer).element(at: 3)
    await #expect(throws: ListStoreError.inUse) { try await FileStore.repair(file.url) }
    withExtendedLifetime(writer) {}
  }

  @Test(
    "a copy that is made while the list is written is a list that goes on",
    arguments: Durability.all)
  func backups(_ durability: Durability) async throws {
    let (file, folder) = (try StoredFile(), try StoredFile())
    let list = Walk.list(in: Walk.store(file, durability))
    // Each copy is read from its beginning: no more is written than can be read so often.
    let writing = Task {
      for try await _ in list.prefix(20_000) { try Task.checkCancellation() }
    }
    _ = try await Walk.list(in: Walk.store(file), atTail: .follow).element(at: 5)
    for number in 0..<Size.usual(10, full: 100) {
      let copy = FileStore<String, Walk>(
        folder.folder.appending(path: "\(number)"), element: .text, state: .raw)
      try file.backUp(to: copy.url)
      let count = try await copy.extent().count
      #expect(count > 5)
      #expect(try await copy.acquireLease()?.count ?? 0 >= count)
      #expect(
        try await Walk.list(in: copy).prefix(count + 9).array() == Walk.elements(count + 9))
    }
    writing.cancel()
    _ = await writing.result
  }

  @Test(
    "a copy that is no larger than the list was before its mark is damaged, and repaired",
    arguments: Durability.all)
  func shortCopy(_ durability: Durability) async throws {
    let file = try StoredFile()
    let store = Walk.store(file, durability)
    let list = Walk.list(in: store)
    _ = try await list.element(at: 100)
    let size = try file.bytes.count
    _ = try await list.element(at: 1_000)
    try await store.release()
    let copy = try StoredFile.copy(of: try file.bytes.prefix(size))
    let error = await #expect(throws: ListStoreError.self) {
      try await Walk.store(copy).extent()
    }
    guard case .damaged(let position)? = error else {
      Issue.record("not damaged: \(String(describing: error))")
      return
    }
    #expect(position > 100 && position < 1_000)
    #expect(try await FileStore.repair(copy.url).count == position)
    #expect(try await Walk.list(in: Walk.store(copy)).prefix(1_001).array() == Walk.elements(1_001))
  }

  // MARK: The specification

  @Test(
    "a reader in another language, written by the specification, reads the same",
    arguments: Durability.all)
  func otherLanguage(_ durability: Durability) async throws {
    let file = try StoredFile()
    let store = Walk.store(file, durability)
    _ = try await Walk.list(in: store).element(at: 40)
    try await store.trim(before: 7)
    func expected(_ count: Int) -> [String] {
      Walk.elements(count)[7...].map { element in
        element.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      }
    }
    #expect(try Self.python([file.url.path]) == expected(41) + ["more"])
    var walk = try #require(try await store.acquireLease()?.state)
    try await store.append(ListCommit([walk.next(), walk.next()], state: nil, isEnd: true), at: 41)
    #expect(try Self.python([file.url.path]) == expected(43) + ["end"])
  }

  private static func python(_ arguments: [String]) throws -> [String] {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    var tests = URL(filePath: #filePath)
    for _ in 0..<3 { tests.deleteLastPathComponent() }
    let script = tests.appending(path: "StoredListReader/read_list.py")
    process.arguments = ["python3", script.path] + arguments
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
