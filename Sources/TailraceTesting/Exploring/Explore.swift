internal import Dispatch
import Tailrace
import TailraceSupport

/// Runs a body again and again, each time with its tasks in another order, until a run fails.
///
/// ```swift
/// actor Cache {
///   var pages: [Int: String] = [:]
///   var loads = 0
///
///   func page(_ number: Int) async -> String {
///     if let page = pages[number] { return page }
///     loads += 1
///     await Task.yield()   // stands for the download
///     pages[number] = "page \(number)"
///     return "page \(number)"
///   }
/// }
///
/// do {
///   try await explore { run in
///     let cache = Cache()
///     async let one = cache.page(1)
///     async let same = cache.page(1)
///     _ = await (one, same)
///     try run.require(await cache.loads == 1, "a page was loaded twice")
///   }
/// } catch let failure as ExplorationFailure {
///   print("found in run", failure.runs)   // found in run 1
/// }
/// ```
///
/// It finds mistakes that depend on the order of what lies between two `await`s, and replays what it
/// has found. It does not find data races: for locks and atomics use the thread sanitizer. See
/// <doc:EveryOrder>.
///
/// The first run takes its tasks first come, first served. Then come the runs with one *preemption*, in
/// which a task continues once before others that were ready earlier; those with two; and so on, and at
/// last random ones. So a failure is found with the fewest preemptions. It is made simpler, as long as it
/// still fails, and thrown with what has happened, and with a tape that replays it.
///
/// - Parameters:
///   - options: how much is tried.
///   - tape: replays one run: pass the tape of a failure.
///   - counter: counts the issues of a test framework, which are failures, too. The last replay runs
///     without it, so that the issue is recorded at its own line.
///   - body: one run. It has to make what it uses again: nothing may be left of the run before.
/// - Returns: how much was tried, if nothing has failed.
/// - Isolation: the body and its child tasks run on ``Exploration/executor``, one step at a time, on the
///   thread that explores.
/// - Failure: throws ``ExplorationFailure``.
/// - Cancellation: throws `CancellationError` after the present run.
@discardableResult
public func explore(
  _ options: ExplorationOptions = ExplorationOptions(), replaying tape: ExplorationTape? = nil,
  countingIssues counter: IssueCounter? = nil,
  body: @escaping @Sendable (_ run: Exploration) async throws -> Void
) async throws -> ExplorationSummary {
  Exploring.begin()
  defer { Exploring.end() }
  let runner = Runner(options, counter, watches: tape == nil, body)
  guard let catcher = options.catcher else { return try await runner.explore(tape) }
  return try await catcher.explores { try await runner.explore(tape) }
}

/// Runs a body as often as a search wants, in the isolation of its caller.
package struct Runner: Sendable {
  let options: ExplorationOptions
  let counter: IssueCounter?
  private let watch: StepWatch?
  private let pace = Pace()
  let body: @Sendable (_ run: Exploration) async throws -> Void

  package init(
    _ options: ExplorationOptions, _ counter: IssueCounter? = nil, watches: Bool,
    _ body: @escaping @Sendable (_ run: Exploration) async throws -> Void
  ) {
    (self.options, self.counter, self.body) = (options, counter, body)
    watch = watches ? StepWatch(options) : nil
  }

  package nonisolated(nonsending) func explore(
    _ tape: ExplorationTape? = nil
  ) async throws -> ExplorationSummary {
    if let tape { return try await replay(tape) }
    return try await search()
  }

  /// When others get the thread, or the main actor: a run lasts some microseconds, or some milliseconds.
  private final class Pace: Sendable {
    // Guard: only the task that explores uses it.
    private nonisolated(unsafe) var last = ContinuousClock.now

    var isDue: Bool { ContinuousClock.now - last > .milliseconds(5) }
    func begins() { last = .now }
  }

  /// A run that is over.
  struct Finished: Sendable {
    let problem: ExplorationFailure.Reason?
    let chooser: Chooser
    let story: Story?
    let waiting: [String]
    let steps: Int
    let fromOutside: Int
    let tasksLeft: Int
  }

  // MARK: Searching

  private nonisolated(nonsending) func search() async throws -> ExplorationSummary {
    var search = OrderSearch(
      runs: options.runs, preemptions: options.preemptions, randomRuns: options.randomRuns,
      seed: options.seed)
    var summary = ExplorationSummary(
      runs: 0, triedAllOrders: false, jobsFromOutside: 0, divergedRuns: 0, tasksLeft: 0)
    while let plan = search.next() {
      try Task.checkCancellation()
      let run = await run(plan.tape, expecting: plan.expected)
      summary.runs += 1
      summary.jobsFromOutside += run.fromOutside
      summary.tasksLeft += run.tasksLeft
      if run.chooser.divergence != nil { summary.divergedRuns += 1 }
      if let problem = run.problem {
        throw await failure(problem, of: run, in: plan.stage, summary)
      }
      search.ran(
        plan, widths: run.chooser.widths, hasDiverged: run.chooser.divergence != nil)
    }
    summary.triedAllOrders = search.hasTriedAll
    return summary
  }

  private nonisolated(nonsending) func replay(
    _ tape: ExplorationTape
  ) async throws -> ExplorationSummary {
    let run = await run(tape, isTold: true, isCounted: false)
    let problem = run.problem ?? run.chooser.divergence.map { .diverged($0) }
    if let problem {
      throw Report(
        problem: problem, tape: tape, told: run, runs: 1, stage: nil,
        fromOutside: run.fromOutside, hasFailedAgain: run.problem != nil,
        catchesProcess: options.catcher != nil
      ).failure
    }
    return ExplorationSummary(
      runs: 1, triedAllOrders: false, jobsFromOutside: run.fromOutside, divergedRuns: 0,
      tasksLeft: run.tasksLeft)
  }

  /// Makes a failing run simpler, and runs it once more to tell what happens.
  private nonisolated(nonsending) func failure(
    _ problem: ExplorationFailure.Reason, of run: Finished, in stage: OrderSearch.Stage,
    _ summary: ExplorationSummary
  ) async -> ExplorationFailure {
    var shrinking = TapeShrinking(run.chooser.chosen)
    // Unless something has come from outside before, nothing is waited for.
    let patience =
      summary.jobsFromOutside == 0 ? min(options.patience, .milliseconds(5)) : options.patience
    while let choices = shrinking.next(), !Task.isCancelled {
      let simpler = await self.run(ExplorationTape(choices), patience: patience)
      shrinking.ran(failing: simpler.problem == nil ? nil : simpler.chooser.chosen)
    }
    var tape = ExplorationTape(shrinking.best)
    tape.timeIsFree = options.timeIsFree
    let told = await self.run(tape, isTold: true, isCounted: false)
    var hasFailedAgain = told.problem != nil
    // The issues of a test framework are no problem of a run that does not count them.
    if !hasFailedAgain, counter != nil {
      hasFailedAgain = await self.run(tape, patience: patience).problem != nil
    }
    return Report(
      problem: told.problem ?? problem, tape: tape, told: told, runs: summary.runs, stage: stage,
      fromOutside: max(run.fromOutside, told.fromOutside), hasFailedAgain: hasFailedAgain,
      catchesProcess: options.catcher != nil
    ).failure
  }

  // MARK: One run

  private nonisolated(nonsending) func run(
    _ tape: ExplorationTape, expecting expected: [Int] = [], isTold: Bool = false,
    isCounted: Bool = true, patience: Duration? = nil
  ) async -> Finished {
    if pace.isDue {
      await Task.yield()
      pace.begins()
    }
    // A tape tells of which time its choices are.
    var tape = tape
    tape.timeIsFree = tape.timeIsFree || options.timeIsFree
    options.willRun?(tape)
    watch?.watches(tape)
    let executor = ExplorationScheduler(
      RunState(
        Chooser(tape, expecting: expected), timeIsFree: tape.timeIsFree,
        stepLimit: options.stepLimit, story: isTold ? Story() : nil),
      catcher: options.catcher, watch: watch)
    let run = Exploration(executor, isTold: isTold)
    options.catcher?.begins(executor)
    defer { options.catcher?.ends(executor) }
    let body = start(run, isCounted: isCounted)
    let waiting = await drive(run, patience ?? options.patience)
    let allowsJobsFromOutside = options.allowsJobsFromOutside
    let (problem, chooser, story, steps, fromOutside, tasksLeft) = executor.state.withLock {
      state in
      state.chooser.end()
      if state.fromOutside > 0, !allowsJobsFromOutside {
        state.fails(.jobsFromOutside(state.fromOutside))
      }
      return (
        state.problem, state.chooser, state.story, state.steps, state.fromOutside, state.tasksLeft
      )
    }
    let caughtLeft = options.catcher?.tasksLeft(of: executor)
    Exploring.driving(run) {
      executor.close {
        body.cancel()
        for cancel in run.spawned.withLock({ Array($0.cancels.values) }) { cancel() }
      }
    }
    return Finished(
      problem: problem, chooser: chooser, story: story, waiting: waiting, steps: steps,
      fromOutside: fromOutside, tasksLeft: caughtLeft ?? tasksLeft)
  }

  private func start(_ run: Exploration, isCounted: Bool) -> Task<Void, Never> {
    let counter = isCounted ? counter : nil
    run.executor.state.withLock { $0.story?.announces("body") }
    let task = run.executor.driving {
      Task(executorPreference: run.executor) { [body] in
        do {
          if let counter {
            let issues = try await counter.count {
              try await body(run)
              await run.join()
            }
            if issues > 0 { run.executor.state.withLock { $0.fails(.issues(issues)) } }
          } else {
            try await body(run)
            await run.join()
          }
        } catch {
          run.executor.state.withLock { $0.fails(.threw(error)) }
        }
        run.executor.state.withLock { $0.ends() }
      }
    }
    run.executor.state.withLock { $0.story?.announces(nil) }
    return task
  }

  /// Runs a body until its run is over. Returns who waits, if nothing can run.
  private nonisolated(nonsending) func drive(
    _ run: Exploration, _ patience: Duration
  ) async -> [String] {
    let executor = run.executor
    while true {
      switch Exploring.driving(run, { executor.drive() }) {
      case .over: return []
      case .tooLong:
        executor.state.withLock { $0.fails(.tooManySteps(options.stepLimit)) }
        return []
      case .idle:
        if await executor.waitForArrival(patience) { continue }
        let waiting = run.waiting(bodyHasEnded: false)
        executor.state.withLock { $0.fails(.stuck) }
        return waiting
      }
    }
  }
}

extension ExplorationScheduler {
  /// Waits until a job comes from outside. False if none does for so long.
  fileprivate func waitForArrival(_ patience: Duration) async -> Bool {
    await withUnsafeContinuation { continuation in
      guard let number = state.withLock({ $0.idles(continuation) }) else {
        return continuation.resume(returning: true)
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + patience / .seconds(1)) { [self] in
        state.withLock { $0.stopsIdling(number) }?.resume(returning: false)
      }
    }
  }
}
