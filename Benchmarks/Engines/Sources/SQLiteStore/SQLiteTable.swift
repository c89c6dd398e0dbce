import Foundation
import GRDB
import Tailrace
import TailraceStored

/// The table of a list's elements, and the list's row in `tailrace_lists`.
struct SQLiteTable: Sendable {
  let path: String
  let name: String
  let configuration: Configuration
  let columns: @Sendable (TableDefinition) -> Void

  var quoted: String { name.quotedDatabaseIdentifier }

  /// Where the list stands, and its claim.
  struct List: Codable, FetchableRecord {
    /// The position of the first element kept.
    var first: Int
    var count: Int
    var state: String?
    var stateCount: Int
    var isEnded: Bool
    /// A random one for each list.
    var identity: String
    /// How many claims there were.
    var epoch: Int
    /// When the last claim ends, in seconds since 1970.
    var expires: Double
  }

  /// The list's row; `nil` if it was never claimed.
  func list(in db: Database) throws -> List? {
    try List.fetchOne(
      db.cachedStatement(sql: "SELECT * FROM tailrace_lists WHERE name = ?"), arguments: [name])
  }

  /// Makes the list, if it is missing.
  func make(in db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS tailrace_lists (
          name TEXT PRIMARY KEY NOT NULL, first INTEGER NOT NULL DEFAULT 0,
          count INTEGER NOT NULL DEFAULT 0, state TEXT, stateCount INTEGER NOT NULL DEFAULT 0,
          isEnded INTEGER NOT NULL DEFAULT 0, identity TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0,
          expires REAL NOT NULL DEFAULT 0)
        """)
    guard try list(in: db) == nil else { return }
    if try db.tableExists(name) {
      throw ListStoreError.refused("\(path) has a table \(name) that is no stored list")
    }
    try create(in: db)
    try db.execute(
      sql: "INSERT INTO tailrace_lists (name, identity) VALUES (?, lower(hex(randomblob(16))))",
      arguments: [name])
  }

  private func create(in db: Database) throws {
    // GRDB puts names between quotation marks as they are.
    if name.contains("\"") {
      throw ListStoreError.refused("the name of a list has no quotation marks, as \(name) has")
    }
    do {
      try db.create(table: name) { table in
        table.primaryKey("position", .integer)
        columns(table)
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      throw ListStoreError.refused("the table \(name) cannot be made: \(error)")
    }
  }

  /// Sets the end of a lease. False if another writer has claimed since.
  @discardableResult
  func renew(_ epoch: Int, until expires: Double, in db: Database) throws -> Bool {
    try db.execute(
      sql: "UPDATE tailrace_lists SET expires = ? WHERE name = ? AND epoch = ?",
      arguments: [expires, name, epoch])
    return db.changesCount > 0
  }

  /// The names of the element's columns, if the table has those that are defined.
  func checkedColumns(in db: Database) throws -> [String] {
    func description(_ columns: [ColumnInfo]) -> String {
      let texts = columns.map { "\($0.name) \($0.type)\($0.isNotNull ? " NOT NULL" : "")" }
      return "\(name) (\(texts.joined(separator: ", ")))"
    }
    let defined = try DatabaseQueue().write { db in
      try create(in: db)
      return try db.columns(in: name)
    }
    let found = try db.tableExists(name) ? db.columns(in: name) : []
    if description(found) != description(defined) {
      throw ListStoreError.otherSchema(found: description(found), expected: description(defined))
    }
    return found.dropFirst().map(\.name)
  }

  /// Does something with the database, and explains a failure that stays.
  ///
  /// - Parameters:
  ///   - position: of the elements to be read; `nil` to write.
  ///   - close: closes the connection, so that the next call opens the file anew.
  func explaining<Value>(
    at position: Int? = nil, orClosing close: () -> Void, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch let error as DatabaseError {
      let message = error.message ?? error.description
      let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
      let lasting: ListStoreError
      switch error.resultCode {
      case .SQLITE_CORRUPT:
        lasting = position.map { .damaged(at: $0) } ?? .refused("\(path) is damaged: \(message)")
      case .SQLITE_NOTADB: lasting = .refused("\(path) is no SQLite database: \(message)")
      case .SQLITE_READONLY where position != nil:
        lasting = .refused("\(path) cannot be read without writing in its folder: \(message)")
      case .SQLITE_READONLY: lasting = .refused("\(path) cannot be written: \(message)")
      case .SQLITE_CANTOPEN where !FileManager.default.fileExists(atPath: folder):
        lasting = .refused("there is no folder \(folder) for a database")
      case .SQLITE_CANTOPEN: lasting = .refused("\(path) cannot be opened: \(message)")
      default: throw error
      }
      close()
      throw lasting
    }
  }
}

/// Runs an actor on a thread that may block: SQLite waits for disks and locks.
final class BlockingExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "SQLiteStore")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs something on the actor's thread, where the actor may assume its isolation.
  func run(after delay: Double = 0, _ body: @escaping @Sendable () -> Void) {
    if delay > 0 {
      queue.asyncAfter(deadline: .now() + delay, execute: body)
    } else {
      queue.async(execute: body)
    }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
