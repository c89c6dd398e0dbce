import Measuring
import Tailrace

extension Topic {
  public static let workingAhead = Topic(
    "Working ahead", about: "several async closures of one list at a time, and prefetching",
    rows: [1, 5, 20].map(sleeping) + [
      Row(
        "`concurrentMap`, 8 at once, that yield", sizes: [100, 10_000],
        Contender("LazyList", yieldingList),
        Contender("a task group, in order", atMost: 1.2, yieldingGroup)),
      Row(
        "`prefetching(2)` of plain steps", sizes: [4, 100, 10_000, 100_000],
        Contender("LazyList", prefetched),
        Contender("LazyList, without", notPrefetched)),
      Row(
        "`prefetching(2)` of steps that suspend", sizes: [4, 100, 10_000],
        Contender("LazyList", prefetchedYielding),
        Contender("LazyList, without", notPrefetchedYielding)),
    ])
}

private func sleeping(_ limit: Int) -> Row {
  Row(
    "`concurrentMap`, \(limit) at once, that sleep 1 ms", sizes: [100],
    Contender("LazyList") { await sleepingList($0, limit) },
    Contender("a task group") { await sleepingGroup($0, limit) },
    Contender("as many sleeps as must follow one another", atMost: 1.15) {
      await sleeps($0, limit)
    })
}

private func asleep(_ element: Int) async -> Int {
  try? await Task.sleep(for: .milliseconds(1))
  return element
}

// MARK: Tailrace

@inline(never) private func sleepingList(_ count: Int, _ limit: Int) async -> Int {
  await LazyList(0..<count).concurrentMap(limit: limit) { await asleep($0) }.reduce(0) { $0 &+ $1 }
}

@inline(never) private func yieldingList(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.concurrentMap(limit: 8) {
    await yielding($0)
  }
  var sum = 0
  for await element in list { sum = sum &* 31 &+ element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func prefetched(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }.prefetching(2)
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func notPrefetched(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func prefetchedYielding(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await yielding($0) }.prefetching(2)
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func notPrefetchedYielding(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await yielding($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

// MARK: Peers

/// Results as they come, `limit` at a time.
@inline(never) private func sleepingGroup(_ count: Int, _ limit: Int) async -> Int {
  await withTaskGroup(of: Int.self) { group in
    var sum = 0
    for element in 0..<count {
      if element >= limit { sum &+= await group.next() ?? 0 }
      group.addTask { await asleep(element) }
    }
    for await element in group { sum &+= element }
    return sum
  }
}

@inline(never) private func sleeps(_ count: Int, _ limit: Int) async -> Int {
  for _ in 0..<count / limit { _ = await asleep(0) }
  return (0..<count).reduce(0, &+)
}

/// Results in the order of the elements, no more than 8 ahead: those that come early are kept.
@inline(never) private func yieldingGroup(_ count: Int) async -> Int {
  await withTaskGroup(of: (position: Int, result: Int).self) { group in
    var early = [Int?](repeating: nil, count: count)
    var (started, sum) = (0, 0)
    for position in 0..<count {
      while started < min(count, position + 8) {
        group.addTask { [started] in (started, await yielding(started)) }
        started += 1
      }
      while early[position] == nil, let (position, result) = await group.next() {
        early[position] = result
      }
      sum = sum &* 31 &+ (early[position] ?? 0)
    }
    return sum
  }
}
