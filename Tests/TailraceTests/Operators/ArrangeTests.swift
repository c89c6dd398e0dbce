import Tailrace
import Testing

@Suite("sorted and grouped", .inTurn)
struct ArrangeTests {
  @Test("grouped, by a key path")
  func grouped() async {
    #expect(await LazyList(["ada", "bob", "al"]).grouped(by: \.first)["a"] == ["ada", "al"])
  }
}
