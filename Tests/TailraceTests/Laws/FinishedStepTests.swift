import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("A step that ends when nobody waits for it: whoever looks finds its element", .inTurn)
struct FinishedStepTests {
  typealias List = LazyList<Int, any Error>

  /// Lets the step of a list end after its reader has left, while somebody holds the list's claim.
  private func finish(_ list: List, behind gate: Gate) async throws {
    let reader = Task { try await list.head() }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    let evaluator = try #require(list.segment?.evaluator)
    guard let held = evaluator.claim.take() else {
      Issue.record("a claim is held while a step is suspended")
      return
    }
    gate.open()
    while evaluator.steps?.executor.isResting == false { await Task.yield() }
    evaluator.letGo(held)
  }

  private func steps(behind gate: Gate) -> List {
    List(7...9).mapAsync { number in
      await gate.wait()
      return number
    }
  }

  @Test("those who look without computing")
  func look() async throws {
    for look in [
      { $0.evaluatedCount == 1 }, { $0.evaluatedPrefix == [7] }, { $0.description == "[7, …]" },
      { $0.debugDescription == "[7, … unresolved]" },
    ] as [(List) -> Bool] {
      let gate = Gate()
      let list = steps(behind: gate)
      try await finish(list, behind: gate)
      #expect(look(list), "\(list)")
      #expect(try await list.array() == [7, 8, 9])
    }
  }

  @Test("a memo's peek")
  func peek() async throws {
    let (gate, calls) = (Gate(), Counter())
    let memo = Memo<Int, any Error> {
      calls.increment()
      await gate.wait()
      return 7
    }
    #expect(memo.peek == nil && calls.value == 0)
    try await finish(memo.list, behind: gate)
    #expect(memo.peek == 7)
    #expect(try await memo.value() == 7 && calls.value == 1)
  }

  @Test("a reader that is cancelled: the element is evaluated")
  func cancelled() async throws {
    let gate = Gate()
    let list = steps(behind: gate)
    try await finish(list, behind: gate)
    let read = Probe<Int>()
    let reader = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      for try await number in list { read.record(number) }
    }
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(read.values == [7])
  }

  @Test("the end of a list, and a failure that is remembered")
  func others() async throws {
    let outcomes: [(@Sendable (Gate) -> List, String)] = [
      (
        { gate in
          List(state: 0) { _ async throws in
            await gate.wait()
            return nil
          }
        }, "[]"
      ),
      (
        { gate in
          List(state: 0) { _ async throws in
            await gate.wait()
            throw Mishap(position: 0)
          }
        }, "[… failed: Mishap(position: 0)]"
      ),
    ]
    for (make, description) in outcomes {
      let gate = Gate()
      let list = make(gate)
      try await finish(list, behind: gate)
      #expect(list.debugDescription == description)
    }
  }
}
