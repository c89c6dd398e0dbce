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
}
