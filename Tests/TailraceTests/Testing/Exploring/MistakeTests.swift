import Foundation
import Synchronization
import TailraceTesting
import Testing

/// Threads that keep processors busy, until they are told to stop.
private final class BusyLoops: Sendable {
  private let isOver = Atomic(false)

  init(_ count: Int) {
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        while !isOver.load(ordering: .relaxed) {}
      }
    }
  }

  func stop() { isOver.store(true, ordering: .relaxed) }
}

@Suite("explore: the mistakes that it finds, and those that it does not", .hangLimit, .inTurn)
struct MistakeTests {
  private static let options = ExplorationOptions(patience: .milliseconds(2))

  private static func find(
    _ mistake: Mistake, isMended: Bool, _ options: ExplorationOptions = options,
    replaying tape: ExplorationTape? = nil
  ) async throws -> ExplorationSummary {
    try await explore(options, replaying: tape) { run in
      if let words = await mistake.run(isMended, run.clock) { run.fail(words) }
    }
  }

  // An optimised build leaves out the point between a call of one actor and a call of another.
  #if DEBUG
    private static let findable = Mistake.all
  #else
    private static let findable = Mistake.all.filter { $0.name != Mistake.wakeUp.name }

    @Test("not found in an optimised build: what happens between the calls of two actors")
    func optimised() async throws {
      #expect(try await Self.find(.wakeUp, isMended: false).triedAllOrders)
    }
  #endif

  @Test(
    "a mistake is found, and its tape fails each time in the same steps, on a busy machine, too",
    arguments: findable, [0, 2])
  func found(_ mistake: Mistake, busyLoops: Int) async throws {
    let loops = BusyLoops(busyLoops)
    defer { loops.stop() }
    let found = try await #require(throws: ExplorationFailure.self) {
      try await Self.find(mistake, isMended: false)
    }
    print("\(mistake.name): found in run \(found.runs), tape “\(found.tape)”")
    #expect(found.isReproducible)
    #expect(found.jobsFromOutside == 0)
    var reports: Set<String> = []
    for _ in 0..<RandomCases.count("TAILRACE_REPLAYS", debug: 100, optimised: 1_000, full: 10) {
      let replayed = try await #require(throws: ExplorationFailure.self) {
        try await Self.find(mistake, isMended: false, replaying: found.tape)
      }
      reports.insert(replayed.report)
    }
    #expect(reports.count == 1)
  }

  @Test("mended, it is not", arguments: Mistake.all)
  func mended(_ mistake: Mistake) async throws {
    let summary = try await Self.find(mistake, isMended: true)
    #expect(summary.jobsFromOutside == 0 && summary.divergedRuns == 0)
    #expect(summary.runs > 1)
  }

  @Test("not found: what happens between two locks, without an await in between")
  func lock() async throws {
    let every = ExplorationOptions(preemptions: .max, patience: .milliseconds(2))
    let summary = try await Self.find(.lock, isMended: false, every)
    #expect(summary.triedAllOrders)
  }
}
