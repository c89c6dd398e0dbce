import Tailrace
import TailraceTesting
import Testing

@Suite("sorted and grouped", .inTurn)
struct ArrangeTests {
  typealias List = LazyList<Int, Never>

  @Test("sorted, as the standard library sorts", arguments: [[], [1], [3, 1, 2, 3, 1]])
  func sorted(_ array: [Int]) async throws {
    #expect(await List(array).sorted() == array.sorted())
    #expect(await List(array).sorted { $0 > $1 } == array.sorted { $0 > $1 })
    #expect(
      try await List(array).sorted { (left, right) throws in left > right } == array.sorted(by: >))
  }

  @Test("grouped, by a key path")
  func grouped() async {
    #expect(await LazyList(["ada", "bob", "al"]).grouped(by: \.first)["a"] == ["ada", "al"])
  }

  @Test("a failure of the closure, and one of the list")
  func failures() async {
    await #expect(throws: Mishap.self) {
      try await List(1...3).grouped { number throws -> Int in throw Mishap(position: number) }
    }
    await #expect(throws: Mishap.self) {
      try await List([2, 1]).sorted { (_, _) throws in throw Mishap(position: 0) }
    }
    let failing = [2, 1] + LazyList<Int, Mishap>.failing(Mishap(position: 2))
    await #expect(throws: Mishap(position: 2)) { try await failing.sorted() }
  }
}
