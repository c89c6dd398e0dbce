import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// Where two promises of memos meet.
@Suite("Memos: where promises meet", .hangLimit, .inTurn)
struct MemosCrossingTests {
  typealias Numbers = Memos<Int, Int, any Error>

  // MARK: Bounds and remembered failures

  @Test(
    "a key that is computed again keeps its slot, although the last failure computed from it goes",
    arguments: [false, true])
  func slotInUse(byDemand: Bool) async throws {
    let time = VirtualScheduler()
    let memos = Numbers.recursive(
      capacity: .count(2), lifetime: byDemand ? .seconds(10) : .forever, retryingFailures: false,
      clock: time.clock
    ) { memos, key in
      if key == 1 {
        _ = try await memos.value(for: 0)
        throw Refused()
      }
      return key
    }
    await #expect(throws: Refused.self) { try await memos.value(for: 1) }
    _ = try await memos.value(for: 10)
    try #require(memos.peek(0) == nil)
    if byDemand {
      time.advance(by: .seconds(11))
      #expect(try await memos.value(for: 0) == 0)
    } else {
      #expect(try await memos.refreshedValue(for: 0) == 0)
    }
    #expect(memos.peek(0) == 0)
    for key in 20..<40 { _ = try await memos.value(for: key) }
    #expect(memos.count == 2)
  }

  // MARK: Cycles

  /// Files that use one another, and answer for themselves in a cycle.
  private final class Files: Sendable {
    let uses = Locked(["a": "b", "b": "a"])

    func build() -> Memos<String, String, any Error> {
      .recursive { [self] build, name in
        if name.hasPrefix("file ") {
          return uses.withLock { $0[String(name.dropFirst(5))] ?? "" }
        }
        let other = try await build.value(for: "file " + name)
        if other.isEmpty { return name }
        do { return name + (try await build.value(for: other)) } catch is CyclicEvaluationError {
          return name + "…"
        }
      }
    }
  }

  @Test("the answer to a cycle ends with it, in many orders")
  func answerToACycle() async throws {
    let options = ExplorationOptions(
      runs: Size.usual(500, full: 5_000), preemptions: Size.usual(3, full: 4))
    _ = try await explore(options) { run in
      let files = Files()
      let build = files.build()
      let first = try await build.value(for: "a")
      files.uses.withLock { $0["b"] = "" }
      build.forget("file b")
      let second = try await build.value(for: "a")
      try run.require(second == "ab", "first \(first), then \(second)")
    }
  }

  @Test(
    "a dependency that turns round is no cycle, also if the memos cannot fail",
    arguments: [false, true])
  func turnedRound(_ suspends: Bool) async {
    let (scheduler, answers) = (VirtualScheduler(), Probe<String>())
    let files = Locked(["main": "util", "util": ""])
    let build = Memos<String, String, Never>.recursive { build, name async in
      let other = files.withLock { $0[name] ?? "" }
      // Then the closure, and not the look at the inputs, is the last to wait.
      if suspends { try? await scheduler.clock.sleep(for: .seconds(1)) }
      return other.isEmpty ? name : await name + build.value(for: other)
    }
    func ask(_ name: String) {
      scheduler.schedule { () async in answers.record(await build.value(for: name)) }
      scheduler.advance(by: .seconds(10))
    }
    ask("main")
    files.withLock { $0 = ["main": "", "util": "main"] }
    build.forget("util")
    // Nobody has said that the other has changed, too; what it was computed from has.
    ask("main")
    ask("util")
    #expect(answers.values == ["mainutil", "main", "utilmain"])
  }

  // MARK: Absences

  @Test("what saw no value is out of date as soon as there is one")
  func absence() async throws {
    let memos = Memos<String, String, any Error>.recursive { memos, key async throws in
      key == "summary" ? "summary of " + (memos.peek("detail") ?? "nothing") : "the detail"
    }
    #expect(try await memos.value(for: "summary") == "summary of nothing")
    #expect(try await memos.value(for: "summary") == "summary of nothing")
    #expect(memos.statistics.loads == 1)
    _ = try await memos.value(for: "detail")
    #expect(memos.peek("summary") == nil)
    #expect(try await memos.value(for: "summary") == "summary of the detail")
    memos.forget("detail")
    #expect(try await memos.value(for: "summary") == "summary of nothing")
    memos.set("a known one", for: "detail")
    #expect(try await memos.value(for: "summary") == "summary of a known one")
  }

  @Test("to look for a value first, and then to wait for it, is one run")
  func absenceAndDemand() async throws {
    let calls = Counter()
    let memos = Numbers.recursive { memos, key in
      if key == 0 { return 7 }
      calls.increment()
      if let known = memos.peek(0) { return known }
      return try await memos.value(for: 0)
    }
    #expect(try await memos.value(for: 1) == 7 && memos.peek(1) == 7 && calls.value == 1)
  }

  // MARK: Reviews

  @Test("inputs that expire as fast as they are reviewed: each is waited for once")
  func boundedReview() {
    let (scheduler, runs, answers) = (VirtualScheduler(), Counter(), Probe<Int>())
    let takesTime = Locked(false)
    let memos = Numbers.recursive(
      lifetime: .each { key, _ in key == 0 ? .seconds(3_600) : .milliseconds(30) },
      clock: scheduler.clock
    ) { memos, key in
      if key > 0 {
        if takesTime.withLock({ $0 }) {
          try await scheduler.clock.sleep(for: .milliseconds(120))
        }
        return key
      }
      runs.increment()
      return try await memos.value(for: 1) + memos.value(for: 2) + memos.value(for: 3)
    }
    func ask(_ key: Int, then body: @escaping @Sendable (Int) -> Void) {
      scheduler.schedule { () async in body((try? await memos.value(for: key)) ?? -1) }
    }
    ask(0) { answers.record($0) }
    scheduler.advance(by: .seconds(1))
    #expect(answers.values == [6])
    takesTime.withLock { $0 = true }
    for key in 1...3 {
      for turn in 0..<1_000 {
        // In turns: no two of them are ever fresh at the same time.
        scheduler.schedule(after: .milliseconds(turn * 10 + key * 50)) { () async in
          _ = try? await memos.value(for: key)
        }
      }
    }
    scheduler.advance(by: .milliseconds(500))
    ask(0) { answers.record($0) }
    scheduler.advance(by: .seconds(1))
    #expect(answers.values == [6, 6] && runs.value <= 2)
    scheduler.run()
  }

  @Test(
    "an input that is forgotten again and again while it is reviewed: the former result is given")
  func forgottenInReview() {
    let (scheduler, runs, answers) = (VirtualScheduler(), Counter(), Probe<Int>())
    let memos = Numbers.recursive { memos, key in
      guard key == 0 else {
        try await scheduler.clock.sleep(for: .milliseconds(20))
        return key
      }
      runs.increment()
      return try await memos.value(for: 1)
    }
    func ask() {
      scheduler.schedule { () async in answers.record((try? await memos.value(for: 0)) ?? -1) }
    }
    ask()
    scheduler.advance(by: .seconds(1))
    memos.forget(1)
    let watcher = scheduler.schedule(every: .milliseconds(5)) { memos.forget(1) }
    ask()
    scheduler.advance(by: .seconds(1))
    #expect(answers.values == [1, 1] && runs.value == 1)
    watcher.cancel()
    scheduler.run()
  }

  @Test("inputs asked for at the same time are reviewed at the same time; others in their order")
  func concurrentReview() {
    let scheduler = VirtualScheduler()
    let (parsed, times, edition) = (Probe<Int>(), Probe<Duration>(), Counter())
    let build = Numbers.recursive { build, key in
      switch key {
      case 0:
        _ = try await build.value(for: 100)
        return try await withThrowingTaskGroup(of: Int.self) { group in
          for part in 1...10 { group.addTask { try await build.value(for: part) } }
          return try await group.reduce(0, +)
        }
      case 1...10:
        let input = try await build.value(for: key + 1_000)
        parsed.record(key)
        try await scheduler.clock.sleep(for: .milliseconds(50))
        return input * 0 + 1
      case 100:
        _ = try await build.value(for: 1_100)
        parsed.record(key)
        try await scheduler.clock.sleep(for: .milliseconds(50))
        return 0
      default: return key + edition.value
      }
    }
    for _ in 0..<2 {
      let start = scheduler.now
      scheduler.schedule { () async in
        #expect((try? await build.value(for: 0)) == 10)
        times.record(start.duration(to: scheduler.now))
      }
      scheduler.run()
      edition.increment()
      for key in 1_001...1_100 { build.forget(key) }
    }
    #expect(times.values == [.milliseconds(100), .milliseconds(100)])
    #expect(parsed.values[11] == 100)
  }

  // MARK: Refreshments

  @Test("a closure that refreshes its input depends on the value that it gets")
  func refreshedInput() async throws {
    let (prices, reports) = (Counter(), Counter())
    let memos = Numbers.recursive { memos, key in
      if key == 0 { return prices.increment() }
      reports.increment()
      return try await memos.refreshedValue(for: 0) * 100
    }
    _ = try await memos.value(for: 0)
    for _ in 0..<4 { #expect(try await memos.value(for: 1) == 200) }
    #expect(reports.value == 1 && prices.value == 2 && memos.peek(1) == 200)
    #expect(try await memos.refreshedValue(for: 0) == 3 && memos.peek(1) == nil)
  }

  @Test("a closure that forgets what it has asked for runs a few times, and its result is given")
  func forgetsItsInput() async throws {
    let runs = Counter()
    let memos = Numbers.recursive { memos, key in
      if key == 0 { return 1 }
      runs.increment()
      let value = try await memos.value(for: 0)
      memos.forget(0)
      return value
    }
    #expect(try await memos.value(for: 1) == 1)
    #expect(runs.value == 9 && memos.peek(1) == nil)
  }

  @Test("a value that is due: the old one at once, and its caller computes nothing")
  func due() {
    let (scheduler, versions, answers) = (VirtualScheduler(), Counter(), Probe<Int>())
    let memos = Memos(
      lifetime: .seconds(300), refreshingAfter: .seconds(240), clock: scheduler.clock
    ) { (_: Int) in versions.increment() }
    for _ in 0..<3 {
      scheduler.schedule { () async in
        let before = versions.value
        answers.record(await memos.value(for: 1))
        if before > 0 { #expect(versions.value == before) }
      }
      scheduler.advance(by: .seconds(250))
    }
    #expect(answers.values == [1, 1, 2])
  }

  @Test(
    "a load that throws during a refreshment of the same key: the old value stays, others get it")
  func failedRefreshment() async throws {
    let (gate, calls) = (Gate(), Counter())
    let memos = Memos { (_: Int) async throws in
      if calls.increment() > 1 {
        await gate.wait()
        throw Refused()
      }
      return 1
    }
    _ = try await memos.value(for: 1)
    let refreshed = Task { try await memos.refreshedValue(for: 1) }
    await gate.waitForArrivals(1)
    #expect(try await memos.value(for: 1) == 1)
    gate.open()
    await #expect(throws: Refused.self) { try await refreshed.value }
    #expect(try await memos.value(for: 1) == 1 && calls.value == 2)
  }

  @Test("an emptied cache gives nothing from before, also by what is computed from it")
  func cleared() async throws {
    let source = Locked(1)
    let (gate, calls) = (Gate(), Counter())
    let memos = Numbers.recursive { memos, key in
      if key == 0 {
        let value = source.withLock { $0 }
        if calls.increment() == 1 { await gate.wait() }
        return value
      }
      return try await memos.value(for: 0) * 10
    }
    let before = Task { try await memos.value(for: 1) }
    await gate.waitForArrivals(1)
    source.withLock { $0 = 2 }
    memos.forgetAll()
    #expect(try await memos.value(for: 1) == 20)
    gate.open()
    _ = try await before.value
    #expect(memos.peek(0) == 2 && memos.peek(1) == 20)
  }

  // MARK: Known values

  @Test("a value that is set is told to what was computed from another one, and to nothing else")
  func set() async throws {
    let (calls, gate) = (Counter(), Gate())
    let memos = Numbers.recursive { memos, key in
      if key == 0 { return 1 }
      if key == 5 {
        await gate.wait()
        return 5
      }
      calls.increment()
      return try await memos.value(for: 0) * 10
    }
    #expect(try await memos.value(for: 1) == 10)
    memos.set(1, for: 0)
    #expect(try await memos.value(for: 1) == 10 && calls.value == 1)
    memos.set(2, for: 0)
    #expect(memos.peek(0) == 2 && memos.peek(1) == nil)
    #expect(try await memos.value(for: 1) == 20 && calls.value == 2)
    let waiting = Task { try await memos.value(for: 5) }
    await gate.waitForArrivals(1)
    memos.set(50, for: 5)
    gate.open()
    #expect(try await waiting.value == 5 && memos.peek(5) == 50)
  }

  @Test("set in memos with a bound, a lifetime, or neither")
  func setPlain() async {
    let time = VirtualScheduler()
    let memos = Memos(capacity: .count(2), lifetime: .seconds(10), clock: time.clock) {
      (key: Int) in
      key
    }
    for key in 1...5 { memos.set(key * 2, for: key) }
    #expect(memos.count == 2 && memos.statistics.loads == 0)
    #expect(await memos.value(for: 5) == 10)
    time.advance(by: .seconds(10))
    #expect(await memos.value(for: 5) == 5)
  }

  @Test("several keys at once: each computed once, at the same time")
  func several() async throws {
    let (gate, calls) = (Gate(), Probe<Int>())
    let memos = Memos { (key: Int) async in
      calls.record(key)
      await gate.wait()
      return key * 2
    }
    let values = Task { await memos.values(for: [1, 2, 3, 2]) }
    await gate.waitForArrivals(3)
    gate.open()
    #expect(await values.value == [1: 2, 2: 4, 3: 6] && calls.values.sorted() == [1, 2, 3])
  }

  // MARK: Who is told, and who can leave

  @Test("a demand of memos that cannot fail can be left; the computation goes on")
  func left() async throws {
    let gate = Gate()
    let memos = Memos { (key: Int) async in
      await gate.wait()
      return key
    }
    let reader = Task { try await memos.throwingCancellation.value(for: 1) }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect(await memos.value(for: 1) == 1)
    #expect(try await memos.throwingCancellation.value(for: 1) == 1)
    // A cancelled task gets what there is, and begins nothing.
    func late(_ key: Int) -> Task<Int, any Error> {
      Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await memos.throwingCancellation.value(for: key)
      }
    }
    #expect(try await late(1).value == 1)
    await #expect(throws: CancellationError.self) { try await late(2).value }
    #expect(memos.statistics.loads == 1)
  }

  @Test("hits are told as they are counted; each demand is a hit or a load")
  func counted() async throws {
    let (events, gate) = (Probe<String>(), Gate())
    let pages = Memos(reporting: { events.record("\($0)") }) { (number: Int) async throws -> Int in
      await gate.wait()
      return number
    }
    let readers = (0..<5).map { _ in Task { try await pages.value(for: 1) } }
    while pages.statistics.hits < 4 { await Task.yield() }
    gate.open()
    for reader in readers { _ = try await reader.value }
    _ = try await pages.value(for: 1)
    #expect(pages.statistics.hits == 5 && events.values.count { $0 == "hit(1)" } == 5)
    let told = Probe<String>()
    let built = Numbers.recursive(reporting: { told.record("\($0)") }) { memos, key in
      key == 0 ? 10 : try await memos.value(for: key - 1) / 10
    }
    for _ in 0..<10 {
      _ = try await built.value(for: 1)
      built.forget(0)
    }
    // Ten from outside, one of the closure, and nine to look at the input again.
    #expect(built.statistics.hits + built.statistics.loads == 20)
    for _ in 0..<10 {
      built.forget(0)
      _ = try await built.value(for: 0)
      // Its input has come out equal already.
      _ = try await built.value(for: 1)
    }
    #expect(built.statistics.hits + built.statistics.loads == 40)
    #expect(told.values.count { $0.hasPrefix("hit") } == built.statistics.hits)
    #expect(told.values.count { $0.hasPrefix("load") } == built.statistics.loads)
  }

  @Test("where all values are computed again, a new key looks at none of them")
  func pinned() {
    var eviction = Eviction(limit: 1_000)
    for place in 0..<1_000 { eviction.admit(place, hash: place, cost: 1) }
    for place in 0..<1_000 { eviction.pin(place) }
    #expect(!eviction.hasRoom(for: 1) && eviction.removeFirst() == nil)
    let lines = eviction
    for _ in 0..<10 { #expect(eviction.removeFirst() == nil) }
    #expect("\(lines)" == "\(eviction)")
    for place in 0..<1_000 { eviction.unpin(place, cost: 2) }
    #expect(eviction.cost == 2_000)
  }
}
