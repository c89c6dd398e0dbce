import Tailrace
import Testing

@Suite("filter, compactMap and removeDuplicates", .inTurn)
struct FilterTests {
  @Test("the kinds of closures give lists")
  func kinds() {
    let list = LazyList(1...3)
    let compacted = list.compactMap { number async throws in Optional(number) }
    expectList(compacted, (any Error).self)
    let filtered = list.filter { number async in number > 0 }
    expectList(filtered, Never.self)
    let thrown = list.filter { number throws in number > 0 }
    expectList(thrown, (any Error).self)
  }

  @Test("an optional element is an element")
  func optionals() async {
    #expect(await LazyList<Int?, Never>([1, nil, 3]).removeDuplicates().count() == 3)
  }
}
