import GRDB
import TailraceStored

/// The library of SQLite that this program runs with.
///
/// From 3.7.0 on until 3.51.3, a checkpoint that begins while another connection starts the
/// write-ahead log anew may take that connection's commits for copied: they are lost. 3.50.7 and
/// 3.44.6 have the repair, too.
struct SQLiteLibrary: Sendable {
  let version: String

  static let linked = SQLiteLibrary(
    version: (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") })
      ?? "of an unknown version")

  /// Whether commits that were acknowledged may be lost.
  var mayLoseCommits: Bool {
    let parts = version.split(separator: ".").map { Int($0) ?? 0 }
    guard parts.count >= 3 else { return true }
    switch (parts[0], parts[1]) {
    case (3, 44): return parts[2] < 6
    case (3, 50): return parts[2] < 7
    case (3, 51): return parts[2] < 3
    case (3, let minor): return minor < 51
    case (let major, _): return major < 3
    }
  }

  /// Refuses a library that may lose commits.
  func check() throws(ListStoreError) {
    guard mayLoseCommits else { return }
    throw .refused(
      "SQLite \(version) may lose commits when two connections write and checkpoint at the same "
        + "moment: use 3.51.3 or later, 3.50.7 or 3.44.6; or make the SQLiteStore with "
        + "oldLibrary: .mayLoseCommits")
  }
}
