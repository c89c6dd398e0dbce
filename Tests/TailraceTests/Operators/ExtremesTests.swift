import Tailrace
import TailraceTesting
import Testing

@Suite("min and max", .inTurn)
struct ExtremesTests {
  typealias List = LazyList<Int, Never>

  @Test("min and max choose as the standard library does")
  func extremes() async {
    let pairs = [(2, "a"), (1, "b"), (2, "c"), (1, "d")]
    let list = LazyList(pairs)
    #expect(await list.min { $0.0 < $1.0 }?.1 == pairs.min { $0.0 < $1.0 }?.1)
    #expect(await list.max { $0.0 < $1.0 }?.1 == pairs.max { $0.0 < $1.0 }?.1)
    #expect(await List.empty.min() == nil)
    #expect(await List([3, 1, 2]).max() == 3)
  }

  @Test("a predicate that awaits, and one that throws")
  func kinds() async throws {
    let longest = try await LazyList(["a", "ccc", "bb"]).max { left, right async in
      await Task.yield()
      return left.count < right.count
    }
    #expect(longest == "ccc")
    await #expect(throws: Mishap.self) {
      try await List([1, 2]).min { (_, _) throws in throw Mishap(position: 0) }
    }
  }
}
