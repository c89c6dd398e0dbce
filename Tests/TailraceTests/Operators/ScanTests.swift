import Tailrace
import Testing

@Suite("enumerated, adjacentPairs and chunks", .inTurn)
struct ScanTests {
  @Test("chunks of no elements stop the program")
  func emptyChunks() async {
    await #expect(processExitsWith: .failure) {
      _ = LazyList<Int, Never>.empty.chunks(ofCount: 0)
    }
  }

  @Test("an optional element is an element")
  func optionals() async {
    #expect(await LazyList<Int?, Never>([1, nil, 3]).adjacentPairs().count() == 2)
  }

  @Test("enumerated counts from 0; a list of less than two elements has no pairs")
  func neighbours() async {
    let numbered = LazyList(["a", "b"]).enumerated().map { "\($0.offset)\($0.element)" }
    #expect(await numbered.array() == ["0a", "1b"])
    #expect(await LazyList<Int, Never>.empty.adjacentPairs().isEmpty())
    #expect(await LazyList([1]).adjacentPairs().isEmpty())
    #expect(await LazyList(1...4).adjacentPairs().map { $0 * 10 + $1 }.array() == [12, 23, 34])
  }
}
