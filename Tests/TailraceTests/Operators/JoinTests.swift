import Tailrace
import TailraceTesting
import Testing

@Suite("+, joined, cycled and interspersed", .inTurn)
struct JoinTests {
  typealias List = LazyList<Int, Never>

  @Test("cycled: nothing for nothing, one pass for the source")
  func cycled() async {
    #expect(await List.empty.cycled().isEmpty())
    let pulls = Probe<Int>()
    let cycle = List(1...3).map { pulls.pass($0) }.cycled()
    #expect(await cycle.prefix(100).count() == 100)
    #expect(pulls.values == [1, 2, 3])
  }

  @Test("concatenations share the cells of their lists")
  func concatenation() async {
    let pulls = Probe<Int>()
    let list = List(1...3).map { pulls.pass($0) }
    let twice = list + list
    let more = twice + [9] + twice
    #expect(await more.array() == [1, 2, 3, 1, 2, 3, 9, 1, 2, 3, 1, 2, 3])
    #expect(await twice.array() == [1, 2, 3, 1, 2, 3])
    #expect(pulls.values == [1, 2, 3])
    #expect(await (List.empty + List.empty).isEmpty())
  }

  @Test("an optional element is an element")
  func optionals() async {
    #expect(await LazyList<Int?, Never>([1, nil, 3]).interspersed(with: nil).count() == 5)
  }

  @Test("joined: empty lists between others, and none at all")
  func joined() async {
    #expect(await LazyList([List.empty, [1, 2], .empty, [3]]).joined().array() == [1, 2, 3])
    #expect(await LazyList<List, Never>.empty.joined().isEmpty())
    #expect(await LazyList([[1, 2], [], [3]]).joined().array() == [1, 2, 3])
    let endless = LazyList([List([1]), List(2...), List([0])]).joined()
    #expect(await endless.element(at: 100) == 101)
  }

  @Test("interspersed: between the elements, and neither before nor behind them")
  func interspersed() async {
    #expect(await List.empty.interspersed(with: 0).isEmpty())
    #expect(await List([1]).interspersed(with: 0).array() == [1])
    #expect(await List(1...3).interspersed(with: 0).array() == [1, 0, 2, 0, 3])
  }

  @Test("a prepended element is there without a demand on the rest")
  func prepended() async {
    let pulls = Probe<Int>()
    let list = List(1...2).map { pulls.pass($0) }.prepending(0)
    #expect(list.evaluatedPrefix == [0])
    #expect(await list.head() == 0)
    #expect(pulls.count == 0)
    #expect(await list.array() == [0, 1, 2])
  }
}
