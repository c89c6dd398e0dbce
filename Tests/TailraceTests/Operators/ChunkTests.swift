import Tailrace
import TailraceTesting
import Testing

@Suite("windows and chunked", .inTurn)
struct ChunkTests {
  typealias List = LazyList<Int, Never>

  @Test("windows and runs hold no more than one of them")
  func space() async {
    let instances = InstanceCounter()
    #expect(await SpaceTests.members(instances).windows(ofCount: 3).count() == 998)
    #expect(
      await SpaceTests.members(instances).chunked { $0.number / 10 == $1.number / 10 }.count()
        == 100)
    #expect(instances.alive == 0)
    #expect(instances.greatest <= 12)
  }

  @Test("of endless lists")
  func endless() async {
    #expect(await List(1...).windows(ofCount: 3).element(at: 4) == [5, 6, 7])
    #expect(await List(1...).chunked { $0 / 4 == $1 / 4 }.head() == [1, 2, 3])
  }

  @Test("a run without an end is cancelled")
  func cancelled() async {
    await expectCancelled { _ = try await $0.chunked { _, _ in true }.throwingCancellation.head() }
    await expectCancelled { _ = try await $0.chunked { _ in 1 }.throwingCancellation.head() }
    await expectCancelled { _ = try await $0.chunks(ofCount: 150_000).throwingCancellation.head() }
  }

  @Test("the kinds of closures give lists, without a word about types")
  func kinds() async throws {
    let chunks = List(1...4).chunked { left, right async in left / 3 == right / 3 }
    #expect(try await chunks.array() == [[1, 2], [3, 4]])
    let initials = await LazyList(["ada", "al", "bob"]).chunked(on: \.first).array()
    #expect(initials.map(\.0) == ["a", "b"])
    #expect(initials.map(\.1) == [["ada", "al"], ["bob"]])
  }
}
