import Tailrace
import TailraceTesting
import Testing

@Suite("prefix, dropFirst and drop", .inTurn)
struct SliceTests {
  typealias List = LazyList<Int, Never>

  @Test(
    "dropFirst across segments",
    arguments: [0, 7, 8, 23, 24, 55, 56, 119, 120, 247, 248, 999, 1000])
  func segments(_ count: Int) async {
    let list = List(0..<1000)
    #expect(await list.dropFirst(count).head() == (count < 1000 ? count : nil))
    #expect(list.evaluatedCount == min(count + 1, 1000))
    #expect(await list.dropFirst(count).count() == 1000 - count)
    #expect(await List(0..<1000).dropFirst(count).array() == Array(count..<1000))
    #expect(await list.dropFirst(.max).isEmpty())
    #expect(await list.dropFirst(500).dropFirst(.max).isEmpty())
  }

  @Test("positions beyond all cells", arguments: [Int.max, .max - 1, .max - 2])
  func greatest(_ position: Int) async {
    // The link to the rest does not lead to its first cell.
    let list = List(0..<9).dropFirst(2).prepending(7)
    #expect(await list.dropFirst(position).isEmpty())
    #expect(await list.element(at: position) == nil)
  }

  @Test("dropping many can be left")
  func cancelled() async {
    await expectCancelled { _ = try await $0.throwingCancellation.element(at: 150_000) }
    await expectCancelled { _ = try await $0.dropFirst(150_000).throwingCancellation.head() }
  }

  @Test("an optional element is an element")
  func optionals() async {
    #expect(await LazyList<Int?, Never>([1, nil, 3]).dropFirst().head() == .some(.none))
  }

  @Test("a negative count stops the program")
  func negative() async {
    await #expect(processExitsWith: .failure) { _ = LazyList<Int, Never>.empty.prefix(-1) }
    await #expect(processExitsWith: .failure) { _ = LazyList<Int, Never>.empty.dropFirst(-1) }
  }

  @Test("the words name the type, the call and the mend")
  func words() async throws {
    // Under load the testing library may lose what a process writes as it dies: looks again.
    for attempt in 1...5 {
      let result = try await #require(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        _ = LazyList<Int, Never>.empty.prefix(-1)
      }
      let words = String(decoding: result.standardErrorContent, as: UTF8.self)
      if words.isEmpty && attempt < 5 { continue }
      #expect(words.contains("LazyList.prefix(_:)"), "\(result.exitStatus): \(words)")
      #expect(words.contains("0 or more"), "\(result.exitStatus): \(words)")
      return
    }
  }

  @Test("the predicate of a dropped prefix is not asked again")
  func drop() async {
    #expect(await List([1, 5, 1]).drop { $0 < 2 }.array() == [5, 1])
  }
}
