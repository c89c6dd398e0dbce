import Tailrace
import TailraceTesting
import Testing

/// The laws under `explore`: each operator, read by several tasks in many orders of their steps.
@Suite("Every order: each operator", .tags(.long), .hangLimit, .inTurn)
struct EveryOrderRowsTests {
  static let options = ExplorationOptions(
    runs: Size.usual(25, full: 2_000), preemptions: 3, randomRuns: Size.usual(15, full: 1_000))

  @Test(
    "one reads all, one leaves, one is cancelled: all get right answers, and each closure runs once",
    arguments: Row.all)
  func readers(_ row: Row) async throws {
    let (alonePulls, aloneCalls) = (Probe<Int>(), Calls())
    #expect(
      try await row.apply(SourceKind.asynchronous.make(alonePulls), aloneCalls).array()
        == row.elements)
    let inOrder = { @Sendable (calls: [Int]) in row.ahead == 0 ? calls : calls.sorted() }
    let (pullsAlone, callsAlone) = (alonePulls.values, inOrder(aloneCalls.probe.values))

    let summary = try await explore(Self.options) { run in
      let (pulls, calls) = (Probe<Int>(), Calls())
      let list = row.apply(SourceKind.asynchronous.make(pulls), calls)
      let leaver = run.spawn(name: "leaver") {
        var elements: [Int] = []
        for try await element in list {
          elements.append(element)
          if elements.count == 2 { break }
        }
        return elements
      }
      let cancelled = run.spawn(name: "cancelled") { try await list.array() }
      run.spawn(name: "canceller") {
        for _ in 0..<4 { await Task.yield() }
        cancelled.cancel()
      }
      let all = try await list.array()
      try run.require(all == row.elements, "the reader got \(all)")
      let first = try await leaver.value
      try run.require(first == Array(row.elements.prefix(2)), "the leaver got \(first)")
      switch await cancelled.result {
      case .success(let elements):
        try run.require(elements == row.elements, "the cancelled one got \(elements)")
      case .failure(let error):
        try run.require(error is CancellationError, "the cancelled one got \(error)")
      }
      try run.require(pulls.values == pullsAlone, "pulled \(pulls.values)")
      let made = inOrder(calls.probe.values)
      try run.require(made == callsAlone, "called for \(made)")
      try run.require(list.evaluatedCount == row.elements.count)
    }
    #expect(summary.jobsFromOutside == 0)
    #expect(summary.divergedRuns == 0)
  }

  @Test(
    "who meets a failing source: the same elements, then the failure, for each reader",
    arguments: Row.all.filter { !$0.recovers && $0.ahead == 0 })
  func failure(_ row: Row) async throws {
    /// What a reader gets before the failure, and whether that comes.
    @Sendable func read(_ list: Row.Source) async -> ([Int], Bool) {
      var elements: [Int] = []
      do {
        for try await element in list { elements.append(element) }
        return (elements, false)
      } catch {
        return (elements, error is Mishap)
      }
    }
    let alone = await read(
      row.apply(SourceKind.asynchronous.make(Probe(), failingAt: 4), Calls()))
    let summary = try await explore(Self.options) { run in
      let list = row.apply(SourceKind.asynchronous.make(Probe(), failingAt: 4), Calls())
      async let other = read(list)
      let (one, two) = (await read(list), await other)
      try run.require(one == alone, "one reader got \(one), and not \(alone)")
      try run.require(two == alone, "the other reader got \(two), and not \(alone)")
    }
    #expect(summary.jobsFromOutside == 0)
  }

  @Test(
    "a failed step is tried again, and each failed attempt is told", arguments: RetryTests.rows)
  func retries(_ row: RetryTests.RetryRow) async throws {
    let summary = try await explore(Self.options) { run in
      let attempts = RetryTests.Attempts()
      let source = RetryTests.List(state: 0) { state async throws in
        await Task.yield()
        state += 1
        return state <= 4 ? state : nil
      }
      let list = row.apply(source, attempts)
      let told = Counter()
      @Sendable func read() async throws -> [Int] {
        while true {
          do { return try await list.array() } catch is Mishap { told.increment() }
        }
      }
      let cancelled = run.spawn(name: "cancelled") { try await list.array() }
      run.spawn(name: "canceller") {
        await Task.yield()
        cancelled.cancel()
      }
      async let other = read()
      let (one, two) = (try await read(), try await other)
      try run.require(one == row.elements && two == row.elements, "\(one) and \(two)")
      let calls = attempts.calls.values.count { $0 == 3 }
      try run.require(calls == 3, "\(calls) attempts")
      var all = told.value
      if case .failure(let error) = await cancelled.result, error is Mishap { all += 1 }
      try run.require((2...6).contains(all), "two failed attempts were told \(all) times")
    }
    #expect(summary.jobsFromOutside == 0)
  }
}
