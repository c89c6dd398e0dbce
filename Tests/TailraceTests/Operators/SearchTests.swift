import Tailrace
import TailraceTesting
import Testing

@Suite("first, contains and allSatisfy", .inTurn)
struct SearchTests {
  @Test("each stops where its answer is known")
  func demand() async {
    let pulls = Probe<Int>()
    let list = LazyList(1...).map { pulls.pass($0) }
    #expect(await list.contains(2))
    #expect(pulls.count == 2)
    #expect(await !list.allSatisfy { $0 < 3 })
    #expect(pulls.count == 3)
    #expect(await list.first { $0 > 3 } == 4)
    #expect(pulls.values == [1, 2, 3, 4])
  }

  @Test("a predicate that throws ends the search, and not the list")
  func throwing() async throws {
    let list = LazyList(1...4)
    await #expect(throws: Mishap(position: 2)) {
      try await list.first { number throws in
        if number == 2 { throw Mishap(position: 2) }
        return false
      }
    }
    let has = await list.contains { number async in
      await Task.yield()
      return number == 4
    }
    #expect(has)
  }
}
