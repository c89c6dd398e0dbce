import Dispatch
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("explore: what it runs, and in which orders", .hangLimit, .inTurn)
struct ExploreTests {
  static let every = ExplorationOptions(
    runs: 5_000, preemptions: .max, randomRuns: 0, patience: .milliseconds(2))

  /// The results of a body in all its orders, each once.
  static func results(
    _ options: ExplorationOptions = every,
    body: @escaping @Sendable (ExplorationRun) async throws -> String
  ) async throws -> (found: Set<String>, summary: ExplorationSummary) {
    let found = Probe<String>()
    let summary = try await explore(options) { run in found.record(try await body(run)) }
    return (Set(found.values), summary)
  }

  static let orders: Set = ["abc", "acb", "bac", "bca", "cab", "cba"]

  // MARK: What is caught

  @Test("child tasks run in every order: of a group, of async let")
  func children() async throws {
    let group = try await Self.results { _ in
      await withTaskGroup(of: String.self) { group in
        for name in ["a", "b", "c"] { group.addTask { name } }
        return await group.reduce("", +)
      }
    }
    #expect(group.found == Self.orders)
    #expect(group.summary.triedAllOrders)
    #expect(group.summary.jobsFromOutside == 0)

    let lets = try await Self.results { _ in
      let probe = Probe<String>()
      async let a: Void = probe.record("a")
      async let b: Void = probe.record("b")
      async let c: Void = probe.record("c")
      _ = await (a, b, c)
      return probe.values.joined()
    }
    #expect(lets.found == Self.orders)
    #expect(lets.summary.triedAllOrders)
  }

  @Test("spawned tasks, and tasks that prefer the executor")
  func tasks() async throws {
    let (found, summary) = try await Self.results { run in
      let probe = Probe<String>()
      let a = run.spawn { probe.record("a") }
      let b = Task(executorPreference: run.executor) { probe.record("b") }
      let c = run.spawn { () async throws in probe.record("c") }
      _ = (await a.value, await b.value, try await c.value)
      return probe.values.joined()
    }
    #expect(found == Self.orders)
    #expect(summary.triedAllOrders && summary.jobsFromOutside == 0)
  }

  private actor Words {
    var words = ""
    func add(_ word: String) { words += word }
    func addSlowly(_ word: String) async {
      let before = words
      await Task.yield()
      words = before + word
    }
  }

  @Test("calls of an actor, and what happens while it awaits")
  func actors() async throws {
    let calls = try await Self.results { _ in
      let words = Words()
      async let a: Void = words.add("a")
      async let b: Void = words.add("b")
      _ = await (a, b)
      return await words.words
    }
    #expect(calls.found == ["ab", "ba"])
    let slow = try await Self.results { _ in
      let words = Words()
      async let a: Void = words.addSlowly("a")
      async let b: Void = words.addSlowly("b")
      _ = await (a, b)
      return await words.words
    }
    #expect(slow.found == ["ab", "ba", "a", "b"])
    #expect(slow.summary.triedAllOrders && slow.summary.jobsFromOutside == 0)
  }

  @Test("a stream, a continuation, and a cancellation")
  func others() async throws {
    let (found, summary) = try await Self.results { run in
      let (stream, continuation) = AsyncStream<String>.makeStream()
      let reader = run.spawn {
        var all = ""
        for await word in stream { all += word }
        return all + (Task.isCancelled ? "!" : "")
      }
      run.spawn { reader.cancel() }
      continuation.yield("a")
      await withCheckedContinuation { waiting in
        _ = run.spawn {
          continuation.yield("b")
          waiting.resume()
        }
      }
      continuation.finish()
      return await reader.value
    }
    #expect(found.isSuperset(of: ["ab", "a!", "ab!"]))
    #expect(summary.jobsFromOutside == 0)
  }

  @Test(
    "a yield is one step: two tasks of n yields have as many orders as words of n + 1 and n + 1 letters"
  )
  func yields() async throws {
    for (yields, orders) in [(0, 2), (1, 6), (2, 20), (3, 70)] {
      let (_, summary) = try await Self.results { run in
        for _ in 0..<2 { run.spawn { for _ in 0..<yields { await Task.yield() } } }
        return ""
      }
      // And where the body's own last step comes is no choice: it waits for both.
      #expect("\(summary)" == "all \(orders) orders")
    }
  }

  @Test("the code runs one step at a time, and finds the run's scheduler")
  func isolation() async throws {
    let inside = Counter()
    try await explore(ExplorationOptions(runs: 50, randomRuns: 0)) { run in
      for _ in 0..<4 {
        run.spawn {
          for _ in 0..<3 {
            if inside.increment() != 1 { run.fail("two at once") }
            if currentScheduler !== run.executor { run.fail("elsewhere") }
            inside.increment(by: -1)
            await Task.yield()
          }
        }
      }
    }
  }

  // MARK: What is not

  @Test("others on the same actor get their turns while it explores")
  @MainActor func turnsOfOthers() async throws {
    let turns = Counter()
    let other = Task {
      while !Task.isCancelled {
        turns.increment()
        await Task.yield()
      }
    }
    while turns.value == 0 { await Task.yield() }
    let before = turns.value
    let options = ExplorationOptions(runs: 5, preemptions: 0, randomRuns: 4)
    // Here, and not where explore runs.
    let runner = Runner(options, watches: false) { _ in
      // Longer than others wait at most.
      let begin = ContinuousClock.now
      while ContinuousClock.now - begin < .milliseconds(6) {}
      async let one: Void = Task.yield()
      async let two: Void = Task.yield()
      _ = await (one, two)
    }
    Exploring.begin()
    defer { Exploring.end() }
    let summary = try await runner.explore()
    #expect(summary.runs > 2 && turns.value - before >= summary.runs - 1)
    other.cancel()
  }

  @Test("jobs from elsewhere are counted, and waited for, if a test allows them")
  func outside() async throws {
    let options = ExplorationOptions(
      runs: 3, preemptions: 0, randomRuns: 0, patience: .seconds(60), allowsJobsFromOutside: true)
    // A task that is over before it is awaited brings no job.
    let bodies: [(ClosedRange<Int>, @Sendable () async -> Void)] = [
      (0...1, { await Task { await Task.yield() }.value }),
      (0...1, { await Task.detached {}.value }),
      (1...1, { await MainActor.run {} }),
      (1...1, { try? await Task.sleep(for: .milliseconds(50)) }),
    ]
    for (jobs, body) in bodies {
      let summary = try await explore(options) { _ in await body() }
      #expect(jobs.contains(summary.jobsFromOutside))
    }
    let failure = await #expect(throws: ExplorationFailure.self) {
      try await explore(options) { run in
        await MainActor.run {}
        run.fail("wrong")
      }
    }
    #expect(failure?.jobsFromOutside == 1)
    #expect(failure?.report.contains("1 for body") == true)
  }

  @MainActor private final class SearchModel {
    private(set) var shown: [String] = []
    private var task: Task<Void, Never>?
    func search(_ text: String, find: @escaping @Sendable (String) async -> [String]) {
      task?.cancel()
      task = Task { shown = await find(text) }
    }
    func wait() async { await task?.value }
  }

  @Test("a run with jobs from elsewhere fails, with words: it says little")
  func failsByJobsFromOutside() async throws {
    let failure = try await #require(throws: ExplorationFailure.self) {
      try await explore(ExplorationOptions(patience: .seconds(60))) { _ in
        let model = SearchModel()
        for text in ["t", "te"] {
          await model.search(text) {
            await Task.yield()
            return [$0]
          }
        }
        await model.wait()
      }
    }
    guard case .jobsFromOutside(let count) = failure.reason else { throw failure }
    // One that is resumed before it has suspended brings no job.
    #expect(count >= 1 && failure.runs == 1)
    #expect(failure.report.contains("came from outside of the exploration"))
    #expect(failure.report.contains("allowsJobsFromOutside: true"))
    #expect(failure.report.contains("explore(.wholeProcess)"))
  }

  @Test("a task outside that sleeps on the run's clock counts, and time goes on for it")
  func sleeperOutside() async throws {
    var options = ExplorationOptions(runs: 1, randomRuns: 0, patience: .seconds(60))
    options.allowsJobsFromOutside = true
    let (gate, woken) = (Gate(), Gate())
    let summary = try await explore(options) { run in
      Task.detached {
        await gate.wait()  // so that nothing can run when it sleeps
        try? await run.clock.sleep(for: .seconds(3600))
        woken.open()
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { gate.open() }
      await woken.wait()
    }
    #expect(summary.jobsFromOutside == 2)
  }

  // MARK: Time

  @Test("time is virtual: it passes when no task can run, exactly to the next date")
  func time() async throws {
    let clock = ContinuousClock()
    let start = clock.now
    let (found, _) = try await Self.results { run in
      let probe = Probe<String>()
      run.spawn {
        try? await run.clock.sleep(for: .seconds(3600))
        probe.record("\(run.clock.now.offset)")
      }
      run.spawn {
        try? await run.clock.sleep(for: .seconds(60))
        for _ in 0..<3 { await Task.yield() }
        probe.record("\(run.executor.now.offset)")
      }
      run.executor.schedule(after: .seconds(90)) { probe.record("work at \(run.clock.now.offset)") }
      await probe.waitForCount(3)
      return probe.values.joined(separator: ", ")
    }
    #expect(found == ["60.0 seconds, work at 90.0 seconds, 3600.0 seconds"])
    #expect(clock.now - start < .seconds(600))
  }

  @Test("what is due at one time comes in every order; with free time, all sleepers do")
  func freeTime() async throws {
    func body(_ first: Int, _ second: Int) -> @Sendable (ExplorationRun) async throws -> String {
      { run in
        let probe = Probe<String>()
        for (name, seconds) in [("a", first), ("b", second)] {
          run.spawn {
            try? await run.clock.sleep(for: .seconds(seconds))
            probe.record(name)
          }
        }
        await probe.waitForCount(2)
        return probe.values.joined()
      }
    }
    #expect(try await Self.results(body: body(1, 1)).found == ["ab", "ba"])
    #expect(try await Self.results(body: body(1, 2)).found == ["ab"])
    var free = Self.every
    free.timeIsFree = true
    #expect(try await Self.results(free, body: body(1, 2)).found == ["ab", "ba"])
  }

  @Test("a cancelled sleep ends at once, before and while it sleeps")
  func cancelledSleep() async throws {
    let (found, summary) = try await Self.results { run in
      let sleeper = run.spawn {
        do {
          try await run.clock.sleep(for: .seconds(10))
          return "slept"
        } catch {
          return "\(error) at \(run.clock.now.offset)"
        }
      }
      run.spawn { sleeper.cancel() }
      return await sleeper.value
    }
    #expect(found == ["CancellationError() at 0.0 seconds"])
    #expect(summary.triedAllOrders)
  }

  @Test("a sleep of zero is a step: a loop of them has an end, and others go on")
  func zeroSleep() async throws {
    let failure = try await #require(throws: ExplorationFailure.self) {
      try await explore(ExplorationOptions(stepLimit: 100)) { run in
        while true { try await run.clock.sleep(for: .zero) }
      }
    }
    guard case .tooManySteps(100) = failure.reason else { throw failure }
    try await explore(ExplorationOptions(runs: 1, randomRuns: 0)) { run in
      let done = Counter()
      run.spawn { done.increment() }
      while done.value == 0 { try await run.clock.sleep(for: .zero) }
    }
  }

  @Test("memos, ticks and repeated work take the run's clock")
  func clocks() async throws {
    try await explore(ExplorationOptions(runs: 300, randomRuns: 50)) { run in
      let loads = Counter()
      let pages = Memos(lifetime: .seconds(60), clock: run.clock) { (number: Int) async in
        await Task.yield()
        return loads.increment(by: 1, giving: number)
      }
      for _ in 0..<2 { run.spawn { _ = await pages.value(for: 1) } }
      try await run.clock.sleep(for: .seconds(59))
      _ = await pages.value(for: 1)
      try run.require(loads.value == 1)
      try await run.clock.sleep(for: .seconds(2))
      _ = await pages.value(for: 1)
      try run.require(loads.value == 2)

      var ticks: [Duration] = []
      for await _ in run.executor.ticks(every: .seconds(1)).prefix(3) {
        ticks.append(run.clock.now.offset)
      }
      try run.require(ticks == [.seconds(62), .seconds(63), .seconds(64)], "\(ticks)")
    }
  }

  @Test("a virtual scheduler inside works as before")
  func virtualScheduler() async throws {
    let summary = try await explore(ExplorationOptions(runs: 20, randomRuns: 5)) { run in
      let (scheduler, probe) = (VirtualScheduler(), Probe<Int>())
      scheduler.schedule(every: .seconds(1)) { probe.record(1) }
      let reader = run.spawn { await probe.waitForCount(10) }
      await Task.yield()
      scheduler.advance(by: .seconds(10))
      await reader.value
      try run.require(probe.count == 10)
    }
    #expect(summary.jobsFromOutside == 0)
  }

  @Test("an actor can live on the executor")
  func actorOnExecutor() async throws {
    actor Model {
      let place: ExplorationScheduler
      nonisolated var unownedExecutor: UnownedSerialExecutor { place.asUnownedSerialExecutor() }
      var words = ""

      init(on place: ExplorationScheduler) { self.place = place }
      func add(_ word: String) {
        assertIsolated()
        words += word
      }
    }
    let (found, summary) = try await Self.results { run in
      let model = Model(on: run.executor)
      async let a: Void = model.add("a")
      async let b: Void = model.add("b")
      _ = await (a, b)
      return await model.words
    }
    #expect(found == ["ab", "ba"])
    #expect(summary.jobsFromOutside == 0)
  }
}
