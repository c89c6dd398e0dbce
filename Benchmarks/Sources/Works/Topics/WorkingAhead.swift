import Tailrace

extension Topic {
  public static let workingAhead = Topic(
    "Working ahead", about: "several async closures of one list at a time, each sleeping 1 ms",
    works: [1, 4, 16].map { limit in
      Work(
        "`concurrentMap`, \(limit) at once",
        floors: [.atMost(1.15, slowerThan: "as many sleeps as must follow one another")],
        contenders: [
          Contender("LazyList", sizes: sizes) { count in
            let list = LazyList(0..<count).concurrentMap(limit: limit) { await asleep($0) }
            return Tally(count, await list.reduce(0) { $0 &+ $1 })
          },
          Contender("a task group", sizes: sizes) { count in
            Tally(count, await grouped(count, limit))
          },
          Contender("as many sleeps as must follow one another", sizes: sizes) { count in
            for _ in 0..<count / limit { _ = await asleep(0) }
            return Tally(count, (0..<count).reduce(0) { $0 &+ $1 })
          },
        ])
    })
}

/// A multiple of every limit.
private let sizes = [160]

private func asleep(_ element: Int) async -> Int {
  try? await Task.sleep(for: .milliseconds(1))
  return element
}

/// Results in order, `limit` at a time, by hand.
private func grouped(_ count: Int, _ limit: Int) async -> Int {
  await withTaskGroup(of: (Int, Int).self) { group in
    var results = [Int](repeating: 0, count: count)
    var next = 0
    while next < min(limit, count) {
      group.addTask { [next] in (next, await asleep(next)) }
      next += 1
    }
    while let (position, result) = await group.next() {
      results[position] = result
      guard next < count else { continue }
      group.addTask { [next] in (next, await asleep(next)) }
      next += 1
    }
    return results.reduce(0) { $0 &+ $1 }
  }
}
