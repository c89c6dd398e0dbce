import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Memos with a bound", .timeLimit(.minutes(15)), .inTurn)
struct MemosBoundTests {
  @Test("so many values, and no more", arguments: [1, 2, 3, 10, 100])
  func count(limit: Int) async {
    let memos = Memos(capacity: .count(limit)) { (key: Int) in key }
    for key in 0..<300 {
      #expect(await memos.value(for: key) == key)
      #expect(memos.count == min(key + 1, limit) && memos.peek(key) == key)
    }
    #expect(memos.statistics.evictions == 300 - limit)
  }

  @Test("values that cost so much; one that alone costs more is given, and not remembered")
  func cost() async {
    let costs = Counter()
    let memos = Memos(
      capacity: .cost(100) { (value: Int) in costs.increment(by: 1, giving: value) }
    ) { (key: Int) in key }
    for key in [60, 40, 30, 0, 100, 101, 5] {
      #expect(await memos.value(for: key) == key)
      #expect(await memos.value(for: key) == key)
      let sum = [60, 40, 30, 0, 100, 101, 5].compactMap { memos.peek($0) }.reduce(0, +)
      #expect(sum <= 100)
    }
    #expect(memos.peek(101) == nil)
    // Once for each computation: 101 was computed twice.
    #expect(costs.value == memos.statistics.loads && costs.value == 8)
  }

  @Test("a value of cost 0 costs 1: keys with empty values are evicted as others are")
  func free() async {
    let memos = Memos(capacity: .cost(10) { _ in 0 }) { (key: Int) in key }
    for key in 0..<100 { #expect(await memos.value(for: key) == key) }
    #expect(memos.count == 10 && memos.statistics.evictions == 90)
  }

  @Test("a value that costs something else after it was refreshed makes room")
  func refreshed() async {
    let sizes = Locked([1: 10, 2: 10, 3: 10])
    let memos = Memos(capacity: .cost(30) { $0 }) { (key: Int) in sizes.withLock { $0[key] ?? 0 } }
    for key in 1...3 { _ = await memos.value(for: key) }
    #expect(memos.count == 3)
    sizes.withLock { $0[1] = 20 }
    memos.refresh(1)
    #expect(memos.peek(1) == 20 && memos.count == 2)
    sizes.withLock { $0[1] = 31 }
    memos.refresh(1)
    #expect(memos.peek(1) == nil && memos.count == 1)
  }

  @Test("a failure that is remembered takes a place")
  func failures() async {
    let memos = Memos<Int, Int, Refused>(capacity: .count(5), retryingFailures: false) {
      (_: Int) throws(Refused) in
      throw Refused()
    }
    for key in 0..<20 { _ = try? await memos.value(for: key) }
    #expect(memos.count == 5 && memos.statistics.evictions == 15)
  }

  @Test("a value that is computed anew is not evicted, and is served meanwhile")
  func renewed() async {
    let (gate, calls) = (Gate(), Probe<Int>())
    let memos = Memos(capacity: .count(2)) { (key: Int) in
      calls.record(key)
      if key == 1, calls.values.count(where: { $0 == 1 }) == 2 { await gate.wait() }
      return key
    }
    _ = await memos.value(for: 1)
    memos.refresh(1)
    await gate.waitForArrivals(1)
    for key in 2..<100 { #expect(await memos.value(for: key) == key) }
    #expect(memos.peek(1) == 1 && memos.count == 2)
    gate.open()
    for key in 2..<100 { #expect(await memos.value(for: key) == key) }
    #expect(calls.values.count { $0 == 1 } == 2 && memos.count == 2)
  }

  @Test("a capacity of nothing traps, with words")
  func nothing() async {
    await #expect(processExitsWith: .failure) {
      _ = Memos(capacity: .count(0)) { (key: Int) in key }
    }
  }
}
