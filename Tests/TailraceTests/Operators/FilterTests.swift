import Tailrace
import TailraceTesting
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

  @Test("the right elements are left out", arguments: [[], [1], [2, 2, 1, 1, 2, 2, 3]])
  func elements(_ array: [Int]) async {
    let list = LazyList(array)
    #expect(await list.filter { $0 > 1 }.array() == array.filter { $0 > 1 })
    #expect(await list.filter { _ in false }.isEmpty())
    let texts = await list.compactMap { $0 > 1 ? "\($0)" : nil }.array()
    #expect(texts == array.compactMap { $0 > 1 ? "\($0)" : nil })
    #expect(await list.ignoring(2).array() == array.filter { $0 != 2 })
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
