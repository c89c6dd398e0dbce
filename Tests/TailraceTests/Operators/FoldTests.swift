import Tailrace
import TailraceTesting
import Testing

@Suite("reduce and forEach", .inTurn)
struct FoldTests {
  typealias List = LazyList<Int, Never>

  @Test("reduce of each kind")
  func reduce() async throws {
    let list = List(1...4)
    #expect(await list.reduce("") { $0 + "\($1)" } == "1234")
    #expect(try await list.reduce("") { (text, number) throws in text + "\(number)" } == "1234")
    #expect(await list.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4])
    let joined = await list.reduce("") { (text, number) async in
      await Task.yield()
      return text + "\(number)"
    }
    #expect(joined == "1234")
  }

  @Test("forEach ends with its closure's failure")
  func forEach() async {
    await #expect(throws: Mishap.self) {
      try await List(1...4).forEach { number throws in
        if number == 2 { throw Mishap(position: number) }
      }
    }
  }

  @Test("of the empty list, the initial value; sum")
  func empty() async {
    #expect(await List.empty.reduce(7) { $0 + $1 } == 7)
    #expect(await List.empty.sum() == 0)
    #expect(await List(1...4).sum() == 10)
  }
}
