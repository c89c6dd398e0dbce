import Tailrace
import TailraceTesting
import Testing

@Suite("explore: how runs fail, and what is told", .hangLimit, .inTurn)
struct ExplorationFailureTests {
  static let options = ExplorationOptions(patience: .milliseconds(2))

  static func failure(
    _ options: ExplorationOptions = options, replaying tape: ExplorationTape? = nil,
    countingIssues counter: IssueCounter? = nil,
    body: @escaping @Sendable (ExplorationRun) async throws -> Void
  ) async throws -> ExplorationFailure {
    try await #require(throws: ExplorationFailure.self) {
      try await explore(options, replaying: tape, countingIssues: counter, body: body)
    }
  }

  // MARK: Reasons

  @Test("an error, a requirement, a failure: also those that are caught, or in a spawned task")
  func reasons() async throws {
    let thrown = try await Self.failure { _ in throw Mishap(position: 1) }
    guard case .threw(let error) = thrown.reason else { throw thrown }
    #expect(error as? Mishap == Mishap(position: 1))

    let bodies: [@Sendable (ExplorationRun) async throws -> Void] = [
      { run in try run.require(1 + 1 == 3, "sums") },
      { run in try? run.require(1 + 1 == 3, "sums") },
      { run in run.fail("sums") },
      { run in run.spawn { try run.require(false, "sums") } },
      { run in _ = await run.spawn { run.fail("sums") }.value },
    ]
    for body in bodies {
      let failure = try await Self.failure(body: body)
      guard case .failed("sums", let file, _) = failure.reason else { throw failure }
      #expect(file.hasSuffix("ExplorationFailureTests.swift"))
      #expect(failure.runs == 1 && failure.isReproducible && failure.tape.description == "")
    }
  }

  @Test("a spawned task that throws is no failure, and one that never ends is one")
  func spawned() async throws {
    try await explore(Self.options) { run in
      run.spawn { throw Mishap(position: 1) }
    }
    let failure = try await Self.failure { run in
      run.spawn(name: "reader") { await Gate().wait() }
    }
    guard case .stuck = failure.reason else { throw failure }
    #expect(failure.report.contains("reader waits for a closed Gate"))
  }

  @Test("more steps than the limit")
  func steps() async throws {
    let failure = try await Self.failure(ExplorationOptions(stepLimit: 100)) { _ in
      while true { await Task.yield() }
    }
    guard case .tooManySteps(100) = failure.reason else { throw failure }
  }

  @Test("issues of a test framework are counted, and the last replay records them")
  func issues() async throws {
    let (hidden, shown, isHiding) = (Counter(), Counter(), Counter())
    let counter = IssueCounter { body in
      isHiding.increment()
      let before = hidden.value
      try await body()
      isHiding.increment(by: -1)
      return hidden.value - before
    }
    let failure = try await Self.failure(countingIssues: counter) { run in
      let probe = Probe<String>()
      for name in ["a", "b"] { run.spawn { probe.record(name) } }
      await probe.waitForCount(2)
      guard probe.values != ["a", "b"] else { return }
      if isHiding.value > 0 { hidden.increment() } else { shown.increment() }
    }
    guard case .issues(1) = failure.reason else { throw failure }
    #expect(hidden.value > 0)
    #expect(shown.value == 1)
    #expect(failure.isReproducible && !failure.report.contains("did not fail"))
  }

  @Test("a task that waits by yielding is left, and never runs again")
  func leftovers() async throws {
    let turns = Counter()
    let failure = try await Self.failure(ExplorationOptions(stepLimit: 1_000)) { run in
      run.spawn(name: "waiter") {
        while true {
          turns.increment()
          await Task.yield()
        }
      }
    }
    guard case .tooManySteps = failure.reason else { throw failure }
    let spun = turns.value
    for _ in 0..<1_000 { await Task.yield() }
    #expect(turns.value == spun)
  }

  @Test("a task that comes back from outside, when its run is over, ends; one that spins does not")
  func lateJobs() async throws {
    let (gate, ended, turns) = (Gate(), Gate(), Counter())
    let failure = try await Self.failure { run in
      run.spawn(name: "late") {
        await gate.wait()
        await Task.yield()
        ended.open()
      }
      run.spawn(name: "spinner") {
        await gate.wait()
        while true {
          turns.increment()
          await Task.yield()
        }
      }
    }
    guard case .stuck = failure.reason else { throw failure }
    gate.open()
    await ended.wait()
    // Some thousand jobs of each run may come; then no more.
    var seen = -1
    while seen != turns.value {
      seen = turns.value
      for _ in 0..<10_000 { await Task.yield() }
    }
    #expect(turns.value > 0)
  }

  @Test("tasks that have not ended when the body has are counted")
  func tasksLeft() async throws {
    let summary = try await explore(ExplorationOptions(runs: 1, randomRuns: 0)) { run in
      Task(executorPreference: run.executor) { try? await run.clock.sleep(for: .seconds(60)) }
      await Task.yield()
    }
    #expect(summary.tasksLeft == 1)
    #expect("\(summary)".hasSuffix("1 tasks left"))
  }

  @Test("a step that does not end ends the process, with the tape")
  func watch() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let options = ExplorationOptions(stepPatience: .milliseconds(200))
      try await explore(options) { run in
        let order = Probe<String>()
        for name in ["a", "b"] { run.spawn { order.record(name) } }
        await order.waitForCount(2)
        while order.values == ["b", "a"] {}
      }
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("a step has not ended for 0.2 seconds"))
    #expect(words.contains("explore(replaying: \"1\")"))
  }

  // MARK: Replaying

  /// Fails if the tasks come in the order c, a, b.
  private static let body: @Sendable (ExplorationRun) async throws -> Void = { run in
    let probe = Probe<String>()
    for name in ["a", "b", "c"] {
      run.spawn(name: name) {
        run.note("records")
        probe.record(name)
      }
    }
    await probe.waitForCount(3)
    try run.require(probe.values != ["c", "a", "b"], "c came first")
  }

  @Test("a tape replays its failure, and only that")
  func replay() async throws {
    let found = try await Self.failure(body: Self.body)
    let replayed = try await Self.failure(replaying: found.tape, body: Self.body)
    guard case .failed("c came first", _, _) = replayed.reason else { throw replayed }
    #expect(replayed.tape == found.tape)
    #expect(replayed.runs == 1)
    let passed = try await explore(Self.options, replaying: "", body: Self.body)
    #expect(passed.runs == 1 && !passed.triedAllOrders)
  }

  @Test("a tape that does not fit says so")
  func divergence() async throws {
    for tape in ["7", "0 0 0 0 0 1"] as [ExplorationTape] {
      let failure = try await Self.failure(replaying: tape, body: Self.body)
      guard case .diverged = failure.reason else { throw failure }
      #expect(failure.report.contains("the tape does not fit this body"))
    }
  }

  @Test("a random tape replays the same choices")
  func random() async throws {
    let options = ExplorationOptions(runs: 1, preemptions: 0, randomRuns: 500, seed: 3)
    let tapes = Probe<ExplorationTape>()
    var announcing = options
    announcing.willRun = { tapes.record($0) }
    _ = try await Self.failure(announcing, body: Self.body)
    let first = try #require(tapes.values.last { $0.description.hasPrefix("random") })
    let failure = try await Self.failure(replaying: first, body: Self.body)
    guard case .failed("c came first", _, _) = failure.reason else { throw failure }
  }

  @Test("a run that something else changes says that a replay did not fail")
  func unreproducible() async throws {
    let runs = Counter()
    let failure = try await Self.failure { run in
      if runs.increment() == 1 { run.fail("the first time") }
    }
    #expect(!failure.isReproducible)
    #expect(failure.report.contains("A replay did not fail"))
    guard case .failed("the first time", _, _) = failure.reason else { throw failure }
  }

  @Test("runs that go another way by themselves are counted")
  func diverging() async throws {
    let runs = Counter()
    let summary = try await explore(Self.options) { run in
      let count = runs.increment() % 3 + 2
      for _ in 0..<count { run.spawn { await Task.yield() } }
    }
    #expect(summary.divergedRuns > 0)
    #expect(!summary.triedAllOrders)
  }

  @Test("a tape tells whether time was free, and a replay takes that from it")
  func freeTime() async throws {
    let body: @Sendable (TailraceTesting.Exploration) async throws -> Void = { run in
      async let late: Duration = {
        try? await run.clock.sleep(for: .seconds(1))
        return run.clock.now.offset
      }()
      try await run.clock.sleep(for: .seconds(2))
      let now = run.clock.now.offset
      try run.require(await late <= now, "the later one was first")
    }
    try await explore(body: body)
    let failure = try #require(
      await #expect(throws: ExplorationFailure.self) {
        try await explore(ExplorationOptions(timeIsFree: true), body: body)
      })
    #expect("\(failure.tape)".hasPrefix("free ") && failure.isReproducible)
    #expect(ExplorationTape("\(failure.tape)") == failure.tape)
    let replayed = await #expect(throws: ExplorationFailure.self) {
      try await explore(replaying: failure.tape, body: body)
    }
    #expect(replayed?.isReproducible == true)
  }

  // MARK: The report

  @Test("what happened, out of turn or with notes, and the tape")
  func report() async throws {
    let failure = try await Self.failure(body: Self.body)
    let lines = failure.report.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("explore: c came first (") == true)
    #expect(lines.contains { $0.hasPrefix("Found in run ") && $0.hasSuffix("one preemption.") })
    #expect(lines.contains { $0.contains("0.0 seconds  c") && $0.contains("goes before 2") })
    #expect(lines.count { $0.contains("records") } == 3)
    #expect(lines.last == "Replay it: explore(replaying: \"\(failure.tape)\") { … }")
    #expect("\(failure)" == failure.report)
  }

  @Test("notes cost nothing in runs that are not told")
  func notes() async throws {
    let made = Counter()
    @Sendable func text() -> String { made.increment(by: 1, giving: "text") }
    try await explore(Self.options) { run in run.note(text()) }
    #expect(made.value == 0)
  }

  @Test("each run is announced with its tape, for code that traps")
  func announcing() async throws {
    let tapes = Probe<String>()
    var options = ExplorationOptions(randomRuns: 1)
    options.willRun = { tapes.record($0.description) }
    let summary = try await explore(options) { run in
      for _ in 0..<2 { run.spawn {} }
    }
    #expect(summary.triedAllOrders)
    #expect(tapes.values == ["", "1"])
  }

  @Test("a cancelled exploration stops")
  func cancellation() async throws {
    let (gate, runs) = (Gate(), Counter())
    let exploring = Task {
      let options = ExplorationOptions(patience: .seconds(60), allowsJobsFromOutside: true)
      return try await explore(options) { run in
        if runs.increment() == 2 { await Task { await gate.wait() }.value }
        for _ in 0..<5 { run.spawn { await Task.yield() } }
      }
    }
    await gate.waitForArrivals(1)
    exploring.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { _ = try await exploring.value }
    #expect(runs.value == 2)
  }
}
