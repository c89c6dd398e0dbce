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
}
