import Foundation
import GRDB
import SQLiteStore
import Synchronization
import Tailrace
import TailraceStored
import TailraceTesting

/// An element with columns of several types.
struct Item: Codable, Equatable, Sendable, FetchableRecord, EncodableRecord {
  var number: Int
  var title: String
  var note: String?
  var weight: Double
  var tags: [String]

  init(_ number: Int) {
    self.number = number
    title = "item '\(number)' \"ü\""
    note = number.isMultiple(of: 3) ? nil : "note"
    weight = Double(number) / 4
    tags = Array(repeating: "t", count: number % 3)
  }

  static func define(_ table: TableDefinition) {
    table.column("number", .integer).notNull()
    table.column("title", .text).notNull()
    table.column("note", .text)
    table.column("weight", .double).notNull()
    table.column("tags", .jsonText).notNull()
  }
}

typealias ItemStore = SQLiteStore<Item, Int>
typealias ItemCommit = ListCommit<Item, Int>

/// A folder for a database, removed with it.
final class Place: Sendable {
  let folder = URL.temporaryDirectory.appending(path: "sqlite-\(UUID().uuidString)")
  var url: URL { folder.appending(path: "lists.sqlite") }
  var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func store(
    _ list: String = "items", durability: ItemStore.Durability = .survivesProcess,
    lease: Duration = .seconds(60), configuration: Configuration = Configuration()
  ) -> ItemStore {
    ItemStore(
      url, list: list, durability: durability, lease: lease, oldLibrary: .mayLoseCommits,
      configuration: configuration, columns: Item.define)
  }

  /// Another program's connection.
  func connection() throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    return try DatabaseQueue(path: url.path, configuration: configuration)
  }

  /// Another program's connection, which may leave a transaction open.
  ///
  /// - Parameter patience: how many seconds it waits for locks.
  func blocker(patience: Double = 0) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(patience)
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: url.path, configuration: configuration)
  }

  /// Whether nobody is writing.
  var isUnlocked: Bool {
    (try? blocker().write { try $0.execute(sql: "UPDATE tailrace_lists SET first = first") }) != nil
  }

  /// Changes the database behind the back of the stores.
  func execute(_ sql: String) throws { try connection().write { try $0.execute(sql: sql) } }

  /// The only value of a query's result.
  func value<Value: DatabaseValueConvertible>(_ sql: String) throws -> Value? {
    try connection().read { try Value.fetchOne($0, sql: sql) }
  }

  func number(_ sql: String) throws -> Int? { try value(sql) }

  /// Moves all commits into the database's file.
  func checkpoint() throws {
    try connection().writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}

func commit(_ numbers: Range<Int>, isEnd: Bool = false) -> ItemCommit {
  ItemCommit(numbers.map(Item.init), state: numbers.upperBound, isEnd: isEnd)
}

/// A list of items, whose steps are recorded. It follows at first: a store of the same test that
/// was just released may still have its lease.
func items(
  in store: ItemStore, atTail policy: TailPolicy = .computeOrFollow, upTo length: Int = .max,
  steps: Probe<Int> = Probe()
) -> LazyList<Item, any Error> {
  LazyList(storedIn: store, state: 0, atTail: policy) { number in
    if number >= length { return nil }
    steps.record(number)
    defer { number += 1 }
    return Item(number)
  }
}

/// A configuration that records the statements that begin with a text.
func traced(_ beginning: String, into probe: Probe<String>) -> Configuration {
  var configuration = Configuration()
  configuration.prepareDatabase { db in
    db.trace { event in
      let statement = "\(event)"
      if statement.hasPrefix(beginning) { probe.record(statement) }
    }
  }
  return configuration
}
