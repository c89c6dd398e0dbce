import TailraceTesting
import Testing

@testable import Tailrace

@Suite("MissingCell: cells that need each other are computed from the top of the stack", .inTurn)
struct MissingCellTests {
  /// The front of a list that answers as a test says.
  // Guard: one test, which runs on one thread. May touch it: that test.
  private final class Front: MemoCells, @unchecked Sendable {
    let title: String
    var attempts = 0
    /// What the failed attempts were that were passed down.
    var told: [Int?] = []
    var depths: [Int] = []
    var cycle: CyclicEvaluationError?
    var answer: (Int) -> MissingCell.Attempt = { _ in .settled(nil) }

    init(_ title: String) { self.title = title }

    var cell: MissingCell { MissingCell(self, mark: Published(count: 0), isBulk: false) }
    var place: ObjectIdentifier { ObjectIdentifier(self) }
    func position(of mark: Published) -> Int { mark.count }
    func isMissing(_ mark: Published) -> Bool { true }
    func stopComputing() {}
    func fail(_ mark: Published, with cycle: CyclicEvaluationError) { self.cycle = cycle }

    func attempt(_ cell: MissingCell, _ demand: Demand) -> MissingCell.Attempt {
      attempts += 1
      depths.append(demand.budget.depth)
      told.append(demand.budget.told?._withUnsafeGuaranteedRef { $0.position })
      return answer(attempts)
    }

    nonisolated(nonsending) func wait(
      for cell: MissingCell, asked: (any MemoCells)?, cancellable: Bool
    ) async -> ResumeReason { .retry }
  }

  private let top = Front("top")
  private let middle = Front("middle")
  private let bottom = Front("bottom")

  private func settle() -> MissingCell.Settled {
    top.cell.settleNow(isOutermost: true, telling: nil)
  }

  private func isSettled(_ settled: MissingCell.Settled) -> Bool {
    if case .settled = settled.outcome { true } else { false }
  }

  @Test("the deepest first, and then each above it again")
  func deeper() {
    top.answer = { [middle] in $0 == 1 ? .blocked(middle.cell) : .settled(nil) }
    middle.answer = { [bottom] in $0 == 1 ? .blocked(bottom.cell) : .settled(nil) }
    let settled = settle()
    #expect(isSettled(settled) && settled.attempt == nil)
    #expect([top.attempts, middle.attempts, bottom.attempts] == [2, 2, 1])
  }

  @Test("one that another task computes has to be waited for")
  func waiting() {
    top.answer = { [middle] _ in .blocked(middle.cell) }
    middle.answer = { [middle] _ in .mustWait(middle.cell) }
    guard case .mustWait(let missing) = settle().outcome else {
      Issue.record("it is not waited for")
      return
    }
    #expect(missing.cells === middle && top.attempts == 1)
  }

  @Test("what was given up is not tried again")
  func abandoned() {
    top.answer = { _ in .abandoned }
    guard case .abandoned = settle().outcome else {
      Issue.record("it was tried again")
      return
    }
    #expect(top.attempts == 1)
  }

  @Test(
    "an attempt that failed below is passed down with the attempt above, and told to the reader")
  func failed() {
    top.answer = { [middle] in $0 == 1 ? .blocked(middle.cell) : .settled(nil) }
    middle.answer = { _ in .failedTransiently(Mishap(position: 0)) }
    let settled = settle()
    #expect(isSettled(settled))
    #expect(top.told == [nil, 0] && middle.told == [nil])
    #expect(settled.attempt?.isAt(middle.place, 0) == true && settled.attempt?.failure is Mishap)
  }

  @Test("the attempt that the reader brings is passed down, and is nothing new to it")
  func told() {
    let attempt = FailedAttempt(middle.place, 7, Mishap(position: 7))
    let settled = top.cell.settleNow(isOutermost: true, telling: attempt)
    #expect(top.told == [7] && settled.attempt == nil)
  }

  @Test("cells that need each other are found in small steps, and one gets the error as its fate")
  func cycle() {
    middle.answer = { [middle, top] _ in middle.cycle == nil ? .blocked(top.cell) : .settled(nil) }
    top.answer = { [middle, top] _ in top.cycle == nil ? .blocked(middle.cell) : .settled(nil) }
    _ = settle()
    let found = [top, middle].compactMap(\.cycle)
    #expect(found.count == 1)
    #expect(Set(found.first?.lists ?? []) == ["top", "middle"])
    #expect(top.depths.contains(fullBudget) && top.depths.contains(2))
  }
}
