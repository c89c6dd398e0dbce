/// An order in which a body fails, found by ``explore(_:replaying:countingIssues:body:)``.
public struct ExplorationFailure: Error {
  /// How a run has failed.
  public enum Reason: Sendable {
    /// The body has thrown an error.
    case threw(any Error)
    /// A requirement was not met, or the body has called ``Exploration/fail(_:file:line:)``.
    case failed(String, file: String, line: UInt)
    /// The test framework has recorded issues.
    case issues(Int)
    /// Nothing could run, and the body, or a task that it has spawned, has not ended.
    case stuck
    /// The run took more steps than its limit.
    case tooManySteps(Int)
    /// So many jobs, at least, came from outside of the exploration, which does not choose when they run:
    /// the run has not failed, and says little. See ``ExplorationOptions/allowsJobsFromOutside``.
    case jobsFromOutside(Int)
    /// The tape does not fit the body: from that choice on, counted from 0, the run has gone another way.
    case diverged(Int)
  }

  /// How the run has failed.
  public var reason: Reason
  /// The choices of the run: the simplest that were found to fail.
  public var tape: ExplorationTape
  /// How many runs it took to find the failure.
  public var runs: Int
  /// The steps of the run, who was stuck on what, and how to replay it.
  public var report: String
  /// Whether the run with this tape has failed again.
  public var isReproducible: Bool
  /// How many jobs of the run came from outside of the exploration.
  public var jobsFromOutside: Int
}

extension ExplorationFailure: CustomStringConvertible {
  /// The ``report``.
  public var description: String { report }
}

extension ExplorationFailure.Reason: CustomStringConvertible {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .threw(let error): "the body threw \(error)"
    case .failed(let words, let file, let line): "\(words) (\(file):\(line))"
    case .issues(1): "an issue was recorded"
    case .issues(let count): "\(count) issues were recorded"
    case .stuck: "nothing can run, and the body has not ended"
    case .tooManySteps(let limit): "more than \(limit) steps; does a task wait by yielding?"
    case .jobsFromOutside(1):
      "a job came from outside of the exploration, which does not choose when it runs"
    case .jobsFromOutside(let count):
      "\(count) jobs came from outside of the exploration, which does not choose when they run"
    case .diverged(let choice):
      "the tape does not fit this body: choice \(choice), counted from 0, is not there"
    }
  }
}
