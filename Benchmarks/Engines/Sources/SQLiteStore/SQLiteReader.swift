import Foundation
import GRDB
import Synchronization
import Tailrace
import TailraceStored

/// Reads a list, and looks for changes while somebody waits. Its connection cannot write.
actor SQLiteReader {
  private struct Waiter {
    let position: Int
    /// From when on the waiter wants to know that the lease is free.
    let leaseTime: LeaseTime?
    let continuation: CheckedContinuation<Bool, any Error>
  }

  /// The readers of this process for which somebody waits, by the path of their database.
  private static let awaited = Mutex<[String: [ObjectIdentifier: SQLiteReader]]>([:])

  /// Tells the readers of this process that a database has changed.
  static func look(at path: String) {
    for reader in awaited.withLock({ $0[path] ?? [:] }).values {
      reader.executor.run { reader.assumeIsolated { _ = $0.look() } }
    }
  }

  private nonisolated let executor = BlockingExecutor()
  private let table: SQLiteTable
  private var connection: SQLiteFile?
  private var known = SeenList()
  private var waiters: [Int: Waiter] = [:]
  private var lastWaiter = 0
  /// The list's row, as of a version of the database.
  private var seen: (version: Int, list: SQLiteTable.List?)?
  /// The seconds between two looks; `nil` if nobody waits.
  private var pause: Double?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ table: SQLiteTable) { self.table = table }

  // MARK: Reading

  func page<Element: FetchableRecord & Sendable>(
    from position: Int, upTo count: Int
  ) throws -> ListPage<Element> {
    let page = try read(at: position) { db, file -> ListPage<Element>? in
      guard let list = try known.list(of: table, in: db, file) else { return nil }
      if position < list.first { throw ListStoreError.trimmed(first: list.first) }
      let wanted = min(count, list.count - position)
      guard wanted > 0 else { return ListPage([], isEnd: list.isEnded) }
      var elements: [Element] = []
      do {
        let select = try db.cachedStatement(
          sql: "SELECT * FROM \(table.quoted) WHERE position >= ? ORDER BY position LIMIT ?")
        let rows = try Row.fetchCursor(select, arguments: [position, wanted])
        while let row = try rows.next(), row["position"] == position + elements.count {
          elements.append(try Element(row: row))
        }
        if elements.isEmpty { throw ListStoreError.damaged(at: position) }
      } catch {
        // The failure belongs to its position: the read that continues there gets it.
        if elements.isEmpty { throw error }
      }
      return ListPage(
        elements, isEnd: list.isEnded && position + elements.count == list.count)
    }
    return page ?? ListPage([])
  }

  /// Identity, first element, count and end: of one row.
  func extent() throws -> ListExtent {
    guard let list = try read(at: 0, { try known.list(of: table, in: $0, $1) }) else {
      return ListExtent(identity: nil, count: 0, isEnded: false)
    }
    return ListExtent(
      identity: list.identity, first: list.first, count: list.count, isEnded: list.isEnded)
  }

  /// Reads in one transaction; `nil` if there is no database yet.
  private func read<Value>(
    at position: Int, _ body: (Database, SQLiteFile) throws -> Value?
  ) throws -> Value? {
    try table.explaining(at: position, orClosing: { connection = nil }) {
      if connection == nil {
        guard known.identity != nil || FileManager.default.fileExists(atPath: table.path) else {
          return nil
        }
        connection = try table.open(isReader: true, after: known)
        seen = nil
      }
      guard let file = connection else { return nil }
      try (known.node ?? file.node).check(at: table.path)
      return try file.queue.read { try body($0, file) }
    }
  }

  // MARK: Waiting

  /// Waits for more elements than `position`, for the end, or for a lease that is free.
  ///
  /// - Returns: whether the lease is free.
  func wait(for position: Int, orLeaseAt leaseTime: LeaseTime?) async throws -> Bool {
    lastWaiter += 1
    let number = lastWaiter
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiters[number] = Waiter(
          position: position, leaseTime: leaseTime, continuation: continuation)
        if pause == nil {
          Self.awaited.withLock { $0[table.path, default: [:]][ObjectIdentifier(self)] = self }
          pause = 0.001
          lookAgain()
        } else {
          look()
        }
      }
    } onCancel: {
      // Runs after the waiter has entered: this actor is busy with it until then.
      executor.run {
        self.assumeIsolated {
          $0.waiters.removeValue(forKey: number)?.continuation.resume(throwing: CancellationError())
        }
      }
    }
  }

  /// Looks, and again while somebody waits: less and less often when nothing changes.
  private func lookAgain() {
    guard !waiters.isEmpty, let last = pause else {
      pause = nil
      Self.awaited.withLock { $0[table.path]?[ObjectIdentifier(self)] = nil }
      return
    }
    let next = look() ? 0.001 : min(last * 2, 0.032)
    pause = next
    executor.run(after: next) { self.assumeIsolated { $0.lookAgain() } }
  }

  /// Resumes those whose wait is over. Returns whether the database has changed.
  @discardableResult
  private func look() -> Bool {
    do {
      let last = seen?.version
      let list = try read(at: waiters.values.map(\.position).min() ?? 0) { db, file in
        // Counts the commits of all other connections.
        let version = try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0
        if version != seen?.version { seen = (version, try known.list(of: table, in: db, file)) }
        return seen?.list
      }
      guard let list else { return seen?.version != last }
      let now = LeaseTime.now
      for (number, waiter) in waiters {
        let hasMore = list.count > waiter.position || list.isEnded
        let isFree = waiter.leaseTime.map { $0 <= now && !list.granted.isValid(at: now) } ?? false
        guard hasMore || isFree else { continue }
        waiters[number] = nil
        waiter.continuation.resume(returning: !hasMore)
      }
      return seen?.version != last
    } catch {
      for waiter in waiters.values { waiter.continuation.resume(throwing: error) }
      waiters = [:]
      return false
    }
  }
}
