import Tailrace
import TailraceTesting
import Testing

@Suite("firstIndex and count", .inTurn)
struct CountTests {
  typealias List = LazyList<Int, Never>

  @Test("an index of an endless list; a search without a find is cancelled")
  func endless() async {
    #expect(await List(1...).firstIndex { $0 > 100 } == 100)
    await expectCancelled { _ = try await $0.throwingCancellation.firstIndex { $0 < 0 } }
    await expectCancelled { _ = try await $0.throwingCancellation.count { $0 < 0 } }
  }

  @Test("a search stops at what it has found")
  func demand() async {
    let pulls = Probe<Int>()
    #expect(await List(1...).map { pulls.pass($0) }.firstIndex { $0 == 3 } == 2)
    #expect(pulls.values == [1, 2, 3])
  }
}
