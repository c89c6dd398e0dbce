import Tailrace
import TailraceTesting
import Testing

@Suite("forEach", .inTurn)
struct FoldTests {
  typealias List = LazyList<Int, Never>

  @Test("forEach ends with its closure's failure")
  func forEach() async {
    await #expect(throws: Mishap.self) {
      try await List(1...4).forEach { number throws in
        if number == 2 { throw Mishap(position: number) }
      }
    }
  }
}
