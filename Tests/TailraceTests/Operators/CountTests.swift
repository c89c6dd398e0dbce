import Tailrace
import TailraceTesting
import Testing

@Suite("The position of the first that is found, and count", .inTurn)
struct CountTests {
  typealias List = LazyList<Int, Never>

  @Test("the position of an element of an endless list; a search without a find is cancelled")
  func endless() async {
    #expect(await List(1...).enumerated().first { $0.element > 100 }?.offset == 100)
    await expectCancelled { list in
      _ = try await list.throwingCancellation.enumerated().first { $0.element < 0 }
    }
    await expectCancelled { _ = try await $0.throwingCancellation.count { $0 < 0 } }
  }

  @Test("a search stops at what it has found")
  func demand() async {
    let pulls = Probe<Int>()
    let list = List(1...).map { pulls.pass($0) }
    #expect(await list.enumerated().first { $0.element == 3 }?.offset == 2)
    #expect(pulls.values == [1, 2, 3])
  }
}
