import Tailrace
import Testing

@testable import TailraceLists

@Suite("YieldHeuristic: whether a yield mostly brings what is waited for", .inTurn)
struct YieldHeuristicTests {
  private let heuristic = YieldHeuristic()

  /// How many of so many questions are answered with yes, each of which is then a miss.
  private func tried(of count: Int) -> Int {
    (0..<count).count { _ in
      guard heuristic.isWorthTrying else { return false }
      heuristic.note(false)
      return true
    }
  }

  @Test("it is tried until it has failed four times in a row, then one time of thirty-two")
  func misses() {
    #expect(tried(of: 4) == 4)
    #expect(tried(of: 28) == 0)
    #expect(tried(of: 320) == 10)
  }

  @Test("one success starts it again")
  func success() {
    #expect(tried(of: 20) == 4)
    heuristic.note(true)
    #expect(tried(of: 20) == 4)
    for _ in 0..<100 {
      heuristic.note(true)
      #expect(tried(of: 3) == 3)
    }
  }
}
