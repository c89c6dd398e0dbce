import Foundation
import GRDB
import SQLiteStore
import Tailrace
import TailraceStored
import TailraceTesting
import Testing

@Suite("SQLiteStore: failures", .timeLimit(.minutes(2)))
struct FaultTests {
  // MARK: Failures that pass

  @Test("a lock held by another program: the next demand stores the same element")
  func busy() async throws {
    let place = try Place()
    let steps = Probe<Int>()
    var configuration = Configuration()
    configuration.busyMode = .timeout(0.05)
    let list = items(in: place.store(configuration: configuration), steps: steps)
    #expect(try await list.prefix(1).count() == 1)
    let blocker = try place.blocker()
    try await blocker.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    await #expect { try await list.prefix(2).count() } throws: {
      ($0 as? DatabaseError)?.resultCode == .SQLITE_BUSY
    }
    // Reading goes on meanwhile.
    #expect(try await LazyList(reading: place.store()).prefix(1).array() == [Item(0)])
    try await blocker.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try await list.prefix(2).array() == [Item(0), Item(1)])
    #expect(steps.values == [0, 1])
  }

  @Test("a full disk: the next demand stores the same elements")
  func full() async throws {
    let place = try Place()
    try place.execute(
      "CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(400000))")
    let steps = Probe<Int>()
    var configuration = Configuration()
    // The present size is the least that SQLite takes; the tables get some pages more.
    configuration.prepareDatabase { db in
      let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      try db.execute(sql: "PRAGMA max_page_count = \(pages + 8)")
    }
    let list = items(in: place.store(configuration: configuration), upTo: 1000, steps: steps)
    var given = 0
    await #expect {
      for try await _ in list { given += 1 }
    } throws: {
      ($0 as? DatabaseError)?.resultCode == .SQLITE_FULL
    }
    #expect(given > 0 && given < 1000)
    #expect(try place.number("SELECT count(*) FROM items") == given)
    #expect(try place.number("SELECT count FROM tailrace_lists") == given)
    try place.execute("DROP TABLE filler")
    #expect(try await list.array() == (0..<1000).map(Item.init))
    #expect(steps.values == Array(0..<1000))
  }

  @Test("a commit of which one element is refused is not stored at all")
  func constraint() async throws {
    let place = try Place()
    let store = SQLiteStore<Item, Int>(
      place.url, list: "items", oldLibrary: .mayLoseCommits
    ) { table in
      Item.define(table)
      table.uniqueKey(["number"])
    }
    _ = try await store.acquireLease()
    try await store.append(commit(0..<3), at: 0)
    await #expect {
      try await store.append(ItemCommit([Item(3), Item(4), Item(1)], state: 9), at: 3)
    } throws: {
      ($0 as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT
    }
    #expect(
      try await store.acquireLease() == ListCheckpoint(count: 3, state: 3, isEnded: false))
    #expect(try place.number("SELECT count(*) FROM items") == 3)
    try await store.append(commit(3..<5), at: 3)
  }

  // MARK: Failures that stay

  @Test("a missing folder, until it is there")
  func folder() async throws {
    let place = try Place()
    try FileManager.default.removeItem(at: place.folder)
    let list = items(in: place.store(), upTo: 2)
    await expectRefusal("there is no folder") { try await list.array() }
    try FileManager.default.createDirectory(at: place.folder, withIntermediateDirectories: true)
    #expect(try await list.array() == [Item(0), Item(1)])
  }

  @Test("a folder in place of the database")
  func directory() async throws {
    let place = try Place()
    try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: true)
    await expectRefusal("cannot be opened") { try await place.store().acquireLease() }
    for isWaiting in [false, true] {
      await #expect(throws: DatabaseError.self) {
        let store = place.store()
        if isWaiting {
          try await store.waitForMore(than: 0)
        } else {
          _ = try await store.read(from: 0, upTo: 1)
        }
      }
    }
  }

  @Test("a database that cannot be written can be read")
  func readOnly() async throws {
    let place = try Place()
    #expect(try await items(in: place.store()).prefix(2).count() == 2)
    var configuration = Configuration()
    configuration.readonly = true
    let list = items(in: place.store(configuration: configuration))
    #expect(try await list.prefix(2).array() == [Item(0), Item(1)])
    await expectRefusal("cannot be written") { try await list.prefix(3).array() }
    #expect(try await items(in: place.store()).prefix(3).count() == 3)
  }

  @Test("a file that is no database is left alone")
  func otherFile() async throws {
    let place = try Place()
    let text = Data(String(repeating: "This is a letter. ", count: 1000).utf8)
    try text.write(to: place.url)
    let store = place.store()
    await expectRefusal("no SQLite database") { try await store.acquireLease() }
    await expectRefusal("no SQLite database") {
      try await store.read(from: 0, upTo: 1)
    }
    #expect(try Data(contentsOf: place.url) == text)
    try FileManager.default.removeItem(at: place.url)
    #expect(try await items(in: store, upTo: 1).array() == [Item(0)])
  }

  @Test("damaged pages: the elements before them, then an error; never another element")
  func damage() async throws {
    let length = 3000
    for seed in 1...12 {
      let place = try Place()
      #expect(try await items(in: place.store(), upTo: length).count() == length)
      try place.checkpoint()
      var bytes = try Data(contentsOf: place.url)
      let page = 4096 * (1 + (seed * 7919) % (bytes.count / 4096 - 1))
      bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: UInt8(seed), count: 4096))
      try bytes.write(to: place.url)
      var given: [Item] = []
      var failure: (any Error)?
      do {
        for try await item in LazyList(reading: place.store()) { given.append(item) }
      } catch {
        failure = error
      }
      #expect(given == (0..<given.count).map(Item.init), "seed \(seed)")
      if given.count < length {
        #expect(failure is ListStoreError, "seed \(seed): \(String(describing: failure))")
      }
    }
  }

  @Test("a missing row is damage at its position")
  func gap() async throws {
    let place = try Place()
    #expect(try await items(in: place.store(), upTo: 9).count() == 9)
    try place.execute("DELETE FROM items WHERE position = 5")
    let list = LazyList(reading: place.store())
    #expect(try await list.prefix(5).count() == 5)
    await #expect(throws: ListStoreError.damaged(at: 5)) { try await list.count() }
    #expect(try await LazyList(reading: place.store(), from: 6).count() == 3)
  }

  @Test("a row that cannot be decoded fails at its position")
  func undecodable() async throws {
    let place = try Place()
    #expect(try await items(in: place.store(), upTo: 9).count() == 9)
    try place.execute("UPDATE items SET tags = 'no array' WHERE position = 5")
    let list = LazyList(reading: place.store())
    #expect(try await list.prefix(5).count() == 5)
    await #expect(throws: DecodingError.self) { try await list.count() }
  }

  // MARK: Schemas

  static let tables: [@Sendable (TableDefinition) -> Void] = [
    { _ in },
    {
      Item.define($0); $0.column("more", .text)
    },
    {
      $0.column("title", .text).notNull(); $0.column("number", .integer).notNull()
    },
    {
      $0.column("number", .text).notNull(); $0.column("title", .text).notNull()
      $0.column("note", .text); $0.column("weight", .double).notNull()
      $0.column("tags", .jsonText).notNull()
    },
    {
      $0.column("number", .integer).notNull(); $0.column("title", .text)
      $0.column("note", .text); $0.column("weight", .double).notNull()
      $0.column("tags", .jsonText).notNull()
    },
  ]

  @Test("a table with other columns is neither read nor written", arguments: 0..<tables.count)
  func otherColumns(_ index: Int) async throws {
    let place = try Place()
    #expect(try await items(in: place.store(), upTo: 2).count() == 2)
    let store = SQLiteStore<Item, Int>(
      place.url, list: "items", oldLibrary: .mayLoseCommits, columns: Self.tables[index])
    for call in [0, 1] {
      await #expect {
        if call == 0 {
          _ = try await store.acquireLease()
        } else {
          _ = try await store.read(from: 0, upTo: 1)
        }
      } throws: {
        guard case ListStoreError.otherSchema(let found, let expected) = $0 else { return false }
        return found.hasPrefix("items (position INTEGER, number INTEGER NOT NULL")
          && expected.hasPrefix("items (position INTEGER") && found != expected
      }
    }
    #expect(try await LazyList(reading: place.store()).count() == 2)
  }

  @Test("a state of another type")
  func otherState() async throws {
    let place = try Place()
    let store = place.store()
    _ = try await store.acquireLease()
    try await store.append(commit(0..<1), at: 0)
    try place.execute("UPDATE tailrace_lists SET expires = 0")
    let other = SQLiteStore<Item, [String]>(
      place.url, list: "items", oldLibrary: .mayLoseCommits, columns: Item.define)
    await #expect(
      throws: ListStoreError.otherSchema(found: "state 1", expected: "state Array<String>")
    ) { try await other.acquireLease() }
    // The lease was not taken.
    #expect(try place.number("SELECT epoch FROM tailrace_lists") == 1)
    #expect(try await store.acquireLease() == ListCheckpoint(count: 1, state: 1, isEnded: false))
  }

  @Test("a table that is no list is left alone")
  func otherTable() async throws {
    let place = try Place()
    try place.execute("CREATE TABLE items (position INTEGER PRIMARY KEY)")
    await expectRefusal("a table items that is no stored list") {
      try await place.store().acquireLease()
    }
    #expect(try await place.store().read(from: 0, upTo: 1) == ListPage([]))
  }

  @Test("an element with a column that the table has not")
  func missingColumn() async throws {
    let place = try Place()
    let store = SQLiteStore<Item, Int>(
      place.url, list: "items", oldLibrary: .mayLoseCommits
    ) { table in
      table.column("number", .integer)
      table.column("title", .text)
      table.column("note", .text)
      table.column("tags", .text)
    }
    _ = try await store.acquireLease()
    await expectRefusal("Item has a column weight, and the table items has none") {
      try await store.append(commit(0..<1), at: 0)
    }
    #expect(try place.number("SELECT count FROM tailrace_lists") == 0)
  }

  @Test(
    "columns that cannot be made",
    arguments: [
      ("position", "items"), ("number", "sqlite_list"), ("number", "tailrace_lists"),
      ("number", "a\"b"), ("number", "x\" (y); DELETE FROM tailrace_lists; --"),
    ])
  func badColumns(_ column: String, _ list: String) async throws {
    let place = try Place()
    #expect(try await items(in: place.store("others"), upTo: 2).count() == 2)
    let store = SQLiteStore<Item, Int>(
      place.url, list: list, oldLibrary: .mayLoseCommits
    ) { $0.column(column, .integer) }
    await #expect(throws: ListStoreError.self) { try await store.acquireLease() }
    #expect(try await LazyList(reading: place.store("others")).count() == 2)
  }

  /// Expects `ListStoreError.refused`, with a reason that has a part.
  private func expectRefusal(
    _ part: String, _ location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> some Any
  ) async {
    await #expect(sourceLocation: location) {
      _ = try await body()
    } throws: {
      guard case ListStoreError.refused(let reason) = $0 else { return false }
      return reason.contains(part)
    }
  }
}
