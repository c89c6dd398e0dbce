import AsyncAlgorithms
import Synchronization
import Tailrace

/// Many readers, and steps that suspend, beside `share()`.
func sharing() -> [Row] {
  [
    Row(
      work: "8 readers of one list, first pass", floor: .atLeastTimesFaster(60), rounds: 7,
      ours: Contestant(name: "Tailrace") {
        let list: LazyList<Int, Never> = (0..<100_000).lazyList.map { $0 &* 3 }
        return await read(list, readers: 8)
      },
      peer: Contestant(name: "`share()`, 8 readers") {
        await read((0..<2_000).async.map { $0 &* 3 }.share(), readers: 8)
      }),
    Row(
      work: "`map` with a step that suspends", floor: .atLeastTimesFaster(4), rounds: 7,
      ours: Contestant(name: "Tailrace") {
        // Spelt out: without the type it might be the standard library's `map`, which keeps nothing.
        let list: LazyList<Int, Never> = (0..<20_000).lazyList.map { await yielding($0) }
        return await read(list, readers: 1)
      },
      peer: Contestant(name: "`share()`, 1 reader") {
        await read((0..<10_000).async.map { await yielding($0) }.share(), readers: 1)
      }),
  ]
}

private func yielding(_ element: Int) async -> Int {
  await Task.yield()
  return element &* 3
}

/// Reads a sequence in so many tasks. Returns the number of elements that they got: a reader of
/// `share()` that comes late misses elements, and is not charged for them.
func read<S: AsyncSequence & Sendable>(_ sequence: S, readers: Int) async -> Int
where S.Element == Int, S.Failure == Never {
  let start = StartingLine(readers)
  return await withTaskGroup(of: Int.self) { group in
    for _ in 0..<readers {
      group.addTask {
        await start.cross()
        var (sum, count) = (0, 0)
        for await element in sequence {
          sum &+= element
          count += 1
        }
        blackHole(sum)
        return count
      }
    }
    return await group.reduce(0, +)
  }
}

/// Where readers wait for one another. Without it the first may have read everything before the last
/// has begun, and nothing would have been shared.
private final class StartingLine: Sendable {
  private let missing: Atomic<Int>

  init(_ readers: Int) { missing = Atomic(readers) }

  func cross() async {
    missing.subtract(1, ordering: .relaxed)
    while missing.load(ordering: .relaxed) > 0 { await Task.yield() }
  }
}
