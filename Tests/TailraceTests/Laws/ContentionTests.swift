import Foundation
import Tailrace
import TailraceTesting
import Testing

/// `TAILRACE_SCHEDULES` sets how many random schedules are run, `TAILRACE_SEED` where they begin.
private let schedules = Int(ProcessInfo.processInfo.environment["TAILRACE_SCHEDULES"] ?? "") ?? 300
private let firstSeed =
  UInt64(ProcessInfo.processInfo.environment["TAILRACE_SEED"] ?? "")
  ?? UInt64.random(in: 0..<1 << 32)

@Suite("Contention: each element once, no lost wake-up, whoever comes and goes", .inTurn)
struct ContentionTests {
  #if DEBUG
    static let (tasks, length) = (200, 1_000)
  #else
    static let (tasks, length) = (1_000, 10_000)
  #endif

  @Test("a thousand tasks over ten thousand elements", arguments: SourceKind.allCases)
  func many(_ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let length = kind == .plain ? Self.length : Self.length / 10
    let list = kind.make(upTo: length, pulls).map { $0 }
    let whole = await withTaskGroup(of: Bool.self) { group in
      for reader in 0..<Self.tasks {
        group.addTask {
          var expected = 1
          do {
            for try await element in list {
              guard element == expected else { return false }
              expected += 1
              // Some leave early, some are cancelled.
              if reader % 7 == 1, element == reader { return true }
              if reader % 11 == 1, element == reader { withUnsafeCurrentTask { $0?.cancel() } }
            }
          } catch {
            return error is CancellationError && reader % 11 == 1
          }
          return expected == length + 1
        }
      }
      return await group.allSatisfy { $0 }
    }
    #expect(whole)
    #expect(pulls.values == Array(1...length + 1))
  }

  @Test("random schedules: readers join late, leave early, are cancelled")
  func random() async throws {
    for schedule in 0..<schedules {
      let seed = firstSeed &+ UInt64(schedule)
      try await Self.run(seed: seed)
    }
  }

  static func run(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let length = Int.random(in: 1...40, using: &generator)
    let kind = SourceKind.allCases.randomElement(using: &generator) ?? .plain
    let stages = Int.random(in: 0...3, using: &generator)
    let (pulls, calls) = (Probe<Int>(), Calls())
    var list = kind.make(upTo: length, pulls)
    for _ in 0..<stages {
      list =
        Bool.random(using: &generator)
        ? list.map { calls.plain($0, $0) }
        : list.map { await calls.async($0, $0) }
    }
    let expected = Array(1...length)
    let plans = (0..<Int.random(in: 1...10, using: &generator)).map { _ in
      (
        delay: Int.random(in: 0...5, using: &generator),
        leaveAt: Int.random(in: 1...length * 2, using: &generator),
        cancelAfter: Bool.random(using: &generator)
          ? Int.random(in: 0...20, using: &generator) : nil
      )
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for plan in plans {
        group.addTask { [list] in
          for _ in 0..<plan.delay { await Task.yield() }
          let reader = Task {
            var seen: [Int] = []
            do {
              for try await element in list {
                seen.append(element)
                if seen.count == plan.leaveAt { break }
              }
            } catch is CancellationError where plan.cancelAfter != nil {
            }
            return seen
          }
          if let turns = plan.cancelAfter {
            for _ in 0..<turns { await Task.yield() }
            reader.cancel()
          }
          let seen = try await reader.value
          #expect(seen == Array(expected.prefix(seen.count)), "seed \(seed)")
          if plan.cancelAfter == nil {
            #expect(seen.count == min(length, plan.leaveAt), "seed \(seed)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await list.array() == expected, "seed \(seed)")
    #expect(pulls.values == Array(1...length + 1), "seed \(seed)")
    #expect(calls.probe.count == length * stages, "seed \(seed)")
  }
}
