import Foundation
@testable import Tailrace
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
  private static let turns = Turns(ProcessInfo.processInfo.activeProcessorCount * 2)

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Self.turns.take()
    defer { Self.turns.giveBack() }
    try await function()
  }
}

/// So many at a time; the others wait in the order in which they came.
private final class Turns: Sendable {
  private struct State: Sendable {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
    var first = 0
  }

  private let state: Locked<State>

  init(_ count: Int) { state = Locked(State(free: count)) }

  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.first < state.waiting.count else {
        state.free += 1
        return nil
      }
      defer { state.first += 1 }
      return state.waiting[state.first]
    }
    next?.resume()
  }
}
