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

  @Test("grouped: the elements of a group in the order of the list", arguments: [0, 1, 100])
  func order(_ length: Int) async throws {
    let (list, array) = (List(0..<length), Array(0..<length))
    let expected = Dictionary(grouping: array) { $0 % 3 }
    #expect(await list.grouped { $0 % 3 } == expected)
    #expect(try await list.grouped { number throws in number % 3 } == expected)
    let asynchronous = await list.grouped { number async -> Int in
      await Task.yield()
      return number % 3
    }
    #expect(asynchronous == expected)
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
