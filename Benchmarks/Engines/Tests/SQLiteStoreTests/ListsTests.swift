import Foundation
import GRDB
import SQLiteStore
import Tailrace
import TailraceStored
import TailraceTesting
import Testing
import Walking

@testable import enginewalk

@Suite("SQLiteStore: lists", .timeLimit(.minutes(2)))
struct ListsTests {
  @Test("elements are rows of typed columns")
  func columns() async throws {
    let place = try Place()
    #expect(try await items(in: place.store(), upTo: 6).count() == 6)
    #expect(try place.number("SELECT sum(number) FROM items WHERE weight < 1") == 6)
    #expect(try place.number("SELECT count(*) FROM items WHERE note IS NULL") == 2)
    #expect(try place.number("SELECT max(position) FROM items") == 5)
    #expect(try place.number("SELECT count(*) FROM items WHERE typeof(weight) = 'real'") == 6)
    #expect(try await LazyList(reading: place.store()).array() == (0..<6).map(Item.init))
  }

  @Test("a list goes on where it stopped, in order and once", arguments: [1, 7, 64, 1000])
  func continuation(_ part: Int) async throws {
    let place = try Place()
    let steps = Probe<Int>()
    for life in 1...3 {
      let store = place.store()
      let list = items(in: store, upTo: 3 * part, steps: steps)
      #expect(try await list.prefix(life * part).count() == life * part)
    }
    #expect(try await items(in: place.store(), upTo: 3 * part, steps: steps).count() == 3 * part)
    #expect(steps.values == Array(0..<3 * part))
    #expect(
      try await LazyList(reading: place.store()).array() == (0..<3 * part).map(Item.init))
  }

  @Test("several lists in one database do not see each other")
  func several() async throws {
    let place = try Place()
    let names = ["one", "a; drop 'table' [x]", "select", "élan"]
    try await withThrowingTaskGroup { group in
      for (index, name) in names.enumerated() {
        group.addTask {
          let count = try await items(in: place.store(name), upTo: 20 + index).count()
          #expect(count == 20 + index)
        }
      }
      try await group.waitForAll()
    }
    for (index, name) in names.enumerated() {
      let stored = try await LazyList(reading: place.store(name)).array()
      #expect(stored == (0..<20 + index).map(Item.init))
    }
  }

  @Test("nothing is opened or made before a demand, and reading makes nothing")
  func laziness() async throws {
    let place = try Place()
    let opened = Probe<Int>()
    var configuration = Configuration()
    configuration.prepareDatabase { _ in opened.record(1) }
    let store = place.store(configuration: configuration)
    let list = items(in: store, upTo: 1)
    let follower = LazyList(reading: place.store(configuration: configuration))
    #expect(!place.exists && opened.count == 0)
    #expect(try await store.read(from: 0, upTo: 1) == ListPage([]))
    let following = Task { try await follower.array() }
    let waiting = Task { try await store.waitForMore(than: 0) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(!place.exists && opened.count == 0)
    #expect(try await list.array() == [Item(0)])
    #expect(try await following.value == [Item(0)])
  }

  @Test("three lists of three stores write at once, and agree", arguments: [1, 2, 3])
  func stores(_ round: Int) async throws {
    let place = try Place()
    let steps = Probe<Int>()
    let results = try await atOnce {
      items(in: place.store(), atTail: .computeOrFollow, upTo: 200, steps: steps)
    }
    #expect(results == Array(repeating: (0..<200).map(Item.init), count: 3))
    #expect(steps.values.sorted() == Array(0..<200))
  }

  @Test("three lists of one store write at once, and agree")
  func oneStore() async throws {
    let place = try Place()
    let store = place.store()
    let results = try await atOnce { items(in: store, upTo: 200) }
    #expect(results == Array(repeating: (0..<200).map(Item.init), count: 3))
    #expect(try place.number("SELECT count(*) FROM items") == 200)
    #expect(try place.number("SELECT count(DISTINCT number) FROM items") == 200)
  }

  /// The elements of three lists, demanded one by one.
  private func atOnce(
    _ list: () -> LazyList<Item, any Error>
  ) async throws -> [[Item]] {
    try await withThrowingTaskGroup { group in
      for _ in 0..<3 {
        let list = list()
        group.addTask {
          var elements: [Item] = []
          for try await element in list { elements.append(element) }
          return elements
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test("twenty stores make a database at once")
  func creation() async throws {
    let place = try Place()
    let leases = try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask { try await place.store("list \(number % 4)").acquireLease() }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(leases.count { $0 != nil } >= 4)
    #expect(try place.number("SELECT count(*) FROM tailrace_lists") == 4)
  }

  @Test("a store waits for a program that writes a database of another mode")
  func otherMode() async throws {
    let place = try Place()
    let writer = try place.blocker()
    try await writer.writeWithoutTransaction {
      try $0.execute(sql: "BEGIN IMMEDIATE; CREATE TABLE notes (text)")
    }
    var configuration = Configuration()
    configuration.busyMode = .callback { count in
      if count == 0 {
        do {
          try writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        } catch {
          Issue.record(error)
        }
      }
      return true
    }
    #expect(try await place.store(configuration: configuration).acquireLease() != nil)
    #expect(try place.value("PRAGMA journal_mode") == "wal")
    #expect(try place.number("SELECT count(*) FROM notes") == 0)
  }

  @Test("appends of this process wake those who wait, in other stores too")
  func waking() async throws {
    let place = try Place()
    let (writer, reader) = (place.store(), place.store())
    _ = try await writer.acquireLease()
    for position in 0..<50 {
      async let woken: Void = reader.waitForMore(than: position)
      try await writer.append(commit(position..<position + 1), at: position)
      try await woken
      #expect(try await reader.read(from: position, upTo: 1).elements == [Item(position)])
    }
  }

  @Test("such a wake does not wait for the next look")
  func wakingAtOnce() async throws {
    let place = try Place()
    let looks = Probe<ContinuousClock.Instant>()
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      db.trace { if "\($0)" == "PRAGMA data_version" { looks.record(.now) } }
    }
    let (writer, reader) = (place.store(), place.store(configuration: configuration))
    _ = try await writer.acquireLease()
    var intervals: [Duration] = []
    for position in 0..<5 {
      async let woken: Void = reader.waitForMore(than: position)
      // By now a look follows the other after 32 milliseconds, and one has just been made.
      await looks.waitForCount(looks.count + 10)
      let count = looks.count
      try await writer.append(commit(position..<position + 1), at: position)
      try await woken
      let times = looks.values
      intervals.append(times[count] - times[count - 1])
    }
    #expect(intervals.contains { $0 < .milliseconds(25) }, "\(intervals)")
  }

  @Test("a reader behind the first element kept is told; positions and the state stay")
  func trimming() async throws {
    let place = try Place()
    let store = place.store()
    #expect(try await items(in: store).prefix(10).count() == 10)
    #expect(try await store.trim(before: 4) == 4)
    #expect(try await store.trim(before: 2) == 4)
    await #expect(throws: ListStoreError.trimmed(first: 4)) {
      try await LazyList(reading: store).prefix(1).array()
    }
    let rest = try await LazyList(reading: store, from: 4).prefix(6).array()
    #expect(rest == (4..<10).map(Item.init))
    // An element without a state after it is needed to rebuild that.
    try await store.append(ItemCommit([Item(10)], state: nil), at: 10)
    #expect(try await store.trim(before: 100) == 10)
    #expect(
      try await store.acquireLease()
        == ListCheckpoint(count: 11, state: 10, stateCount: 10, isEnded: false))
    #expect(try place.number("SELECT count(*) FROM items") == 1)
  }

  @Test("a durability is the connection's own", arguments: ItemStore.Durability.allCases)
  func durability(_ durability: ItemStore.Durability) async throws {
    let place = try Place()
    let trace = Probe<String>()
    let configuration = traced("PRAGMA synchronous", into: trace)
    let store = place.store(durability: durability, configuration: configuration)
    _ = try await store.acquireLease()
    #expect(
      trace.values.last
        == "PRAGMA synchronous = \(durability == .survivesPowerLoss ? "FULL" : "NORMAL")")
    #expect(try place.value("PRAGMA journal_mode") == "wal")
  }

  @Test(
    "the disk's own memory is no disk: Darwin is asked for more",
    arguments: ItemStore.Durability.allCases)
  func fullSync(_ durability: ItemStore.Durability) async throws {
    let place = try Place()
    let trace = Probe<String>()
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      db.trace { if "\($0)".contains("fullfsync") { trace.record("\($0)") } }
    }
    _ = try await place.store(durability: durability, configuration: configuration).acquireLease()
    #expect(
      trace.values
        == (durability == .survivesPowerLoss
          ? ["PRAGMA fullfsync = 1", "PRAGMA checkpoint_fullfsync = 1"] : []))
  }

  @Test("a follower in another process, which waits for the database")
  func otherProcess() async throws {
    let place = try Place()
    let follower = try Child("enginewalk", ["follow", "sqlite", place.url.path])
    defer { follower.signal(SIGKILL) }
    let list = Walk.chain(in: sqliteChain(place.url.path, .survivesProcess), upTo: 100)
    var check = ChainCheck()
    for try await element in list { try check.pass(element) }
    #expect(await follower.lastLine() == "end 100 \(check.link.hash)")
  }
}
