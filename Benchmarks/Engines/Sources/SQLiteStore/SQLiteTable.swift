import Foundation
import GRDB
import Tailrace
import TailraceStored

/// The table of a list's elements, and the list's row in `tailrace_lists`.
struct SQLiteTable: Sendable {
  let path: String
  let name: String
  let configuration: Configuration
  /// The library to check; `nil` if its user knows it.
  let library: SQLiteLibrary?
  let columns: @Sendable (TableDefinition) -> Void

  var quoted: String { name.quotedDatabaseIdentifier }

  /// Where the list stands, and its lease.
  struct List: Codable, FetchableRecord {
    /// The position of the first element kept.
    var first: Int
    var count: Int
    var state: String?
    var stateCount: Int
    var isEnded: Bool
    /// A random one for each list.
    var identity: String
    /// How many leases there were.
    var epoch: Int
    /// When the last lease ends, in milliseconds since the machine was started.
    var expires: Int
    /// For how long it was given, in milliseconds.
    var lease: Int

    var granted: Lease { Lease(expires: LeaseTime(milliseconds: expires), length: lease) }

    /// The table's columns.
    static let columns = [
      "name", "first", "count", "state", "stateCount", "isEnded", "identity", "epoch", "expires",
      "lease",
    ]
  }

  /// Opens the database; not with a library that may lose commits, nor another file than before.
  func open(isReader: Bool, after known: SeenList) throws -> SQLiteFile {
    try library?.check()
    // Before a writer makes a file that is missing.
    try known.node?.check(at: path)
    var configuration = configuration
    if isReader { configuration.readonly = true }
    return try SQLiteFile(at: path, configuration)
  }

  /// Whether there is a table of lists.
  func hasLists(in db: Database) throws -> Bool {
    guard try db.tableExists("tailrace_lists") else { return false }
    let found = try db.columns(in: "tailrace_lists").map(\.name)
    if found != List.columns {
      throw ListStoreError.otherSchema(
        found: "tailrace_lists (\(found.joined(separator: ", ")))",
        expected: "tailrace_lists (\(List.columns.joined(separator: ", ")))")
    }
    return true
  }

  /// The list's row; `nil` if it was never leased.
  func list(in db: Database) throws -> List? {
    try List.fetchOne(
      db.cachedStatement(sql: "SELECT * FROM tailrace_lists WHERE name = ?"), arguments: [name])
  }

  /// Makes a list that is missing.
  func make(in db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS tailrace_lists (
          name TEXT PRIMARY KEY NOT NULL, first INTEGER NOT NULL DEFAULT 0,
          count INTEGER NOT NULL DEFAULT 0, state TEXT, stateCount INTEGER NOT NULL DEFAULT 0,
          isEnded INTEGER NOT NULL DEFAULT 0, identity TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0,
          expires INTEGER NOT NULL DEFAULT 0, lease INTEGER NOT NULL DEFAULT 0)
        """)
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

  /// Begins a lease anew; one of no length ends. False if another writer has acquired it since.
  @discardableResult
  func renew(_ holder: Holder, for length: Int, in db: Database) throws -> Bool {
    let expires = length == 0 ? 0 : (LeaseTime.now + length).milliseconds
    try db.execute(
      sql: """
        UPDATE tailrace_lists SET expires = ?, lease = ?
          WHERE name = ? AND epoch = ? AND identity = ?
        """,
      arguments: [expires, length, name, holder.epoch, holder.identity])
    return db.changesCount > 0
  }

  /// A lease of a list: no other has these two.
  struct Holder: Equatable, Sendable {
    let epoch: Int
    let identity: String
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
    guard try db.tableExists(name) else {
      throw ListStoreError.refused(
        "\(path) has no table \(name), and its list has elements there: it was dropped or renamed")
    }
    let found = try db.columns(in: name)
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
    } catch ListStoreError.refused(let reason) {
      // It may have to do with the file.
      close()
      throw ListStoreError.refused(reason)
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
