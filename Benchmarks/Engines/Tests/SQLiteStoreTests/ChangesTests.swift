import Foundation
import GRDB
import SQLiteStore
import Tailrace
import TailraceStored
import TailraceTesting
import Testing

@Suite(
  "SQLiteStore: tables and files that are changed while they are open", .timeLimit(.minutes(2)))
struct ChangesTests {
  /// A change behind a store's back, and a part of the words that tell of it.
  enum Change: String, CaseIterable, Sendable {
    case deletedRow = "DELETE FROM tailrace_lists"
    case droppedLists = "DROP TABLE tailrace_lists"
    case droppedTable = "DROP TABLE items"
    case renamedTable = "ALTER TABLE items RENAME TO others"
    case newColumn = "ALTER TABLE items ADD COLUMN more TEXT"
    case renamedColumn = "ALTER TABLE items RENAME COLUMN note TO remark"
    case droppedColumn = "ALTER TABLE items DROP COLUMN note"
    case otherLists = "ALTER TABLE tailrace_lists RENAME COLUMN epoch TO era"
    case anotherList = "UPDATE tailrace_lists SET identity = 'another'"

    func isTold(by error: any Error) -> Bool {
      switch (self, error) {
      case (.deletedRow, ListStoreError.refused(let reason)),
        (.droppedLists, ListStoreError.refused(let reason)):
        reason.contains("the row of the list items") && reason.contains("was deleted")
      case (.droppedTable, ListStoreError.refused(let reason)),
        (.renamedTable, ListStoreError.refused(let reason)):
        reason.contains("has no table items")
      case (.anotherList, ListStoreError.refused(let reason)): reason.contains("was begun anew")
      case (.newColumn, ListStoreError.otherSchema(let found, let expected)):
        found.contains("more TEXT") && !expected.contains("more TEXT")
      case (.renamedColumn, ListStoreError.otherSchema(let found, let expected)):
        found.contains("remark TEXT") && expected.contains("note TEXT")
      case (.droppedColumn, ListStoreError.otherSchema(let found, let expected)):
        !found.contains("note TEXT") && expected.contains("note TEXT")
      case (.otherLists, ListStoreError.otherSchema(let found, let expected)):
        found.contains("era") && expected.contains("tailrace_lists (name")
          && !expected.contains("era")
      default: false
      }
    }
  }

  @Test("every call of an open store tells of it in words", arguments: Change.allCases)
  func calls(_ change: Change) async throws {
    let place = try Place()
    let (writer, reader) = (place.store(), place.store())
    _ = try await writer.acquireLease()
    try await writer.append(commit(0..<3), at: 0)
    #expect(try await reader.read(from: 0, upTo: 9).elements.count == 3)
    try place.execute(change.rawValue)
    await expectTold(change) { try await writer.append(commit(3..<4), at: 3) }
    await expectTold(change) { _ = try await writer.acquireLease() }
    await expectTold(change) { _ = try await reader.trim(before: 1) }
    for position in [0, 3] {
      await expectTold(change) { _ = try await reader.read(from: position, upTo: 1) }
    }
    await expectTold(change) { _ = try await reader.extent() }
    await expectTold(change) { try await reader.waitForMore(than: 3) }
    if change == .deletedRow {
      #expect(try place.number("SELECT count(*) FROM tailrace_lists") == 0, "it was made again")
    }
  }

  @Test("lists that compute and lists that wait are told of it", arguments: Change.allCases)
  func lists(_ change: Change) async throws {
    let place = try Place()
    let list = items(in: place.store())
    #expect(try await list.prefix(2).count() == 2)
    let looks = Probe<String>()
    let follower = place.store(configuration: traced(LeaseTests.look, into: looks))
    let following = Task { try await LazyList(reading: follower).prefix(3).count() }
    await looks.waitForCount(3)
    try place.execute(change.rawValue)
    await expectTold(change) { _ = try await following.value }
    await expectTold(change) { _ = try await list.prefix(3).count() }
  }

  @Test("columns that are put back are right again")
  func putBack() async throws {
    let place = try Place()
    let store = place.store()
    _ = try await store.acquireLease()
    try await store.append(commit(0..<1), at: 0)
    try place.execute(Change.renamedColumn.rawValue)
    await expectTold(.renamedColumn) { try await store.append(commit(1..<2), at: 1) }
    try place.execute("ALTER TABLE items RENAME COLUMN remark TO note")
    try await store.append(commit(1..<2), at: 1)
    #expect(try await store.read(from: 0, upTo: 9).elements == (0..<2).map(Item.init))
  }

  @Test("a list that was begun anew is another one, also at the same position and lease")
  func anew() async throws {
    let place = try Place()
    let (writer, reader) = (place.store(), place.store())
    _ = try await writer.acquireLease()
    try await writer.append(commit(0..<2), at: 0)
    #expect(try await reader.read(from: 0, upTo: 1).elements == [Item(0)])
    try place.execute("DELETE FROM tailrace_lists; DROP TABLE items")
    let other = place.store()
    #expect(try await other.acquireLease()?.count == 0)
    try await other.append(ItemCommit([Item(77), Item(78)], state: 9), at: 0)
    for _ in 0..<2 {
      await expectTold(.anotherList) { try await writer.append(commit(2..<3), at: 2) }
      await expectTold(.anotherList) { _ = try await writer.acquireLease() }
      await expectTold(.anotherList) { _ = try await reader.read(from: 1, upTo: 1) }
    }
    #expect(try await place.store().read(from: 0, upTo: 9).elements == [Item(77), Item(78)])
  }

  @Test("a file that was removed, or another one in its place", arguments: [false, true])
  func file(_ isReplaced: Bool) async throws {
    let place = try Place()
    let (writer, reader) = (place.store(), place.store())
    _ = try await writer.acquireLease()
    try await writer.append(commit(0..<2), at: 0)
    #expect(try await reader.read(from: 0, upTo: 1).elements == [Item(0)])
    let copy = place.folder.appending(path: "copy")
    try place.checkpoint()
    try FileManager.default.copyItem(at: place.url, to: copy)
    let waiting = Task { try await LazyList(reading: reader).prefix(3).count() }
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: place.url.path + suffix)
    }
    if isReplaced { try FileManager.default.moveItem(at: copy, to: place.url) }
    func expectTold(_ body: () async throws -> Void) async {
      await #expect {
        try await body()
      } throws: {
        guard case ListStoreError.refused(let reason) = $0 else { return false }
        return reason.contains(
          isReplaced ? "was replaced while it was open" : "was removed while it was open")
      }
    }
    await expectTold { try await writer.append(commit(2..<3), at: 2) }
    await expectTold { _ = try await writer.acquireLease() }
    await expectTold { _ = try await reader.read(from: 1, upTo: 1) }
    await expectTold { _ = try await waiting.value }
    #expect(place.exists == isReplaced, "a file was made in its place")
    if isReplaced {
      #expect(try await place.store().read(from: 0, upTo: 9).elements.count == 2)
    }
  }

  @Test("trimming makes nothing")
  func trimming() async throws {
    let place = try Place()
    #expect(try await place.store().trim(before: 5) == 0)
    #expect(!place.exists)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.folder.path).isEmpty)
    // Somebody else's database.
    try place.execute("CREATE TABLE notes (text)")
    #expect(try await place.store().trim(before: 5) == 0)
    #expect(try place.number("SELECT count(*) FROM sqlite_schema") == 1)
    #expect(try place.value("PRAGMA journal_mode") == "delete")
    // Another list's database.
    #expect(try await items(in: place.store("others"), upTo: 2).count() == 2)
    #expect(try await place.store().trim(before: 5) == 0)
    #expect(try place.number("SELECT count(*) FROM tailrace_lists") == 1)
  }

  private func expectTold(
    _ change: Change, _ location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
  ) async {
    await #expect(sourceLocation: location) {
      try await body()
    } throws: {
      change.isTold(by: $0)
    }
  }
}
