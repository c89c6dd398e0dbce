import Synchronization

/// So many tasks that begin together; the sum of what they give.
///
/// Each makes its iterator, and then crosses the line: a source without replay, such as `share()`,
/// gives every element to every reader if they all have an iterator before the first of them reads.
func together(
  _ readers: Int, _ read: @escaping @Sendable (StartingLine) async -> Int
) async -> Int {
  let start = StartingLine(readers)
  return await withTaskGroup(of: Int.self) { group in
    for _ in 0..<readers { group.addTask { await read(start) } }
    return await group.reduce(0) { $0 &+ $1 }
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
