import Tailrace
import Testing

@Suite("array, eager, count and last", .inTurn)
struct CollectTests {
  @Test("an optional element is an element")
  func optionals() async {
    let list = LazyList<Int?, Never>([1, nil, 3])
    #expect(await list.count() == 3)
    #expect(await list.array() == [1, nil, 3])
    let same = list.map { $0 }
    #expect(await same.last() == .some(.some(3)))
    #expect(await LazyList<Int?, Never>.just(nil).count() == 1)
  }
}
