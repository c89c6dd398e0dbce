import Foundation
import GRDB
import SQLiteStore
import Walking

/// An element of a chain, as a row.
struct ChainRow: Codable, Equatable, FetchableRecord, EncodableRecord, ChainElement {
  var text: String
  var length: Int

  init(text: String) { (self.text, length) = (text, text.utf8.count) }
}

/// A chain in a database, with a lease that ends soon after a writer was killed.
func sqliteChain(
  _ path: String, _ durability: SQLiteStore<ChainRow, Link>.Durability
) -> SQLiteStore<ChainRow, Link> {
  SQLiteStore(
    URL(filePath: path), list: "chain", durability: durability, lease: .milliseconds(300),
    oldLibrary: .mayLoseCommits
  ) { table in
    table.column("text", .text).notNull()
    table.column("length", .integer).notNull()
  }
}
