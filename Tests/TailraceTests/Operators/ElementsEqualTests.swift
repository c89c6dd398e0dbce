import Tailrace
import TailraceTesting
import Testing

@Suite("elementsEqual", .inTurn)
struct ElementsEqualTests {
  typealias List = LazyList<Int, Never>

  @Test("stops at the first difference, and touches nothing behind it")
  func difference() async {
    let (left, right) = (Probe<Int>(), Probe<Int>())
    let one = List(1...).map { left.pass($0) }
    let other = List(1...).map { right.pass($0) == 3 ? 0 : $0 }
    #expect(await !one.elementsEqual(other))
    #expect(left.values == [1, 2, 3] && right.values == [1, 2, 3])
    // The shorter list needs no more than that the other one goes on.
    #expect(await !one.prefix(1).elementsEqual(one))
    #expect(await !List.empty.elementsEqual(one))
    #expect(left.count == 3)
  }

  @Test("an endless rest that both share is equal to itself, unevaluated")
  func sharedRest() async {
    let probe = Probe<Int>()
    let rest = List(1...).map { probe.pass($0) }
    #expect(await rest.elementsEqual(rest))
    #expect(await rest.prepending(0).elementsEqual(rest.prepending(0)))
    #expect(await !rest.prepending(0).elementsEqual(rest.prepending(9)))
    #expect(await rest.prepending(0).prepending(0).elementsEqual([0] + rest.prepending(0)))
    #expect(probe.count == 0)
    #expect(await rest.tail.prepending(1).elementsEqual(rest))
    #expect(probe.values == [1])
    // A concatenation finds out where it goes on when it gives the element behind.
    #expect(await ([8, 9] + rest).elementsEqual([8] + rest.prepending(9)))
    #expect(probe.values == [1])
    #expect(await rest.dropFirst(200).elementsEqual(rest.dropFirst(200)))
    #expect(probe.count <= 201)
  }

  @Test("lists that share nothing are not taken for the same where both are fused")
  func fused() async {
    #expect(await !List(1...3).map { $0 }.elementsEqual(List(1...3).map { $0 + 1 }))
    #expect(await List(1...300).map { $0 }.elementsEqual(List(1...300).filter { $0 > 0 }))
    #expect(await !List(1...300).map { $0 }.elementsEqual(List(1...299).filter { $0 > 0 }))
  }

  @Test("a nil element is not an end")
  func optionals() async {
    let list: LazyList<Int?, Never> = [1, nil]
    #expect(await list.elementsEqual([1, nil]))
    #expect(await !list.elementsEqual([1]))
    #expect(await !LazyList<Int?, Never>([1]).elementsEqual(list))
    #expect(await !LazyList<Int?, Never>([nil]).elementsEqual([]))
  }

  @Test("a failure counts if it comes before a difference")
  func failures() async throws {
    let failing = LazyList<Int, any Error>([1]) + .failing(Mishap(position: 1))
    await #expect(throws: Mishap.self) { try await failing.elementsEqual([1, 2]) }
    await #expect(throws: Mishap.self) {
      try await LazyList<Int, any Error>([1, 2]).elementsEqual(failing)
    }
    #expect(try await !failing.elementsEqual([2]))
    #expect(try await !List([1, 2]).setFailureType().elementsEqual(LazyList<Int, any Error>([1])))
    let typed = LazyList<Int, Mishap>([1])
    #expect(try await typed.elementsEqual(List([1]).setFailureType()))
    #expect(try await failing.elementsEqual(failing), "the same rest, whatever it is")
  }

  @Test("by a predicate")
  func predicates() async {
    let (numbers, texts) = (List(1...3), LazyList(["1", "2", "3"]))
    #expect(await numbers.elementsEqual(texts) { "\($0)" == $1 })
    #expect(await !numbers.elementsEqual(texts) { "\($0)" == $1 && $0 < 3 })
    // A shared rest says nothing about a predicate that does not hold of an element and itself.
    #expect(await !numbers.elementsEqual(numbers) { $0 < $1 })
  }

  @Test("constant memory when nobody holds the heads")
  func space() async {
    let instances = InstanceCounter()
    func list() -> LazyList<Int, Never> {
      List(1...100_000).map { instances.member($0) }.map { $0.number }
    }
    #expect(await list().elementsEqual(list()))
    #expect(instances.greatest < 1_000)
  }
}
