import Synchronization

/// Whatever is given to it has been used: the optimiser cannot look into it.
@inline(never)
@_optimize(none)
public func blackHole<T>(_ value: T) {}

/// Reads to the end, and adds up.
@inline(__always)
func sum<S: AsyncSequence>(_ sequence: S) async -> Int
where S.Element == Int, S.Failure == Never {
  var sum = 0
  for await element in sequence { sum &+= element }
  return sum
}

/// Reads Strings to the end, and adds up their lengths.
@inline(__always)
func length<S: AsyncSequence>(_ sequence: S) async -> Int
where S.Element == String, S.Failure == Never {
  var length = 0
  for await element in sequence { length &+= element.utf8.count }
  return length
}

/// Strings that live on the heap, as most do.
func strings(_ count: Int) -> [String] {
  (0..<count).map { "the element at position \($0)" }
}

/// Reads a sequence to the end in so many tasks at once.
///
/// Each reader makes its iterator before anybody reads: what has no replay, such as `share()`, then
/// gives every element to every reader.
func read<S: AsyncSequence & Sendable>(_ sequence: S, readers: Int) async -> Tally
where S.Element == Int, S.Failure == Never {
  let start = StartingLine(readers)
  return await withTaskGroup(of: Tally.self) { group in
    for _ in 0..<readers {
      group.addTask {
        var iterator = sequence.makeAsyncIterator()
        await start.cross()
        var (count, sum) = (0, 0)
        while let element = await iterator.next(isolation: nil) {
          sum &+= element
          count += 1
        }
        return Tally(count, sum)
      }
    }
    return await group.reduce(Tally(0, 0)) {
      Tally($0.elements + $1.elements, $0.result &+ $1.result)
    }
  }
}

/// Where readers wait for one another. Without it the first may have read everything before the last
/// has begun, and nothing would have been shared.
final class StartingLine: Sendable {
  private let missing: Atomic<Int>

  init(_ readers: Int) { missing = Atomic(readers) }

  func cross() async {
    missing.subtract(1, ordering: .relaxed)
    while missing.load(ordering: .relaxed) > 0 { await Task.yield() }
  }
}
