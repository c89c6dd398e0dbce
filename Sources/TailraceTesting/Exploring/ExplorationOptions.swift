/// How much ``explore(_:replaying:countingIssues:body:)`` tries.
///
/// ```swift
/// try await explore(ExplorationOptions(preemptions: .max, randomRuns: 0)) { run in
///   async let one = 1
///   _ = await one
/// }
/// ```
public struct ExplorationOptions: Sendable {
  /// The most runs of the first stages, before the random ones.
  public var runs: Int
  /// How many times in a run a task may continue before others that were ready earlier, before the random
  /// stage. With `.max` all orders are tried, as far as ``runs`` allows.
  public var preemptions: Int
  /// The runs of the last stage, which makes each choice by chance. It does not run after all orders
  /// have been tried.
  public var randomRuns: Int
  /// The seed of the random stage: the same seed makes the same choices.
  public var seed: UInt64
  /// Whether a task may wake from its sleep late, or after one that sleeps longer. It is a choice, too;
  /// otherwise virtual time is exact.
  public var timeIsFree: Bool
  /// How long nothing can run before a run counts as stuck. Work outside of the exploration may take
  /// that long.
  public var patience: Duration
  /// How long a step may take. One that takes longer blocks its thread, or loops and never suspends: the
  /// process ends, with the tape. A run that is replayed is not watched, so that a debugger can stop it.
  public var stepPatience: Duration
  /// The most steps of a run. One that takes more has failed.
  public var stepLimit: Int
  /// Whether jobs may come from outside of the exploration, which does not choose when they run. Otherwise
  /// a run with any has failed.
  public var allowsJobsFromOutside: Bool
  /// Called before each run, with its tape: for code that may trap, which ends the process. Write it to a
  /// file or to the standard error, and replay the last one.
  public var willRun: (@Sendable (ExplorationTape) -> Void)?
  /// What catches the jobs of the whole process; `nil` if only those count that prefer the run's executor.
  package var catcher: (any ProcessCatching)?

  /// Creates options; each has a default.
  ///
  /// - Parameters:
  ///   - runs: the most runs before the random stage; 1 or more.
  ///   - preemptions: the most preemptions from first come, first served before that; 0 or more.
  ///   - randomRuns: the runs of the random stage; 0 or more.
  ///   - seed: of the random stage.
  ///   - timeIsFree: whether sleepers may wake late.
  ///   - patience: how long nothing can run before a run counts as stuck.
  ///   - stepPatience: how long a step may take, before the process ends.
  ///   - stepLimit: the most steps of a run; 1 or more.
  ///   - allowsJobsFromOutside: whether a run may pass in which jobs came from outside.
  ///   - willRun: called before each run.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public init(
    runs: Int = 10_000, preemptions: Int = 3, randomRuns: Int = 2_000, seed: UInt64 = 0,
    timeIsFree: Bool = false, patience: Duration = .milliseconds(100),
    stepPatience: Duration = .seconds(10), stepLimit: Int = 10_000,
    allowsJobsFromOutside: Bool = false, willRun: (@Sendable (ExplorationTape) -> Void)? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    guard runs > 0, preemptions >= 0, randomRuns >= 0, stepLimit > 0 else {
      fatalError(
        "ExplorationOptions(runs:preemptions:randomRuns:stepLimit:) takes runs and a limit of 1 or more, "
          + "and preemptions and random runs of 0 or more, not \(runs), \(stepLimit), \(preemptions) and "
          + "\(randomRuns)", file: file, line: line)
    }
    guard stepPatience > .zero else {
      fatalError(
        "ExplorationOptions(stepPatience:) takes a time above zero, not \(stepPatience)",
        file: file,
        line: line)
    }
    (self.runs, self.preemptions, self.randomRuns) = (runs, preemptions, randomRuns)
    (self.seed, self.timeIsFree, self.patience) = (seed, timeIsFree, patience)
    (self.stepPatience, self.stepLimit) = (stepPatience, stepLimit)
    (self.allowsJobsFromOutside, self.willRun) = (allowsJobsFromOutside, willRun)
  }
}

/// Counts the issues that a test framework records, for ``explore(_:replaying:countingIssues:body:)``.
///
/// A failed `#expect` throws nothing, so that `explore` does not see it. <doc:EveryOrder> has a counter for
/// Swift Testing to copy.
public struct IssueCounter: Sendable {
  let count: @Sendable (_ body: @Sendable () async throws -> Void) async throws -> Int

  /// Creates a counter.
  ///
  /// - Parameter count: runs the closure that it is given, keeps its issues from being recorded, and
  ///   returns how many there were.
  public init(
    _ count: @escaping @Sendable (_ body: @Sendable () async throws -> Void) async throws -> Int
  ) {
    self.count = count
  }
}

/// What ``explore(_:replaying:countingIssues:body:)`` has tried, when no run has failed.
public struct ExplorationSummary: Sendable, Hashable {
  /// How often the body has run.
  public var runs: Int
  /// Whether every order in which its tasks can take their steps was one of them.
  public var triedAllOrders: Bool
  /// How many jobs, at least, came from outside of the exploration, in all runs: it does not choose when
  /// they run. With any, other orders are possible that were not tried. It is 0 unless
  /// ``ExplorationOptions/allowsJobsFromOutside`` is true.
  public var jobsFromOutside: Int
  /// How many runs went another way than an earlier one with the same choices.
  public var divergedRuns: Int
  /// How many tasks, in all runs, had not ended when the body had: tasks that nobody waits for. They were
  /// cancelled. It is a hint: a task that waits for a continuation is not known to every exploration, and
  /// one that has ended may count while something keeps it.
  public var tasksLeft: Int
}

extension ExplorationSummary: CustomStringConvertible {
  /// The numbers, in words.
  public var description: String {
    var parts = [triedAllOrders ? "all \(runs) orders" : "\(runs) runs"]
    if jobsFromOutside > 0 { parts.append("\(jobsFromOutside) jobs from outside") }
    if divergedRuns > 0 { parts.append("\(divergedRuns) diverged") }
    if tasksLeft > 0 { parts.append("\(tasksLeft) tasks left") }
    return parts.joined(separator: ", ")
  }
}
