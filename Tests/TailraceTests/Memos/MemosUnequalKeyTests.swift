import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("Memos: a key that is not equal to itself is another key each time", .hangLimit, .inTurn)
struct MemosUnequalKeyTests {
  struct Kind: CustomTestStringConvertible {
    let name: String
    let make: @Sendable (Counter) -> Memos<Double, Int, any Error>

    var testDescription: String { name }
  }

  /// The closure fails at every third call.
  @Sendable static func compute(_ calls: Counter) throws -> Int {
    let number = calls.increment()
    if number % 3 == 0 { throw Refused() }
    return number
  }

  static let kinds: [Kind] = [
    Kind(name: "unbounded") { calls in Memos { _ in try compute(calls) } },
    Kind(name: "bounded") { calls in Memos(capacity: .count(3)) { _ in try compute(calls) } },
    Kind(name: "bounded by cost, retried") { calls in
      Memos(capacity: .cost(3) { _ in 1 }, retryingFailures: true) { _ in try compute(calls) }
    },
    Kind(name: "timed") { calls in
      Memos(capacity: .count(3), lifetime: .seconds(3600), refreshingAfter: .seconds(60)) { _ in
        try compute(calls)
      }
    },
    Kind(name: "asynchronous") { calls in
      Memos(capacity: .count(3)) { _ in
        await Task.yield()
        return try compute(calls)
      }
    },
  ]

  @Test("each demand computes it, and leaves nothing behind", arguments: kinds)
  func demands(_ kind: Kind) async throws {
    let calls = Counter()
    let memos = kind.make(calls)
    _ = try await memos.value(for: 1)
    for call in 2...30 {
      do {
        #expect(try await memos.value(for: .nan) == call && call % 3 > 0)
      } catch { #expect(error is Refused && call % 3 == 0) }
      #expect(memos.peek(.nan) == nil && memos.count == 1)
    }
    memos.refresh(.nan)
    memos.forget(.nan)
    #expect(calls.value >= 30 && memos.peek(1) == 1)
    #expect(memos.statistics.loads == 31 && memos.statistics.failures == 10)
    #expect(memos.store.table.withLock { $0.base.slots.slots.count } == 1, "slots")
  }

  @Test("a value that is set for it is not kept, and in an empty table nothing has expired")
  func set() {
    let memos = Memos<Double, Int, any Error>(lifetime: .seconds(3600)) { (_: Double) throws in 1 }
    memos.set(7, for: .nan)
    #expect(memos.peek(.nan) == nil && memos.count == 0)
    #expect(memos.store.table.withLock { $0.base.slots.slots.isEmpty })
  }

  @Test(
    "those who ask at the same time each compute it, and one that is cancelled leaves the others")
  func together() async throws {
    let (gate, calls) = (Gate(), Counter())
    let memos = Memos<Double, Int, any Error>(capacity: .count(3)) { (_: Double) async throws in
      await gate.wait()
      return calls.increment()
    }
    let tasks = (0..<5).map { _ in Task { try await memos.value(for: .nan) } }
    await gate.waitForArrivals(5)
    tasks[0].cancel()
    #expect(await tasks[0].result.isFailure)
    gate.open()
    var values: Set<Int> = []
    for task in tasks.dropFirst() { values.insert(try await task.value) }
    #expect(values.count == 4 && memos.count == 0)
  }
}

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
