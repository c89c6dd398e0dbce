import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Lists whose elements are cut from blocks", .inTurn, .hangLimit)
struct BlocksTests {
  /// Blocks of numbers, whose demands a probe counts.
  private func list(
    _ sizes: [Int], _ blocks: Probe<Int>, _ cuts: Probe<Int> = Probe()
  ) -> LazyList<Int, Never> {
    let starts = sizes.indices.map { sizes[..<$0].reduce(0, +) }
    return LazyList(
      cutting: LazyList(sizes.indices).map { index in
        blocks.record(index)
        return Block(start: starts[index], count: sizes[index], cuts: cuts)
      })
  }

  struct Block: Sequence, Sendable {
    let start: Int
    let count: Int
    let cuts: Probe<Int>

    func makeIterator() -> Iterator { Iterator(next: start, end: start + count, cuts: cuts) }

    struct Iterator: IteratorProtocol, Sendable {
      fileprivate var nextNumber: Int
      let end: Int
      let cuts: Probe<Int>

      init(next: Int, end: Int, cuts: Probe<Int>) {
        (nextNumber, self.end, self.cuts) = (next, end, cuts)
      }

      mutating func next() -> Int? {
        guard nextNumber < end else { return nil }
        cuts.record(nextNumber)
        defer { nextNumber += 1 }
        return nextNumber
      }
    }
  }

  @Test(
    "all elements, in order, whatever the blocks hold",
    arguments: [
      [], [0], [1], [0, 0, 0], [3], [16], [17], [15, 1], [1, 0, 2], [128, 128], [300, 1, 0, 40],
      Array(repeating: 1, count: 200),
    ])
  func elements(_ sizes: [Int]) async {
    let all = Array(0..<sizes.reduce(0, +))
    #expect(await list(sizes, Probe()).array() == all)
    #expect(await list(sizes, Probe()).count() == all.count)
    #expect(await list(sizes, Probe()).reduce(into: []) { $0.append($1) } == all)
    var read: [Int] = []
    for await element in list(sizes, Probe()) { read.append(element) }
    #expect(read == all)
    let kept = list(sizes, Probe())
    async let first = kept.array()
    async let second = kept.dropFirst(7).array()
    #expect(await first == all)
    #expect(await second == Array(all.dropFirst(7)))
  }

  @Test("a demand for one element cuts a few of its block, and reads no other block")
  func demand() async {
    let (blocks, cuts) = (Probe<Int>(), Probe<Int>())
    let list = list([40, 40], blocks, cuts)
    #expect(await list.head() == 0)
    #expect(blocks.count == 1)
    #expect((1...16).contains(cuts.count))
    #expect(await list.dropFirst(39).head() == 39)
    // Everything before it, and nothing of the next block.
    #expect(blocks.count == 1)
    #expect(cuts.count == 40)
    #expect(await list.dropFirst(40).head() == 40)
    #expect(blocks.count == 2)
  }

  @Test("each block is cut once, however many read")
  func once() async {
    let (blocks, cuts) = (Probe<Int>(), Probe<Int>())
    let list = list(Array(repeating: 50, count: 100), blocks, cuts)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          var expected = 0
          for await element in list {
            #expect(element == expected)
            expected += 1
          }
          #expect(expected == 5_000)
        }
      }
    }
    #expect(blocks.values == Array(0..<100))
    #expect(cuts.values == Array(0..<5_000))
  }
}
