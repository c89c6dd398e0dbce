import Foundation
import TailraceTesting
import TailraceTestingProcess
import Testing

@Suite(
  "explore(.wholeProcess): unmodified code", .timeLimit(.minutes(20)),
  .enabled(if: ExplorationOptions.canCatchTheProcess))
struct BodyTests {
  private static func explore(
    _ body: Body, replaying tape: ExplorationTape? = nil
  ) async throws -> ExplorationSummary {
    try await TailraceTesting.explore(
      .wholeProcess(body.options), replaying: tape, body: body.run)
  }

  private static let replays =
    ProcessInfo.processInfo.environment["TAILRACE_REPLAYS"].flatMap { Int($0) } ?? 20

  @Test("finds what it should, and a tape replays the same steps", arguments: Body.all)
  func outcome(_ body: Body) async throws {
    let begin = ContinuousClock.now
    var found: ExplorationFailure?
    var summary: ExplorationSummary?
    do { summary = try await Self.explore(body) } catch let failure as ExplorationFailure {
      found = failure
    }
    let time = ContinuousClock.now - begin
    if let summary {
      print("\(body.name): passes, \(summary), \(time)")
      #expect(body.outcome == .passes)
      #expect(summary.jobsFromOutside == 0 && summary.divergedRuns == 0)
    }
    guard let found else { return }
    #expect(Self.outcome(of: found) == body.outcome, "\(found)")
    #expect((found.jobsFromOutside == 0) == body.isClosed)
    guard body.isClosed else { return }
    #expect(found.isReproducible)
    // The tape fails in the same steps each time. A stuck run costs the patience.
    let replays = body.outcome == .isStuck || body.outcome == .takesTooManySteps ? 5 : Self.replays
    let second = ContinuousClock.now
    var reports: Set<String> = []
    for _ in 0..<replays {
      let replayed = try await #require(throws: ExplorationFailure.self) {
        try await Self.explore(body, replaying: found.tape)
      }
      reports.insert(replayed.report)
    }
    #expect(reports.count == 1)
    let steps = found.report.firstMatch(of: /Steps: (\d+)/)?.1 ?? "?"
    print(
      "\(body.name): found in run \(found.runs), \(steps) steps, tape “\(found.tape)”, \(time); "
        + "\(replays) replays alike in \(ContinuousClock.now - second)")
  }

  private static func outcome(of failure: ExplorationFailure) -> Body.Outcome? {
    switch failure.reason {
    case .failed(let words, _, _): .finds(words)
    case .stuck: .isStuck
    case .tooManySteps: .takesTooManySteps
    default: nil
    }
  }
}

extension Body: CustomTestStringConvertible {
  var testDescription: String { name }
}
