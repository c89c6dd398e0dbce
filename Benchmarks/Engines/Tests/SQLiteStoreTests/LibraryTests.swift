import GRDB
import Tailrace
import TailraceStored
import Testing

@testable import SQLiteStore

@Suite("SQLiteStore: libraries whose write-ahead log may lose commits")
struct LibraryTests {
  @Test(
    "versions with the error and with the repair",
    arguments: [
      ("3.7.0", true), ("3.40.1", true), ("3.44.5", true), ("3.44.6", false), ("3.44.10", false),
      ("3.45.0", true), ("3.50.6", true), ("3.50.7", false), ("3.51.2", true), ("3.51.3", false),
      ("3.52.0", false), ("3.53.1", false), ("4.0.0", false), ("of an unknown version", true),
    ])
  func versions(_ version: String, _ mayLoseCommits: Bool) {
    #expect(SQLiteLibrary(version: version).mayLoseCommits == mayLoseCommits)
  }

  @Test("a store tells of an old library at the first call that opens a database, and makes none")
  func refusal() async throws {
    let place = try Place()
    let store = store(place, SQLiteLibrary(version: "3.51.2"))
    await expectRefusal { _ = try await store.acquireLease() }
    #expect(!place.exists)
    #expect(try await items(in: place.store()).prefix(1).count() == 1)
    await expectRefusal { _ = try await store.acquireLease() }
    await expectRefusal { _ = try await store.read(from: 0, upTo: 1) }
    await expectRefusal { _ = try await store.extent() }
    await expectRefusal { try await store.trim(before: 1) }
    await expectRefusal { try await store.waitForMore(than: 1) }
  }

  @Test("a repaired library is used without a word")
  func repaired() async throws {
    let place = try Place()
    let list = items(in: store(place, SQLiteLibrary(version: "3.51.3")))
    #expect(try await list.prefix(2).count() == 2)
  }

  @Test("without the option the library of this machine is checked")
  func linked() async throws {
    let place = try Place()
    let version: String? = try await DatabaseQueue().read {
      try String.fetchOne($0, sql: "SELECT sqlite_version()")
    }
    #expect(SQLiteLibrary.linked.version == version)
    let store = ItemStore(place.url, list: "items", columns: Item.define)
    if SQLiteLibrary.linked.mayLoseCommits {
      await expectRefusal(version ?? "") { _ = try await store.acquireLease() }
    } else {
      #expect(try await store.acquireLease() != nil)
    }
  }

  private func store(_ place: Place, _ library: SQLiteLibrary) -> ItemStore {
    ItemStore(
      place.url, list: "items", durability: .survivesProcess, lease: .seconds(60), library: library,
      configuration: Configuration(), columns: Item.define)
  }

  private func expectRefusal(
    _ version: String = "3.51.2", _ location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
  ) async {
    await #expect(sourceLocation: location) {
      try await body()
    } throws: {
      guard case ListStoreError.refused(let reason) = $0 else { return false }
      return reason.hasPrefix("SQLite \(version) may lose commits")
        && reason.contains("3.51.3") && reason.contains("oldLibrary: .mayLoseCommits")
    }
  }
}
