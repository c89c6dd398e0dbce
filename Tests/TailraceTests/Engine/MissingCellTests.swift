import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("MissingCell: cells that need each other are computed from the top of the stack", .inTurn)
struct MissingCellTests {
  /// The front of a list that answers as a test says.
  // Guard: one test, which runs on one thread. May touch it: that test.
  private final class Front: AwaitedPlace, @unchecked Sendable {
    let title: Title
    var attempts = 0
    /// For each attempt, whether its reader has waited.
    var hasWaited: [Bool] = []
    var depths: [Int] = []
    var cycle: CyclicEvaluationError?
    /// Why an attempt gives nothing; `nil` if there is something new.
    var answer: (Int) -> Absence? = { _ in nil }

    init(_ title: Title) { self.title = title }

    var cell: MissingCell { MissingCell(self, mark: Published(count: 0), .one) }
    var awaitedWorker: (any Worker)? { nil }
    func isMissing(_ cell: MissingCell) -> Bool { true }
    func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? { .lookAgain }
    func leave(_ waiter: Waiter) {}
    var raised: (any Raised)? { nil }
    func fail(_ mark: Published, with cycle: CyclicEvaluationError) { self.cycle = cycle }

    func attempt(_ cell: MissingCell, _ demand: Demand, _ absence: inout Absence) -> Bool {
      attempts += 1
      depths.append(demand.depth)
      hasWaited.append(demand.hasWaited)
      guard let answer = answer(attempts) else { return true }
      absence = answer
      return false
    }
  }

  private let top = Front("top")
  private let middle = Front("middle")
  private let bottom = Front("bottom")

  private func settle() -> Absence? { top.cell.settleNow(stops: false) }

  @Test(
    "the amount, the mark of a claim, and whether its reader has waited share a word",
    arguments: [Amount.one, .all], [0, 1, 2, 3])
  func request(_ amount: Amount, _ bits: Int) {
    let (isTaken, hasWaited) = (bits & 1 == 1, bits & 2 == 2)
    let cell = MissingCell(
      top, mark: Published(count: 3), amount, isTaken: isTaken, hasWaited: hasWaited)
    #expect(cell.amount == amount && cell.isTaken == isTaken && cell.hasWaited == hasWaited)
  }

  @Test("the deepest first, and then each above it again")
  func deeper() {
    top.answer = { [middle] in $0 == 1 ? .missing(middle.cell) : nil }
    middle.answer = { [bottom] in $0 == 1 ? .missing(bottom.cell) : nil }
    let obstacle = settle()
    #expect(obstacle == nil)
    #expect([top.attempts, middle.attempts, bottom.attempts] == [2, 2, 1])
  }

  @Test("one that another task computes has to be waited for")
  func waiting() {
    top.answer = { [middle] _ in .missing(middle.cell) }
    middle.answer = { [middle] _ in .missing(middle.cell) }
    guard case .missing(let missing)? = settle() else {
      Issue.record("it is not waited for")
      return
    }
    #expect(missing.place === middle && top.attempts == 1)
  }

  @Test("a cell of a released definition is not tried again")
  func abandoned() {
    top.answer = { _ in .released }
    guard case .released? = settle() else {
      Issue.record("it was tried again")
      return
    }
    #expect(top.attempts == 1)
  }

  @Test(
    "after a failed attempt below, that above is made, which is told", arguments: [false, true])
  func failed(_ hasWaited: Bool) {
    top.answer = { [middle] in
      $0 == 1
        ? .missing(
          MissingCell(middle, mark: Published(count: 0), .one, hasWaited: hasWaited)) : nil
    }
    middle.answer = { _ in .failedTransiently(Mishap(position: 0)) }
    let obstacle = settle()
    #expect(obstacle == nil)
    #expect(top.hasWaited == [false, true], "the attempt below was made for it")
    #expect(middle.hasWaited == [hasWaited], "as the demand that has missed it")
  }

  @Test(
    "a long search unwinds a deep chain seldom, and a flat one often",
    arguments: [(0, 1...1), (1, 1...2), (40, 3...5), (400, 24...28)])
  func pauses(_ depth: Int, _ pauses: ClosedRange<Int>) {
    let chain = [top] + (0..<depth).map { Front("\($0)") }
    for (above, below) in zip(chain, chain.dropFirst()) {
      above.answer = { [unowned below] _ in .missing(below.cell) }
    }
    chain.last?.answer = { _ in .paused }
    guard case .paused? = settle() else {
      Issue.record("the search does not pause")
      return
    }
    #expect(pauses.contains(chain.last?.attempts ?? 0))
    // The same for a search that needs one cell after the other.
    guard depth > 0 else { return }
    chain.last?.answer = { _ in nil }
    chain.last?.attempts = 0
    guard case .paused? = settle() else {
      Issue.record("the search does not pause")
      return
    }
    #expect((4 * depth...4 * depth + 64).contains(chain.last?.attempts ?? 0))
  }

  @Test("cells that need each other are found in small steps, and one gets the error as its fate")
  func cycle() {
    middle.answer = { [middle, top] _ in middle.cycle == nil ? .missing(top.cell) : nil }
    top.answer = { [middle, top] _ in top.cycle == nil ? .missing(middle.cell) : nil }
    _ = settle()
    let found = [top, middle].compactMap(\.cycle)
    #expect(found.count == 1)
    #expect(Set(found.first?.lists ?? []) == ["top", "middle"])
    #expect(top.depths.contains(fullDepth) && top.depths.contains(2))
  }
}
