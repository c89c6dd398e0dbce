import Tailrace
import TailraceTesting
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

  @Test("it gives as many elements, of another type, for each reader the same ones")
  func elements() async {
    let calls = Probe<Int>()
    let texts = LazyList(0..<300).map { "\(calls.pass($0))" }
    #expect(await texts.element(at: 2) == "2")
    #expect(calls.values == [0, 1, 2])
    for _ in 0..<2 { #expect(await texts.array() == (0..<300).map { "\($0)" }) }
    #expect(calls.values == Array(0..<300))
  }
}
