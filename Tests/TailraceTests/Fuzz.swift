import Dispatch
import Foundation
import Tailrace
import TailraceSupport
import Testing

/// A random case of a test: it can be run, and made smaller.
protocol FuzzCase: Sendable, CustomStringConvertible {
  init(_ generator: inout SeededGenerator)

  /// Runs the case. Returns what was wrong.
  func problems() async -> [String]

  /// Cases that have less of something, those first that have least.
  var smaller: [Self] { get }
}

enum Fuzz {
  /// Runs random cases until one fails, and reports its seed and the smallest case that fails like it.
  ///
  /// - Parameter repetitions: how often a smaller case is tried. A race does not fail each time.
  static func run<Case: FuzzCase>(
    _: Case.Type, rounds: Int, repetitions: Int = 50,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let watch = HangWatch()
    defer { watch.stop() }
    for round in 0..<rounds {
      let seed = RandomCases.firstSeed &+ UInt64(round)
      var generator = SeededGenerator(seed: seed)
      let first = Case(&generator)
      watch.begins { "TAILRACE_SEED=\(seed): \(first)" }
      let problems = await first.problems()
      guard !problems.isEmpty else { continue }
      let smallest = await smallest((first, problems), repetitions, watch)
      Issue.record(
        """
        TAILRACE_SEED=\(seed), round \(round): \(problems.prefix(4).joined(separator: "; "))
        the smallest case that fails: \(smallest.case): \(smallest.problems.prefix(4).joined(separator: "; "))
        """, sourceLocation: sourceLocation)
      return
    }
  }

  /// Makes a case smaller for as long as it still fails.
  static func smallest<Case: FuzzCase>(
    _ failing: (case: Case, problems: [String]), _ repetitions: Int, _ watch: HangWatch? = nil
  ) async -> (case: Case, problems: [String]) {
    var found = failing
    // A case that fails rarely would be tried for ever.
    var patience = 2_000
    search: while true {
      for smaller in found.case.smaller {
        watch?.begins { "\(smaller)" }
        for _ in 0..<repetitions {
          guard patience > 0 else { return found }
          patience -= 1
          let problems = await smaller.problems()
          guard problems.isEmpty else {
            found = (smaller, problems)
            continue search
          }
        }
      }
      return found
    }
  }
}

/// Says which case it is that does not end. It fails nothing: that is for `hangLimit`.
// Guard: the lock. May touch the timer: who made it.
final class HangWatch: @unchecked Sendable {
  private struct State: Sendable {
    var number = 0
    var seen = 0
    var text: @Sendable () -> String = { "" }
  }

  private let state = Locked(State())
  private let timer = DispatchSource.makeTimerSource()

  init(every seconds: Double = 60) {
    timer.setEventHandler { [weak self] in
      guard let text = self?.stuck() else { return }
      FileHandle.standardError.write(Data("still running: \(text())\n".utf8))
    }
    timer.schedule(deadline: .now() + seconds, repeating: seconds)
    timer.resume()
  }

  /// The case that has been running since the last time, if there is one.
  private func stuck() -> (@Sendable () -> String)? {
    state.withLock { state in
      defer { state.seen = state.number }
      return state.number == state.seen && state.number > 0 ? state.text : nil
    }
  }

  func begins(_ text: @escaping @Sendable () -> String) {
    state.withLock { state in
      state.number += 1
      state.text = text
    }
  }

  func stop() { timer.cancel() }
}
