import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// Marks that pass so many dependents that they take several turns under the lock.
@Suite("Recursive memos: what happens between two turns of a mark", .hangLimit, .inTurn)
struct RecursiveTableTests {
  typealias Numbers = Memos<Int, Int, any Error>
  typealias Table = RecursiveTable<Int, Int, any Error>

  static let count = 300

  /// The value of 0, and many that are computed from it.
  func memos() async throws -> Numbers {
    let memos = Numbers.recursive { memos, key in
      key == 0 ? 1 : try await memos.value(for: 0) * 1_000 + key
    }
    for key in 0...Self.count { _ = try await memos.value(for: key) }
    return memos
  }

  enum Event: CaseIterable { case forget, set }

  @Test(
    "what is not marked yet is served, what is marked is not, nor that from which the mark comes",
    arguments: Event.allCases)
  func turns(_ event: Event) async throws {
    let memos = try await memos()
    let asker = DependencyGraph.Asker(Self.count + 7, 1)
    var turns = 0
    func look(_ table: inout Table, isDone: Bool) {
      let served = (1...Self.count).filter { table.base.peek($0, at: 0) != nil }
      // A value that is set is forgotten first: those that the second mark has passed, the first one passes again.
      #expect(isDone ? served.isEmpty : turns > 1 || !served.isEmpty)
      #expect(table.base.count == served.count + (isDone && event == .set ? 1 : 0))
      for key in served.prefix(1) {
        let hit = table.base.hit(key, at: 0)
        let place = table.base.slots.place(of: key)
        let asked = place.flatMap { table.hit(in: $0, by: asker, in: 0, at: 0) }
        #expect(hit == 1_000 + key && place != nil && asked == nil, "computations wait")
      }
      let origin = table.base.hit(0, at: 0)
      #expect(origin == (isDone && event == .set ? 2 : nil))
    }
    memos.store.table.withLock { table in
      var leavings = Table.Table.Leavings()
      switch event {
      case .forget: table.forget(0, &leavings)
      case .set: table.set(2, for: 0, 1, nil, equalTo: nil, at: 0, &leavings)
      }
      while !table.settleDown(&leavings) {
        turns += 1
        look(&table, isDone: false)
      }
      look(&table, isDone: true)
      #expect(table.brokenInvariant == nil)
    }
    #expect(turns >= Self.count / Table.slice - 1 && memos.statistics.outdated == Self.count)
  }

  @Test("an event that comes between two turns begins when the mark has ended")
  func between() async throws {
    let memos = try await memos()
    memos.store.table.withLock { table in
      var leavings = Table.Table.Leavings()
      table.forget(0, &leavings)
      let isDone = table.settleDown(&leavings)
      #expect(!isDone)
    }
    // It is served, so it is a hit; what has to be computed is an event.
    #expect(try await memos.value(for: Self.count) == 1_000 + Self.count)
    #expect(try await memos.value(for: -1) == 999)
    #expect(memos.peek(Self.count) == nil && memos.statistics.outdated == Self.count)
    #expect(memos.store.table.withLock { $0.brokenInvariant } == nil)
  }

  @Test("many slots that nobody needs any more go in several turns", arguments: [false, true])
  func freed(isAbandoned: Bool) async throws {
    let memos = Numbers.recursive(capacity: .count(1)) { memos, key in
      key == 0 ? 0 : try await memos.value(for: key - 1) + 1
    }
    #expect(try await memos.value(for: Self.count) == Self.count)
    #expect(memos.store.table.withLock { $0.base.slots.index.count } == Self.count + 1)
    if isAbandoned { memos.store.abandon() }
    memos.forget(Self.count)
    #expect(memos.store.table.withLock { $0.base.slots.index.count } == 0)
    #expect(memos.store.table.withLock { $0.brokenInvariant } == nil)
  }

  @Test("on all threads: nobody sees a new value beside one that was computed from the old one")
  func together() async throws {
    let memos = try await memos()
    let changes = Size.usual(100, full: 2_000)
    await withTaskGroup { group in
      group.addTask {
        for change in 2...changes { memos.set(change, for: 0) }
        memos.set(0, for: -1)
      }
      for reader in 1...4 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(reader))
          while memos.peek(-1) == nil {
            let key = Int.random(in: 1...Self.count, using: &random)
            do {
              let first = try await memos.value(for: 0)
              let second = try await (memos.value(for: key) - key) / 1_000
              let third = try await memos.value(for: 0)
              #expect(first <= second && second <= third)
            } catch { Issue.record(error) }
          }
        }
      }
    }
    #expect(try await memos.value(for: 7) == changes * 1_000 + 7)
    #expect(memos.store.table.withLock { $0.brokenInvariant } == nil)
  }
}
