import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("Memos: how long, and who is told", .timeLimit(.minutes(15)), .inTurn)
struct MemosLifetimeTests {
  let scheduler = VirtualScheduler()
  let calls = Counter()

  @Test("idle: a value lives on for as long as it is used")
  func idle() async {
    let memos = Memos(lifetime: .idle(.seconds(10)), clock: scheduler.clock) { (_: Int) in
      calls.increment()
    }
    for _ in 0..<5 {
      #expect(await memos.value(for: 1) == 1)
      scheduler.advance(by: .seconds(9))
    }
    #expect(memos.peek(1) == 1)
    scheduler.advance(by: .seconds(1))
    #expect(memos.peek(1) == nil, "looking is no use")
    #expect(await memos.value(for: 1) == 2)
  }

  @Test("each value for its own time")
  func each() async {
    let memos = Memos(
      lifetime: .each { key, value in .seconds(key * 10 + value) }, clock: scheduler.clock
    ) { (_: Int) in calls.increment() }
    for key in 1...2 { _ = await memos.value(for: key) }
    scheduler.advance(by: .seconds(10))
    #expect(memos.peek(1) == 1)
    scheduler.advance(by: .seconds(1))
    #expect(memos.peek(1) == nil && memos.peek(2) == 2)
    scheduler.advance(by: .seconds(11))
    #expect(memos.peek(2) == nil)
  }

  /// Fails at every call but the first.
  private func failing(_ lifetime: Duration, _ serving: Duration?) -> Memos<Int, Int, any Error> {
    Memos(lifetime: .fixed(lifetime), servingStaleFor: serving, clock: scheduler.clock) {
      [calls] (_: Int) in
      let call = calls.increment()
      if call > 1 { throw Refused() }
      return call
    }
  }

  @Test("a load that fails after the lifetime gives the old value, for so long")
  func stale() async throws {
    let memos = failing(.seconds(10), .seconds(5))
    #expect(try await memos.value(for: 1) == 1)
    scheduler.advance(by: .seconds(10))
    #expect(memos.peek(1) == nil)
    for _ in 0..<2 {
      scheduler.advance(by: .seconds(2))
      #expect(try await memos.value(for: 1) == 1)
    }
    #expect(memos.statistics.servedStale == 2 && memos.statistics.failures == 2)
    #expect(memos.statistics.loads == 3 && memos.count == 1)
    scheduler.advance(by: .seconds(1))
    await #expect(throws: Refused.self) { try await memos.value(for: 1) }
    #expect(memos.count == 0)
  }

  @Test("what was forgotten stands in for nothing")
  func forgottenStale() async throws {
    let memos = failing(.seconds(10), .seconds(5))
    _ = try await memos.value(for: 1)
    scheduler.advance(by: .seconds(11))
    memos.forget(1)
    await #expect(throws: Refused.self) { try await memos.value(for: 1) }
  }

  @Test("to wait for the new value, and to get its failure; the old one stays")
  func refreshed() async throws {
    let memos = Memos { [calls] (_: Int) in
      let call = calls.increment()
      if call == 3 { throw Refused() }
      return call
    }
    #expect(try await memos.refreshedValue(for: 1) == 1)
    #expect(try await memos.refreshedValue(for: 1) == 2)
    await #expect(throws: Refused.self) { try await memos.refreshedValue(for: 1) }
    #expect(memos.peek(1) == 2)
    #expect(try await memos.refreshedValue(for: 1) == 4)
  }

  @Test("the hook is told of everything, in order, and may use the memos")
  func reporting() async throws {
    let events = Probe<String>()
    let holder = Locked<Memos<Int, Int, any Error>?>(nil)
    let memos = Memos(
      capacity: .count(1), lifetime: .seconds(10), servingStaleFor: .seconds(10),
      clock: scheduler.clock,
      reporting: { event in
        _ = holder.withLock { $0 }?.count
        events.record("\(event)")
      }
    ) { [calls] (key: Int) in
      if calls.increment() > 2 { throw Refused() }
      return key
    }
    holder.withLock { $0 = memos }
    for key in [1, 1, 2] { _ = try await memos.value(for: key) }
    scheduler.advance(by: .seconds(10))
    _ = try await memos.value(for: 2)
    _ = try? await memos.value(for: 3)
    let refused = String(reflecting: Refused())
    #expect(
      events.values == [
        "load(1)", "hit(1)", "load(2)", "eviction(1)", "load(2)", "failure(2, \(refused))",
        "servedStale(2)", "load(3)", "failure(3, \(refused))",
      ])
    holder.withLock { $0 = nil }
  }

  @Test("the hook is told of what became out of date, and of batches")
  func reportingMore() async throws {
    let events = Probe<String>()
    let sums = Memos<Int, Int, any Error>.recursive(reporting: { events.record("\($0)") }) {
      memos, key in key == 0 ? 0 : try await memos.value(for: 0)
    }
    _ = try await sums.value(for: 1)
    sums.forget(0)
    let users = Memos(batchSize: 5, reporting: { events.record("\($0)") }) { (keys: [Int]) in
      Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    _ = try await users.value(for: 7)
    #expect(events.values == ["load(1)", "load(0)", "outdated(1)", "load(7)", "batch(1)"])
  }
}
