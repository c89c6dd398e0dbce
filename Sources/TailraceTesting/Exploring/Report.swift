/// What is told of a failure.
struct Report {
  let problem: ExplorationFailure.Reason
  let tape: ExplorationTape
  /// The run that was told step by step.
  let told: Runner.Finished
  let runs: Int
  let stage: OrderSearch.Stage?

  /// How many jobs came from outside in the run that was found, or in the one that was told.
  let fromOutside: Int

  /// Whether the tape has failed once more.
  let hasFailedAgain: Bool
  /// Whether the jobs of the whole process were caught.
  let catchesProcess: Bool

  private var hasDiverged: Bool { if case .diverged = problem { true } else { false } }

  var failure: ExplorationFailure {
    ExplorationFailure(
      reason: problem, tape: tape, runs: runs, report: text, isReproducible: hasFailedAgain,
      jobsFromOutside: fromOutside)
  }

  private var text: String {
    var lines = ["explore: \(problem)"]
    if let stage { lines.append("Found in run \(runs), in the stage: \(stage).") }
    lines.append("")
    let steps = told.story?.lines ?? []
    if tape.preemptions == 0, tape.seed == nil {
      lines.append("It fails when its tasks go on first come, first served. Steps: \(told.steps).")
    } else {
      lines.append("Steps: \(told.steps); shown are those out of order, and those with notes.")
    }
    lines += steps
    if !told.waiting.isEmpty {
      lines += ["", "When nothing could run:"]
      lines += told.waiting.map { "  " + $0 }
    }
    if fromOutside > 0 {
      lines += ["", "Jobs that came from outside, whose time explore does not choose:"]
      lines += (told.story?.outside ?? [:]).sorted { $0.key < $1.key }
        .map { "  \($0.value) for \($0.key)" }
      lines += whereFrom
    }
    lines.append("")
    if !hasFailedAgain, !hasDiverged {
      lines.append(
        "A replay did not fail: something outside of the exploration has changed the run.")
    } else if let choice = told.chooser.divergence {
      lines.append("A replay went another way from choice \(choice) on, counted from 0.")
    }
    lines.append("Replay it: \(tape.replay(catchingProcess: catchesProcess))")
    return lines.joined(separator: "\n")
  }

  private var whereFrom: [String] {
    let remedy =
      catchesProcess
      ? [
        "  They come from Dispatch, threads, callbacks of the system, and actors with executors of their own.",
        "  Let the test give the code something else there, such as a closure that yields.",
      ]
      : [
        "  They come from Task { }, detached tasks, the main actor, Task.sleep, and other executors.",
        "  Start tasks by run.spawn, and sleep on run.clock; or catch the jobs of the whole process, for code",
        "  that cannot be changed: explore(.wholeProcess) of TailraceTestingProcess.",
      ]
    return remedy + [
      "  Where that cannot be, let them pass: ExplorationOptions(allowsJobsFromOutside: true)."
    ]
  }
}

extension ExplorationTape {
  /// The call that replays it.
  func replay(catchingProcess: Bool) -> String {
    "explore(\(catchingProcess ? ".wholeProcess, " : "")replaying: \"\(self)\") { … }"
  }
}
