import Tailrace
import Testing

@Suite("map", .inTurn)
struct MapTests {
  @Test("the kinds of closures give lists")
  func kinds() {
    let list = LazyList(1...3)
    expectList(list.map { $0 }, Never.self)
    expectList(list.map { number throws in number }, (any Error).self)
    expectList(list.map { number async in number }, Never.self)
    expectList(list.map { number async throws in number }, (any Error).self)
    let mapped = list.map { number async in number }
    expectList(mapped, Never.self)
  }
}
