import Dispatch
import Foundation
import TailraceTesting
import TailraceTestingProcess
import Testing

/// Tests that know nothing of explorations, beside the explorations of `BesideTests` in one process.
@Suite("Ordinary tests beside explorations of the process", .timeLimit(.minutes(20)))
struct OrdinaryTests {
  @Test("tasks run at once, beside each other, and end", arguments: 0..<20)
  func tasks(_ seed: Int) async {
    let ended = Shared(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<40 {
        group.addTask {
          await Task.detached {
            await Task.yield()
            if !Task.isCancelled { ended.change { $0 += 1 } }
          }.value
        }
      }
    }
    #expect(ended.now == 40)
  }

  @Test("a sleep takes real time, and is not cancelled", arguments: 0..<10)
  func sleeps(_ seed: Int) async throws {
    let (begin, date) = (ContinuousClock.now, Date())
    try await Task.sleep(for: .milliseconds(200))
    let time = ContinuousClock.now - begin
    // Virtual time would be far off, and real time is never short.
    #expect(time >= .milliseconds(200) && time < .seconds(600))
    #expect(abs(Date().timeIntervalSince(date) * 1_000 - time / .milliseconds(1)) < 60_000)
  }

  @Test("the main actor", arguments: 0..<10)
  func mainActor(_ seed: Int) async {
    for _ in 0..<20 {
      let found = await MainActor.run { seed }
      #expect(found == seed)
      await Task { @MainActor in MainActor.preconditionIsolated() }.value
    }
  }

  @MainActor @Test("a test on the main actor", arguments: 0..<5)
  func onMainActor(_ seed: Int) async throws {
    dispatchPrecondition(condition: .onQueue(.main))
    try await Task.sleep(for: .milliseconds(5))
    MainActor.preconditionIsolated()
    await Task.yield()
    dispatchPrecondition(condition: .onQueue(.main))
  }

  @Test("a stream between tasks", arguments: 0..<10)
  func streams(_ seed: Int) async {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let reader = Task { await stream.reduce(0, +) }
    Task.detached {
      for number in 1...100 {
        continuation.yield(number)
        await Task.yield()
      }
      continuation.finish()
    }
    #expect(await reader.value == 5_050)
  }
}

@globalActor private actor Hosting { static let shared = Hosting() }

/// Waits on an actor that a run uses, too.
@Hosting private final class Guest {
  private var continuation: CheckedContinuation<Void, Never>?
  var isStaying: Bool { continuation != nil }

  nonisolated init() {}
  func stays() async { await withCheckedContinuation { continuation = $0 } }
  func leaves() { continuation?.resume() }
}

@Suite(
  "explore(.wholeProcess) beside ordinary tests", .timeLimit(.minutes(20)),
  .enabled(if: ExplorationOptions.canCatchTheProcess))
struct BesideTests {
  private static let search: @Sendable (Exploration) async throws -> Void = { run in
    let model = await SearchModel(api: .deaf { $0.count == 1 ? 90 : 60 })
    await model.type("t")
    try await Task.sleep(for: .milliseconds(400))
    await model.type("te")
    try await Task.sleep(for: .seconds(600))
    try run.require(await model.results == ["te"], "an old answer")
  }

  @Test("finds the same each time", arguments: 0..<20)
  func finds(_ number: Int) async throws {
    let failure = try await #require(throws: ExplorationFailure.self) {
      try await explore(.wholeProcess, body: Self.search)
    }
    #expect(failure.runs == 1 && failure.jobsFromOutside == 0)
    #expect(failure.report.contains("Steps: 29."))
  }

  @Test("tries the same orders each time", arguments: 0..<10)
  func passes(_ number: Int) async throws {
    let summary = try await explore(
      .wholeProcess(ExplorationOptions(preemptions: .max, randomRuns: 0))
    ) { run in
      let model = await MendedSearchModel(api: .deaf { _ in 60 })
      await model.type("t")
      await model.type("te")
      try await Task.sleep(for: .seconds(600))
      try run.require(await model.results == ["te"], "an old answer")
    }
    #expect("\(summary)" == "all 210 orders")
  }

  @Test("waits for what comes from Dispatch", arguments: 0..<5)
  func dispatch(_ number: Int) async throws {
    let options = ExplorationOptions(
      runs: 1, randomRuns: 0, patience: .seconds(60), allowsJobsFromOutside: true)
    let summary = try await explore(.wholeProcess(options)) { _ in
      for _ in 0..<3 {
        await withCheckedContinuation { continuation in
          // A step of its own, when the body has suspended.
          Task { DispatchQueue.global().async { continuation.resume() } }
        }
      }
    }
    #expect(summary.jobsFromOutside == 3)
  }

  @Test("code of others that an actor runs on the exploring thread stays theirs")
  func guest() async throws {
    let (guest, gate) = (Guest(), Gate())
    let stay = Task { @Hosting in
      await guest.stays()
      // Here the run's thread runs it.
      return await Task.detached {
        await gate.wait()
        return Task.isCancelled
      }.value
    }
    while await !guest.isStaying { await Task.yield() }
    let options = ExplorationOptions(runs: 1, randomRuns: 0)
    let summary = try await explore(.wholeProcess(options)) { _ in
      await guest.leaves()
      await Task.yield()
    }
    #expect(summary.tasksLeft == 0 && summary.jobsFromOutside == 0)
    gate.open()
    let isCancelled = await stay.value
    #expect(!isCancelled)
  }

  private actor Common {
    private(set) var count = 0
    func increment() { count += 1 }
  }

  @Test("an actor that others use at the same time: nobody's task is caught or cancelled")
  func hosting() async throws {
    let (common, isOver, turns) = (Common(), Shared(false), Shared(0))
    let others = (0..<4).map { _ in
      Task.detached {
        while !isOver.now {
          await common.increment()
          turns.change { $0 += 1 }
          await Task.yield()
        }
        return Task.isCancelled
      }
    }
    let options = ExplorationOptions(runs: 60, randomRuns: 0, allowsJobsFromOutside: true)
    try await explore(.wholeProcess(options)) { _ in
      let tasks = (0..<2).map { _ in Task { await common.increment() } }
      for task in tasks { await task.value }
    }
    isOver.set(true)
    for other in others { #expect(await other.value == false) }
    #expect(await common.count > turns.now)
  }
}
