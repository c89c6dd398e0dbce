import Tailrace
import Testing

@testable import TailraceLists

@Suite("Demand: a depth, an amount, and where it comes from, in two words")
struct DemandPropertiesTests {
  struct Case: Sendable {
    let depth: Int
    let amount: Amount
    let isOutermost: Bool
  }

  static let cases = [0, 1, 2, fullDepth].flatMap { depth in
    [Amount.one, .all].flatMap { amount in
      [false, true].map { Case(depth: depth, amount: amount, isOutermost: $0) }
    }
  }

  private func demand(_ its: Case) -> Demand {
    var demand = Demand(its.amount)
    demand.isOutermost = its.isOutermost
    demand.depth = its.depth
    return demand
  }

  private func has(_ demand: Demand, _ its: Case) -> Bool {
    demand.depth == its.depth && demand.amount == its.amount
      && demand.isOutermost == its.isOutermost
  }

  @Test("each property keeps the others", arguments: cases)
  func properties(_ its: Case) {
    #expect(has(demand(its), its))
    var changed = demand(its)
    changed.amount = .all
    #expect(has(changed, Case(depth: its.depth, amount: .all, isOutermost: its.isOutermost)))
    #expect(
      has(changed.forOne, Case(depth: its.depth, amount: .one, isOutermost: its.isOutermost)))
    changed = demand(its)
    changed.isOutermost.toggle()
    #expect(has(changed, Case(depth: its.depth, amount: its.amount, isOutermost: !its.isOutermost)))
  }

  @Test("one call deeper, the depth is one less", arguments: cases.filter { $0.depth > 0 })
  func deeper(_ its: Case) {
    let deeper = Case(depth: its.depth - 1, amount: its.amount, isOutermost: its.isOutermost)
    #expect(has(demand(its).deeper, deeper))
  }

  @Test("it is passed in two registers")
  func size() {
    #expect(MemoryLayout<Demand>.size == 2 * MemoryLayout<Int>.size)
  }
}
