import Foundation
import GRDB
import Measuring

/// A table that is written with GRDB, in the journal mode of `SQLiteStore`: elements, no state.
struct SQLiteByHand: Sendable {
  private let database: DatabaseQueue
  private let count: Int

  /// - Parameter synchronous: `NORMAL`, which survives the process, or `FULL`.
  init(_ file: URL, by count: Int, _ synchronous: String = "NORMAL") throws {
    self.count = count
    database = try DatabaseQueue(path: file.path)
    try database.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA journal_mode = WAL;
          PRAGMA synchronous = \(synchronous);
          CREATE TABLE lines (position INTEGER PRIMARY KEY, text TEXT NOT NULL);
          """)
    }
  }

  /// A table with elements, for ``read(_:)``.
  static func filled(_ file: URL, _ count: Int) throws -> SQLiteByHand {
    let table = try SQLiteByHand(file, by: count)
    _ = try appendAll(table)
    return table
  }

  /// A transaction for each element.
  @Sendable static func appendOne(_ table: SQLiteByHand) throws -> Int {
    var bytes = 0
    for number in 1...table.count {
      let text = Elements.text(number)
      try table.database.write { db in try insert(text, db) }
      bytes &+= text.utf8.count
    }
    return bytes
  }

  /// The same, and no thread of a task waits for the disk.
  @Sendable static func appendOneAwaiting(_ table: SQLiteByHand) async throws -> Int {
    var bytes = 0
    for number in 1...table.count {
      let text = Elements.text(number)
      try await table.database.write { db in try insert(text, db) }
      bytes &+= text.utf8.count
    }
    return bytes
  }

  /// One transaction.
  @Sendable static func appendAll(_ table: SQLiteByHand) throws -> Int {
    try table.database.write { db in
      var bytes = 0
      for number in 1...table.count {
        let text = Elements.text(number)
        try insert(text, db)
        bytes &+= text.utf8.count
      }
      return bytes
    }
  }

  private static func insert(_ text: String, _ db: Database) throws {
    try db.cachedStatement(sql: "INSERT INTO lines (text) VALUES (?)").execute(arguments: [text])
  }

  @Sendable static func read(_ table: SQLiteByHand) throws -> Int {
    let lines = try table.database.read { db in
      try String.fetchAll(
        db.cachedStatement(sql: "SELECT text FROM lines ORDER BY position"))
    }
    return lines.reduce(0) { $0 &+ $1.utf8.count }
  }
}
