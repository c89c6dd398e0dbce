import Tailrace
import Testing

@Suite("uniqued and compacted", .inTurn)
struct UniqueTests {
  typealias List = LazyList<Int, Never>

  @Test("of an endless list, and cancelled where nothing new comes")
  func endless() async {
    #expect(await List(1...).map { $0 % 7 }.uniqued().prefix(7).count() == 7)
    await expectCancelled {
      _ = try await $0.map { _ in 1 }.uniqued().throwingCancellation.element(at: 1)
    }
    await expectCancelled {
      _ = try await $0.map { _ in Int?.none }.compacted().throwingCancellation.head()
    }
  }

  @Test("the kinds of closures give lists, without a word about types")
  func kinds() async throws {
    let uniqued: LazyList<Int, any Error> = List(1...4).uniqued { number throws in number % 2 }
    #expect(try await uniqued.array() == [1, 2])
    #expect(await LazyList(["ada", "bob", "al"]).uniqued(on: \.first).array() == ["ada", "bob"])
  }

  @Test("all that are not nil")
  func compacted() async {
    #expect(await LazyList([nil, 1, nil, 2]).compacted().array() == [1, 2])
    #expect(await LazyList([Int?.none]).compacted().isEmpty())
  }
}
