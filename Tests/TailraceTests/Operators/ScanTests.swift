import Tailrace
import Testing

@Suite("reductions, enumerated, adjacentPairs and chunks", .inTurn)
struct ScanTests {
  @Test("chunks: the last one may be shorter", arguments: 1...7)
  func chunks(_ count: Int) async {
    let chunks = await LazyList(0..<6).chunks(ofCount: count).array()
    #expect(chunks.flatMap { $0 } == Array(0..<6))
    #expect(chunks.dropLast().allSatisfy { $0.count == count })
  }

  @Test("chunks of no elements stop the program")
  func emptyChunks() async {
    await #expect(processExitsWith: .failure) {
      _ = LazyList<Int, Never>.empty.chunks(ofCount: 0)
    }
  }

  @Test("an asynchronous closure gives a list")
  func kinds() {
    let sums = LazyList(1...3).reductions(0) { sum, number async in sum + number }
    expectList(sums, Never.self)
  }

  @Test("an optional element is an element")
  func optionals() async {
    #expect(await LazyList<Int?, Never>([1, nil, 3]).adjacentPairs().count() == 2)
  }

  @Test("reductions: a result for each element, from the initial one", arguments: [0, 1, 5, 300])
  func reductions(_ length: Int) async {
    var sums: [Int] = []
    for number in 0..<length { sums.append((sums.last ?? 10) + number) }
    let list = LazyList(0..<length)
    #expect(await list.reductions(10) { $0 + $1 }.array() == sums)
    #expect(await list.reductions(into: 10) { $0 += $1 }.array() == sums)
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
