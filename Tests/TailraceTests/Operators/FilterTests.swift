import Tailrace
import TailraceTesting
import Testing

@Suite("filter, compactMap and removeDuplicates", .inTurn)
struct FilterTests {
  @Test("an optional element is an element")
  func optionals() async {
    #expect(await LazyList<Int?, Never>([1, nil, 3]).removeDuplicates().count() == 3)
  }

  @Test("removeDuplicates keeps the first of each run; the predicate is asked of neighbours")
  func runs() async {
    #expect(await LazyList([2, 2, 1, 1, 2, 3]).removeDuplicates().array() == [2, 1, 2, 3])
    let asked = Probe<[Int]>()
    let rising = LazyList([1, 3, 2, 2, 5]).removeDuplicates {
      asked.record([$0, $1])
      return $1 <= $0
    }
    #expect(await rising.array() == [1, 3, 5])
    #expect(asked.values == [[1, 3], [3, 2], [3, 2], [3, 5]])
  }
}
