import Tailrace
import Testing

@Suite("first, contains and allSatisfy", .inTurn)
struct SearchTests {
  @Test("what is found, and what is not")
  func searches() async {
    let list = LazyList(1...4)
    #expect(await list.first { $0 > 2 } == 3)
    #expect(await list.contains(4))
    #expect(await !list.contains(5))
    #expect(await list.allSatisfy { $0 < 5 })
  }
}
