import Dispatch
import Tailrace
import TailraceObservation
import TailraceTesting
import TailraceTestingProcess
import Testing

@Suite(
  "explore(.wholeProcess): what it says, and what it leaves", .timeLimit(.minutes(20)),
  .enabled(if: ExplorationOptions.canCatchTheProcess))
struct WholeProcessTests {
  private static let once = ExplorationOptions.wholeProcess(
    ExplorationOptions(runs: 1, randomRuns: 0, patience: .seconds(60)))

  private static func failure(
    _ options: ExplorationOptions, _ body: @escaping @Sendable (Exploration) async throws -> Void
  ) async throws -> ExplorationFailure {
    try await #require(throws: ExplorationFailure.self) { try await explore(options, body: body) }
  }

  // MARK: From outside

  /// Waits for a callback of Dispatch, which comes when the task has suspended: a continuation that is resumed
  /// before brings no job.
  private static func waitForDispatch() async {
    await withCheckedContinuation { continuation in
      Task { DispatchQueue.global().async { continuation.resume() } }
    }
  }

  @Test("a callback of Dispatch that resumes a task is waited for, and fails the run with words")
  func outside() async throws {
    let body: @Sendable (Exploration) async throws -> Void = { _ in
      await Self.waitForDispatch()
      await Task.detached {}.value
    }
    let failure = try await Self.failure(Self.once, body)
    guard case .jobsFromOutside(1) = failure.reason else { throw failure }
    #expect(failure.report.contains("They come from Dispatch, threads"))
    #expect(failure.report.contains("1 for body"))
    var allowing = Self.once
    allowing.allowsJobsFromOutside = true
    let summary = try await explore(allowing, body: body)
    #expect(summary.jobsFromOutside == 1)
  }

  @Test("what fails anyway is told first, and the jobs from outside with it")
  func wrongAndOutside() async throws {
    let failure = try await Self.failure(Self.once) { run in
      await Self.waitForDispatch()
      run.fail("wrong")
    }
    guard case .failed("wrong", _, _) = failure.reason else { throw failure }
    #expect(failure.jobsFromOutside == 1)
  }

  // MARK: Names

  @Test("a failure calls a task by its name, and a sleeper by its task's")
  func names() async throws {
    let failure = try await Self.failure(.wholeProcess(ExplorationOptions(timeIsFree: true))) {
      run in
      let order = Probe<Int>()
      let first = Task(name: "search") {
        try? await Task.sleep(for: .seconds(60))
        order.record(1)
      }
      let second = Task(name: "refresh") {
        try? await Task.sleep(for: .seconds(61))
        run.note("is up")
        order.record(2)
      }
      await first.value
      await second.value
      try run.require(order.values == [1, 2])
    }
    #expect(failure.report.contains("refresh  (wakes before"), "\(failure.report)")
    #expect(failure.report.contains("refresh  is up"), "\(failure.report)")
  }

  @Test("of two tasks with one name the second has a number, and one that waits says what for")
  func equalNames() async throws {
    let once = ExplorationOptions.wholeProcess(ExplorationOptions(runs: 1, randomRuns: 0))
    let failure = try await Self.failure(once) { run in
      let gate = Gate()
      let tasks = (1...2).map { number in
        Task(name: "load") {
          await Task.yield()
          run.note("is number \(number)")
          if number == 2 { await gate.wait() }
        }
      }
      for task in tasks { await task.value }
    }
    guard case .stuck = failure.reason else { throw failure }
    for words in ["load     is number 1", "load #2  is number 2", "load waits for a closed Gate"] {
      #expect(failure.report.contains(words), "\(failure.report)")
    }
  }

  @Test("an immediate task keeps its name from the task in whose step it begins")
  func immediateName() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let failure = try await Self.failure(Self.once) { run in
      let immediate = Task.immediate(name: "immediate") {
        run.note("begins")
        await Task.yield()
        run.note("goes on")
      }
      await immediate.value
      run.note("is over")
      run.fail("as it must")
    }
    for words in ["body       begins [immediate]", "immediate  goes on", "body       is over"] {
      #expect(failure.report.contains(words), "\(failure.report)")
    }
  }

  // MARK: Bodies

  @Test("a body on the main actor: it and the tasks that it starts there are steps")
  func mainActorBody() async throws {
    let failure = try await Self.failure(.wholeProcess) { @MainActor run in
      let model = SearchModel(api: .deaf { $0.count == 1 ? 90 : 60 })
      model.type("t")
      try await Task.sleep(for: .milliseconds(400))
      model.type("te")
      try await Task.sleep(for: .seconds(600))
      try run.require(model.results == ["te"], "an old answer")
    }
    guard case .failed("an old answer", _, _) = failure.reason else { throw failure }
    #expect(failure.runs == 1 && failure.jobsFromOutside == 0)
  }

  @MainActor @Test("a test on the main actor explores, too")
  func onMainActor() async throws {
    let summary = try await explore(.wholeProcess) { _ in
      await Task { @MainActor in await Task.yield() }.value
    }
    MainActor.preconditionIsolated()
    #expect(summary.triedAllOrders)
  }

  @Test("expectations count, and the last replay records them")
  func expectations() async throws {
    let counter = IssueCounter { body in
      guard let test = Test.current else { return 0 }
      let issues = Shared(0)
      let counting: IssueHandlingTrait = .compactMapIssues { _ in
        issues.change { $0 += 1 }
        return nil
      }
      try await counting.provideScope(for: test, testCase: Test.Case.current, performing: body)
      return issues.now
    }
    try await withKnownIssue {
      let failure = try await #require(throws: ExplorationFailure.self) {
        try await explore(.wholeProcess, countingIssues: counter) { _ in
          let found = await Task { 1 }.value
          #expect(found == 2)
        }
      }
      // Here nothing is wrong but the one expectation above.
      if case .issues(1) = failure.reason, failure.runs == 1 { return }
      throw failure
    } matching: { issue in
      "\(issue)".contains("found → 1")
    }
  }

  // MARK: What is left

  @Test("a task that swallows its cancellation never runs again")
  func spinners() async throws {
    let (turns, sleeps) = (Shared(0), Shared(0))
    let summary = try await explore(Self.once) { _ in
      Task {
        while true {
          turns.change { $0 += 1 }
          await Task.yield()
        }
      }
      Task { @MainActor in
        while true {
          sleeps.change { $0 += 1 }
          try? await Task.sleep(for: .seconds(1))
        }
      }
      for _ in 0..<10 { await Task.yield() }
    }
    #expect(summary.tasksLeft == 2)
    let seen = (turns.now, sleeps.now)
    #expect(seen.0 > 0 && seen.1 > 0)
    for _ in 0..<1_000 { await Task.yield() }
    #expect((turns.now, sleeps.now) == seen)
  }

  @Test("a task that nobody waits for is cancelled when its run is over, and ends")
  func fireAndForget() async throws {
    let ended = Shared(0)
    let summary = try await explore(Self.once) { _ in
      Task {
        try? await Task.sleep(for: .seconds(60))
        if Task.isCancelled { ended.change { $0 += 1 } }
      }
      await Task.yield()
    }
    #expect(summary.tasksLeft == 1)
    #expect(ended.now == 1)
  }

  @Test("tasks that have ended are not left, nor are cancelled sleeps")
  func nothingLeft() async throws {
    let summary = try await explore(Self.once) { _ in
      let sleeper = Task { try? await Task.sleep(for: .seconds(60)) }
      await Task.yield()
      sleeper.cancel()
      await sleeper.value
      await withTaskGroup(of: Void.self) { group in for _ in 0..<3 { group.addTask {} } }
      async let child = 1
      _ = await child
    }
    #expect(summary.tasksLeft == 0)
  }

  // MARK: Steps that do not end

  @Test("a step that blocks ends the process, with words and the tape")
  func blocks() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let options = ExplorationOptions.wholeProcess(
        ExplorationOptions(stepPatience: .milliseconds(200)))
      try await explore(options) { _ in
        let semaphore = Shared(DispatchSemaphore(value: 0))
        await Task { @MainActor in block(semaphore.now) }.value
      }
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("a step has not ended for 0.2 seconds"))
    #expect(words.contains("explore(.wholeProcess, replaying: \"\")"))
  }

  // MARK: Time

  @Test("sleeps of children, which prefer the run's executor, are virtual, too")
  func preferringSleeps() async throws {
    try await explore(Self.once) { run in
      async let child: Void = Task.sleep(for: .seconds(100))
      try await child
      try await run.spawn { try await Task.sleep(for: .seconds(100)) }.value
      try await run.clock.sleep(for: .seconds(100))
      try run.require(run.clock.now.offset == .seconds(300), "\(run.clock.now.offset)")
    }
  }

  @Test("without the option, sleeps take real time and come from outside, as without this product")
  func executorBased() async throws {
    let failure = try await Self.failure(ExplorationOptions(patience: .seconds(60))) { run in
      try await Task.sleep(for: .milliseconds(1))
      try run.require(run.clock.now.offset == .zero)
    }
    guard case .jobsFromOutside(1) = failure.reason else { throw failure }
  }

  @Test("each run begins at the same time")
  func sameTime() async throws {
    let begins = Shared<[ContinuousClock.Instant]>([])
    try await explore(.wholeProcess) { _ in
      begins.change { $0.append(.now) }
      let tasks = (0..<2).map { _ in Task { try? await Task.sleep(for: .seconds(1)) } }
      for task in tasks { await task.value }
    }
    #expect(begins.now.count > 1)
    #expect(Set(begins.now).count == 1)
  }

  // MARK: This library in tasks that know nothing of it

  private static let library = ExplorationOptions.wholeProcess(
    ExplorationOptions(runs: 3_000, randomRuns: 0))

  @Test("the steps of a list, read by two detached tasks, of which one is cancelled")
  func lists() async throws {
    let summary = try await explore(Self.library) { run in
      let list = LazyList(state: 0) { (state: inout Int) async -> Int? in
        await Task.yield()
        state += 1
        return state <= 3 ? state : nil
      }
      let leaver = Task.detached { await list.array() }
      let reader = Task.detached { await list.array() }
      Task { leaver.cancel() }
      let (found, _) = (await reader.value, await leaver.value)
      try run.require(found == [1, 2, 3], "\(found)")
    }
    print("a list in detached tasks: \(summary)")
    // If its task took all steps in place, there would be a few.
    #expect(summary.runs > 50)
    #expect(summary.divergedRuns == 0)
  }

  @Test("memos that are asked by three plain tasks load once")
  func memos() async throws {
    let summary = try await explore(Self.library) { run in
      let loads = Shared(0)
      let pages = Memos { (number: Int) async in
        loads.change { $0 += 1 }
        for _ in 0..<2 { await Task.yield() }
        return "page \(number)"
      }
      let readers = (0..<3).map { _ in Task.detached { await pages.value(for: 1) } }
      for reader in readers { _ = await reader.value }
      try run.require(loads.now == 1, "loaded \(loads.now) times")
    }
    print("memos in detached tasks: \(summary)")
    #expect(summary.runs > 20)
    #expect(summary.divergedRuns == 0)
  }

  @Test("memos with the clock of the system: their values expire in virtual time")
  func expiry() async throws {
    try await explore(Self.once) { run in
      let loads = Shared(0)
      let pages = Memos(lifetime: .seconds(60)) { (number: Int) async in
        loads.change { $0 += 1 }
        return "page \(number)"
      }
      _ = await pages.value(for: 1)
      try await Task.sleep(for: .seconds(59))
      _ = await pages.value(for: 1)
      try run.require(loads.now == 1, "expired early")
      try await Task.sleep(for: .seconds(2))
      _ = await pages.value(for: 1)
      try run.require(loads.now == 2, "did not expire")
    }
  }

  @Test("a list model on the main actor: two load at once, and one cancels")
  func listModel() async throws {
    let summary = try await explore(Self.library) { run in
      let model = await ListModel(pageSize: 1) {
        LazyList(state: 0) { number async throws -> Int? in
          try await Task.sleep(for: .seconds(1))
          number += 1
          return number <= 3 ? number : nil
        }
      }
      let loading = (0..<2).map { _ in Task { await model.loadMore().value } }
      let cancelling = Task { await model.cancel() }
      for task in loading { await task.value }
      await cancelling.value
      for _ in 0..<8 { await model.loadMore().value }
      let elements = await model.elements
      try run.require(elements == [1, 2, 3], "\(elements)")
    }
    print("a list model: \(summary)")
    #expect(summary.runs > 20 && summary.divergedRuns == 0)
  }

  // MARK: One at a time

  @Test("explorations at the same time take turns")
  func turns() async throws {
    let inside = Shared(0)
    try await withThrowingTaskGroup(of: ExplorationSummary.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await explore(.wholeProcess(ExplorationOptions(runs: 50))) { run in
            let tasks = (0..<2).map { _ in
              Task {
                let others = inside.change { inside in
                  inside += 1
                  return inside
                }
                if others != 1 { run.fail("two at once") }
                inside.change { $0 -= 1 }
                await Task.yield()
              }
            }
            for task in tasks { await task.value }
          }
        }
      }
      for try await summary in group { #expect(summary.triedAllOrders) }
    }
  }

  @Test("an exploration inside of another's body ends the process, with words")
  func nested() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try await explore(.wholeProcess) { _ in try await explore(.wholeProcess) { _ in } }
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("one exploration at a time"))
  }
}

/// Not in an asynchronous function, where the compiler does not allow it.
private func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }
