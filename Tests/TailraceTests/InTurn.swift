import Foundation
import TailraceTesting
import Testing

extension Trait where Self == InTurn {
  /// Runs the tests of a suite when it is their turn, a few of the whole run at a time.
  ///
  /// Else all tests begin at once, and each waits for all others at every suspension: time limits count
  /// that, a task that a test leaves to itself for a moment runs for minutes, and the monitor of exit
  /// tests keeps a processor busy until the process that it found is looked at.
  static var inTurn: Self { InTurn() }
}

struct InTurn: SuiteTrait, TestTrait, TestScoping {
  /// A pass for each test that may run; those who wait get one in the order in which they came.
  private static let turns: Gate = {
    let gate = Gate()
    for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 { gate.pass() }
    return gate
  }()

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Self.turns.wait()
    defer { Self.turns.pass() }
    try await function()
  }
}
