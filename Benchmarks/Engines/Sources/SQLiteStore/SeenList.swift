import GRDB
import TailraceStored

/// A list as a store has seen it: tells when tables or rows are changed under it.
struct SeenList {
  /// The version of the database's schema of which the columns were checked.
  private var schema: Int?
  private(set) var identity: String?
  /// The file of the list.
  private(set) var node: SQLiteFile.Node?
  /// The columns of an element.
  private(set) var columns: [String] = []

  /// The list's row; `nil` if it was never leased.
  ///
  /// - Throws: `ListStoreError`, if the list is not the one that was seen, or has other columns.
  mutating func list(
    of table: SQLiteTable, in db: Database, _ file: SQLiteFile
  ) throws -> SQLiteTable.List? {
    let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    if version != schema {
      // GRDB remembers tables that were missing or different.
      db.clearSchemaCache()
      guard try table.hasLists(in: db), let list = try table.list(in: db) else {
        return try gone(table)
      }
      columns = try table.checkedColumns(in: db)
      schema = version
      return try checked(list, of: table, file)
    }
    guard let list = try table.list(in: db) else { return try gone(table) }
    return try checked(list, of: table, file)
  }

  private mutating func checked(
    _ list: SQLiteTable.List, of table: SQLiteTable, _ file: SQLiteFile
  ) throws -> SQLiteTable.List {
    if let identity, identity != list.identity {
      throw ListStoreError.refused(
        "the list \(table.name) of \(table.path) was begun anew, and this store has seen the one "
          + "before: make a new store for it")
    }
    (identity, node) = (list.identity, file.node)
    return list
  }

  private func gone(_ table: SQLiteTable) throws -> SQLiteTable.List? {
    if identity == nil { return nil }
    throw ListStoreError.refused(
      "the row of the list \(table.name) in the table tailrace_lists of \(table.path) was deleted: "
        + "make a new store to begin the list anew")
  }
}
