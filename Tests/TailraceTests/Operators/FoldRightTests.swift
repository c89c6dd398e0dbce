import Tailrace
import TailraceTesting
import Testing

@Suite("foldRight", .inTurn)
struct FoldRightTests {
  typealias List = LazyList<Int, Never>

  @Test("a right fold of an infinite list stops where the closure does")
  func foldRight() async {
    let list = List(1...)
    let firstAbove = await list.foldRight(0) { first, rest in
      if first > 10 { return first }
      let (once, twice) = (await rest.value(), await rest.value())
      #expect(once == twice)
      return once
    }
    #expect(firstAbove == 11)
    #expect(list.evaluatedCount == 11)
  }

  @Test("a failure of the closure comes through those before it")
  func failure() async {
    await #expect(throws: Mishap.self) {
      try await List(1...4).foldRight(0) { first, rest throws in
        if first == 3 { throw Mishap(position: 3) }
        return first + (try await rest.value())
      }
    }
  }
}
