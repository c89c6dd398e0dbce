public import Foundation
public import GRDB
import Tailrace
public import TailraceStored

/// A list in a table of an SQLite database, over GRDB: a row for each element, with columns of its
/// own.
///
/// ```swift
/// struct Page: Codable, FetchableRecord, EncodableRecord { var url: String, title: String? }
///
/// let store = SQLiteStore<Page, Int>(url, list: "pages") { table in
///   table.column("url", .text).notNull().unique()
///   table.column("title", .text)
/// }
/// let list = LazyList(storedIn: store, state: 0, atTail: .computeOrFollow) { number in … }
/// ```
///
/// The first lease makes the database, the table, and a row in the table `tailrace_lists`, which
/// has one for each list of the database: its count, its state as JSON, its end and its lease. A
/// commit is one transaction. The table's primary key is `position`, beside the element's columns.
///
/// A lease is renewed while the store exists, given up soon after the store is
/// released, and expires if its process dies. Until then a list that only computes fails with
/// `inUse`; with `TailPolicy.computeOrFollow` it waits, and takes over. Each new lease has a higher
/// epoch, and an append with an old one is superseded: so is that of a writer that was stopped and
/// wakes up. Leases are timed by a clock that nobody can set, the time since the machine started.
///
/// A list is told apart from one begun anew in its place, and changes of its tables are noticed by
/// stores that have it open: a deleted row, a dropped table, other columns, another file.
/// An older backup that is restored into the same file is not: its list has the same identity. Restore it
/// to another path.
///
/// - Isolation: the database is used on threads of the store's own, never on a task's.
/// - Failure: `ListStoreError` for a failure that stays: a missing folder, a read-only or damaged
///   file, another schema. Otherwise GRDB's `DatabaseError`, such as `SQLITE_BUSY` or
///   `SQLITE_FULL`: nothing is stored then, and the next demand stores the same elements.
public actor SQLiteStore<Element, State>: ListStore
where Element: FetchableRecord & EncodableRecord & Sendable, State: Codable & Sendable {
  /// The failure that a stored element survives once it has been published.
  public enum Durability: String, Sendable, CaseIterable {
    /// The end of the process. A loss of power may lose the last elements.
    case survivesProcess = "NORMAL"
    /// A failure of the machine: it is on the disk.
    case survivesPowerLoss = "FULL"
  }

  /// The use of a library of SQLite with an error in its write-ahead log: one before 3.51.3, but
  /// for 3.50.7 and 3.44.6, which have the repair.
  public enum OldLibrary: Sendable {
    /// Every call that needs the database fails, and says so.
    case refused
    /// It is used. Commits that were acknowledged may be lost, and the database be damaged, if two
    /// connections write and checkpoint at the same moment. It is rare.
    case mayLoseCommits
  }

  /// The database's file.
  public nonisolated let url: URL
  /// The name of the list, and of its table.
  public nonisolated let list: String

  private nonisolated let executor = BlockingExecutor()
  private nonisolated let reader: SQLiteReader
  private let table: SQLiteTable
  private let durability: Durability
  /// In milliseconds.
  private let lease: Int
  private var connection: SQLiteFile?
  private var known = SeenList()
  private var lastHolder: SQLiteTable.Holder?
  /// After a refused lease, how often those who wait were told that the lease is free.
  private var timesTold: Int?

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Creates a store over a list in a database. It opens nothing, and makes no file.
  ///
  /// - Parameters:
  ///   - url: of a database that exists or will be made, in an existing folder; not on a network
  ///     file system.
  ///   - list: the name of the list, and of its table. A database can have several.
  ///   - durability: the failures that a published element survives. Only for the writer.
  ///   - lease: for how long a dead writer keeps others from writing.
  ///   - oldLibrary: whether a library of SQLite that may lose commits is used.
  ///   - configuration: of the connections. Without a busy mode they wait 5 seconds for locks.
  ///   - columns: defines the columns of an element, without references to other tables.
  public init(
    _ url: URL, list: String, durability: Durability = .survivesPowerLoss,
    lease: Duration = .seconds(10),
    oldLibrary: OldLibrary = .refused, configuration: Configuration = Configuration(),
    columns: @escaping @Sendable (TableDefinition) -> Void
  ) {
    self.init(
      url, list: list, durability: durability, lease: lease,
      library: oldLibrary == .refused ? .linked : nil, configuration: configuration,
      columns: columns)
  }

  /// - Parameter library: the one to check.
  init(
    _ url: URL, list: String, durability: Durability, lease: Duration, library: SQLiteLibrary?,
    configuration: Configuration, columns: @escaping @Sendable (TableDefinition) -> Void
  ) {
    precondition(url.isFileURL, "SQLiteStore takes the URL of a file, not \(url)")
    precondition(lease > .zero, "SQLiteStore takes a lease longer than zero, not \(lease)")
    var configuration = configuration
    if case .immediateError = configuration.busyMode { configuration.busyMode = .timeout(5) }
    table = SQLiteTable(
      path: url.standardizedFileURL.path(percentEncoded: false), name: list,
      configuration: configuration, library: library, columns: columns)
    reader = SQLiteReader(table)
    (self.url, self.list) = (url, list)
    self.durability = durability
    // Integers have room for it, and a lease of a hundred years never ends.
    let milliseconds = (min(lease, .seconds(3_155_760_000)) / .milliseconds(1)).rounded(.up)
    self.lease = Int(milliseconds)
  }

  // Not an isolated one: 6.3 cannot optimise programs that use a generic actor with that.
  deinit {
    guard let lastHolder, let connection else { return }
    executor.run { [table] in
      _ = try? connection.queue.write { try table.renew(lastHolder, for: 0, in: $0) }
      SQLiteReader.look(at: table.path)
    }
  }

  // MARK: Reading

  /// Reads some elements, from a position on.
  public nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    try await reader.page(from: position, upTo: count)
  }

  /// Identity, first element, count and end. It makes no database.
  public nonisolated(nonsending) func extent() async throws -> ListExtent {
    try await reader.extent()
  }

  /// Waits until there are more elements, the list has ended, or a refused lease is free.
  ///
  /// Appends of this process wake at once. Those of others are looked for while somebody waits:
  /// every millisecond after a change, then less often, at last 30 times per second.
  public func waitForMore(than position: Int) async throws {
    // The list whose lease was refused may be gone, and one that only follows be waiting here. It
    // is told less and less often, and does not spin.
    let leaseTime = timesTold.map { told in
      LeaseTime.now + (told == 0 ? 0 : min(lease, 10 << min(told, 20)))
    }
    if try await reader.wait(for: position, orLeaseAt: leaseTime) {
      timesTold = timesTold.map { $0 + 1 }
    }
  }

  // MARK: Writing

  /// Becomes the writer, if no other has a lease. Makes what is missing.
  public func acquireLease() throws -> ListCheckpoint<State>? {
    typealias Acquired = (holder: SQLiteTable.Holder, checkpoint: ListCheckpoint<State>)
    let acquired = try transaction(isMaking: true) { db, list -> Acquired? in
      guard let list else { return nil }
      var holder = SQLiteTable.Holder(epoch: list.epoch, identity: list.identity)
      if holder != lastHolder {
        if list.granted.isValid(at: .now) { return nil }
        holder = SQLiteTable.Holder(epoch: list.epoch + 1, identity: list.identity)
        try db.execute(
          sql: "UPDATE tailrace_lists SET epoch = ? WHERE name = ?",
          arguments: [holder.epoch, table.name])
      }
      try table.renew(holder, for: lease, in: db)
      // A state that cannot be read undoes the lease.
      let checkpoint = ListCheckpoint(
        count: list.count, state: try list.state.map(Self.state), stateCount: list.stateCount,
        isEnded: list.isEnded)
      return (holder, checkpoint)
    }
    timesTold = acquired == nil ? 0 : nil
    guard let acquired else { return nil }
    if acquired.holder != lastHolder {
      lastHolder = acquired.holder
      keep(acquired.holder)
    }
    return acquired.checkpoint
  }

  private static func state(_ json: String) throws -> State {
    do {
      return try JSONDecoder().decode(State.self, from: Data(json.utf8))
    } catch is DecodingError {
      throw ListStoreError.otherSchema(found: "state \(json)", expected: "state \(State.self)")
    }
  }

  /// Stores a commit at the end of the list, in one transaction.
  public func append(_ commit: ListCommit<Element, State>, at position: Int) throws {
    guard let lastHolder else { throw ListStoreError.superseded }
    let state = try commit.state.map {
      String(decoding: try JSONEncoder().encode($0), as: UTF8.self)
    }
    try transaction { db, list in
      guard let list, list.epoch == lastHolder.epoch, list.count == position, !list.isEnded else {
        throw ListStoreError.superseded
      }
      let update = try db.cachedStatement(
        sql: """
          UPDATE tailrace_lists SET count = count + :added, isEnded = :isEnd, expires = :expires,
            lease = :lease, stateCount = iif(:state IS NULL, stateCount, count + :added),
            state = ifnull(:state, state)
          WHERE name = :name
          """)
      try update.execute(
        arguments: [
          "added": commit.elements.count, "isEnd": commit.isEnd,
          "expires": (LeaseTime.now + lease).milliseconds, "lease": lease, "state": state,
          "name": table.name,
        ])
      let marks = repeatElement("?", count: known.columns.count + 1).joined(separator: ", ")
      let insert = try db.cachedStatement(sql: "INSERT INTO \(table.quoted) VALUES (\(marks))")
      for (index, element) in commit.elements.enumerated() {
        try insert.execute(arguments: [position + index] + StatementArguments(row(of: element)))
      }
    }
    SQLiteReader.look(at: table.path)
  }

  /// The values of an element, in the order of the columns.
  private func row(of element: Element) throws -> [DatabaseValue] {
    var values = try element.databaseDictionary
    let row = known.columns.map { values.removeValue(forKey: $0) ?? .null }
    if let column = values.keys.min() {
      throw ListStoreError.refused(
        "\(Element.self) has a column \(column), and the table \(table.name) has none")
    }
    return row
  }

  /// Discards elements before a position, whoever writes the list. Positions do not change. The
  /// elements after the last state are kept. A list that was never leased is not made.
  ///
  /// - Returns: the position of the first element kept.
  @discardableResult
  public func trim(before position: Int) async throws -> Int {
    guard try await reader.extent().identity != nil else { return 0 }
    return try transaction { db, list in
      guard let list else { return 0 }
      let first = max(list.first, min(position, list.stateCount))
      try db.execute(
        sql: "UPDATE tailrace_lists SET first = ? WHERE name = ?", arguments: [first, table.name])
      try db.execute(sql: "DELETE FROM \(table.quoted) WHERE position < ?", arguments: [first])
      return first
    }
  }

  // MARK: The lease

  /// Renews a lease three times while it lasts, until the lease is lost or the store released.
  private func keep(_ holder: SQLiteTable.Holder) {
    executor.run(after: Double(lease) / 3000) { [weak self] in
      self?.assumeIsolated { store in
        // A failure loses nothing: the next renewal may succeed, and the epoch decides.
        let isOurs = try? store.transaction { db, _ in
          try store.table.renew(holder, for: store.lease, in: db)
        }
        if isOurs != false { store.keep(holder) }
      }
    }
  }

  // MARK: The connection

  /// Changes the database: all, or nothing.
  ///
  /// - Parameters:
  ///   - isMaking: whether to make a list that was never leased.
  ///   - change: gets the list's row; `nil` for a list that was never leased.
  private func transaction<Value>(
    isMaking: Bool = false, _ change: (Database, SQLiteTable.List?) throws -> Value
  ) throws -> Value {
    try table.explaining(orClosing: { connection = nil }) {
      let file = try connection ?? open()
      connection = file
      let node = known.node ?? file.node
      try node.check(at: table.path)
      let before = known
      do {
        let value = try file.queue.write { db in
          var list = try known.list(of: table, in: db, file)
          if list == nil && isMaking {
            try table.make(in: db)
            list = try known.list(of: table, in: db, file)
          }
          return try change(db, list)
        }
        // Before anybody relies on it.
        try node.check(at: table.path)
        return value
      } catch {
        // What was seen inside of the transaction may never have been.
        known = before
        throw error
      }
    }
  }

  private func open() throws -> SQLiteFile {
    let opened = try table.open(isReader: false, after: known)
    try opened.queue.writeWithoutTransaction { db in
      try keepLog(in: db)
      try db.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
      if durability == .survivesPowerLoss {
        // Darwin's fsync leaves data in the disk's own memory; elsewhere these change nothing.
        try db.execute(sql: "PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1")
      }
    }
    return opened
  }

  /// Gives the database a write-ahead log. Readers and the writer need not wait for each other then.
  private func keepLog(in db: Database) throws {
    while true {
      do {
        return try db.execute(sql: "PRAGMA journal_mode = WAL")
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        // The change of mode does not wait for a lock. An exclusive transaction does, as the
        // connection is configured.
        try db.inTransaction(.exclusive) { .commit }
      }
    }
  }
}
