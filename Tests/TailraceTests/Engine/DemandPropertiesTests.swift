import Tailrace
import Testing

@testable import TailraceLists

@Suite("Demand: a depth, an amount and its reader's manner, in a word")
struct DemandPropertiesTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let depth: Int
    let amount: Amount

    var testDescription: String { "\(amount) at \(depth)" }
  }

  static let cases = [0, 1, 2, fullDepth].flatMap { depth in
    [Amount.one, .all].map { Case(depth: depth, amount: $0) }
  }

  private func demand(_ its: Case) -> Demand {
    var demand = Demand(its.amount)
    demand.depth = its.depth
    return demand
  }

  private func has(_ demand: Demand, _ depth: Int, _ amount: Amount) -> Bool {
    demand.depth == depth && demand.amount == amount
  }

  @Test("each property keeps the other", arguments: cases)
  func properties(_ its: Case) {
    #expect(has(demand(its), its.depth, its.amount))
    var changed = demand(its)
    changed.amount = .all
    #expect(has(changed, its.depth, .all))
    #expect(has(changed.forOne, its.depth, .one))
  }

  @Test("one call deeper, the depth is one less; one step deeper, eight", arguments: cases)
  func deeper(_ its: Case) {
    for stops in [false, true] {
      var demand = demand(its)
      demand.stops = stops
      #expect(has(demand.deeper, its.depth - 1, its.amount) && demand.deeper.stops == stops)
      #expect(has(demand.forOne, its.depth, .one) && demand.forOne.stops == stops)
      #expect(has(demand.forStep, its.depth - 8, .one) && !demand.forStep.stops)
    }
  }

  @Test("whether its reader has waited is passed on", arguments: cases)
  func waited(_ its: Case) {
    var demand = demand(its)
    #expect(!demand.hasWaited)
    demand.hasWaited = true
    #expect(has(demand, its.depth, its.amount))
    for passed in [demand.deeper, demand.forOne, demand.forStep, demand.forCells, demand.gathering]
    {
      #expect(passed.hasWaited)
    }
    demand.hasWaited = false
    #expect(has(demand, its.depth, its.amount) && !demand.deeper.hasWaited)
  }

  @Test("what is gathered, and what may be dropped", arguments: cases)
  func gathered(_ its: Case) {
    let demand = demand(its)
    let isAll = its.amount == .all
    #expect(!demand.isGathered && !demand.mayBeDropped)
    #expect(demand.gathering.isGathered == isAll && !demand.gathering.mayBeDropped)
    #expect(demand.forCells.isGathered == isAll && demand.forCells.mayBeDropped == isAll)
    // A stage pulls single elements for it; they may be dropped all the same.
    #expect(!demand.forCells.forOne.isGathered && demand.forCells.forOne.mayBeDropped == isAll)
    #expect(!demand.forCells.forStep.isGathered && demand.forCells.forStep.mayBeDropped == isAll)
    #expect(has(demand.forCells.deeper, its.depth - 1, its.amount))
  }

  @Test("it is passed in a register")
  func size() {
    #expect(MemoryLayout<Demand>.size == MemoryLayout<Int>.size)
  }
}
