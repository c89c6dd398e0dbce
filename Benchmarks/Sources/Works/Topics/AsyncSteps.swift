import Measuring
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let asyncSteps = Topic(
    "Async steps", about: "elements that an async closure computes, the list held",
    rows: [
      Row(
        "a step that does not suspend", isHeadline: true,
        Contender("LazyList", listStaying),
        Contender("`.async.map`", atMost: 4, mapStaying),
        Contender("`.async.map.share()`", upTo: 10_000, shareStaying),
        Contender("an immediate task for each", immediateStaying)),
      Row(
        "an array of steps that do not suspend",
        Contender("LazyList", listArray),
        Contender("`Array(.async.map)`", atMost: 1, mapArray),
        Contender("`.async.map`, appended in a loop", atMost: 1, mapAppended)),
      Row(
        "a step that asks an actor",
        Contender("LazyList", listAsking),
        Contender("`.async.map`", atMost: 5, mapAsking),
        Contender("`.async.map.share()`", upTo: 10_000, shareAsking),
        Contender("an immediate task for each", immediateAsking)),
      Row(
        "a step that only yields", sizes: [4, 100, 10_000, 100_000], isHeadline: true,
        Contender("LazyList", listYielding),
        Contender("`.async.map`", mapYielding),
        Contender("`.async.map.share()`", upTo: 10_000, shareYielding),
        Contender("an immediate task for each", immediateYielding)),
      Row(
        "a step that leaves its thread", sizes: [4, 100, 10_000],
        Contender("LazyList", listLeaving),
        Contender("`.async.map`", mapLeaving),
        Contender("`.async.map.share()`", atMost: 1 / 2, shareLeaving),
        Contender("an immediate task for each", immediateLeaving)),
      Row(
        "a step with two children", sizes: [4, 100, 10_000],
        Contender("LazyList", listBranching),
        Contender("`.async.map`", mapBranching)),
      Row(
        "a step that awaits an element of another list", sizes: [4, 100, 10_000],
        Contender("LazyList", listAwaiting),
        Contender("`.async.map`", mapAwaiting)),
    ])
}

// MARK: Tailrace

@inline(never) private func listStaying(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listArray(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  return collected(await list.array())
}

@inline(never) private func listAsking(_ count: Int) async -> Int {
  let server = Server()
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await server.triple($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listYielding(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await yielding($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listLeaving(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await leaving($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listBranching(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await branching($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

/// Each element of one list needs the same element of another, which leaves its thread.
@inline(never) private func listAwaiting(_ count: Int) async -> Int {
  let other: LazyList<Int, Never> = (0..<count).lazyList.map { await leaving($0) }
  let list = LazyList(state: other.makeAsyncIterator()) { iterator in await iterator.next() }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

// MARK: swift-async-algorithms

@inline(never) private func mapBranching(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await branching($0) }) { sum &+= element }
  return sum
}

@inline(never) private func mapAwaiting(_ count: Int) async -> Int {
  var sum = 0
  let other = (0..<count).async.map { await leaving($0) }
  for await element in other.map({ $0 }) { sum &+= element }
  return sum
}

@inline(never) private func mapStaying(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }) { sum &+= element }
  return sum
}

@inline(never) private func mapArray(_ count: Int) async -> Int {
  collected(await Array((0..<count).async.map { await staying($0) }))
}

@inline(never) private func mapAppended(_ count: Int) async -> Int {
  var array: [Int] = []
  for await element in (0..<count).async.map({ await staying($0) }) { array.append(element) }
  return collected(array)
}

@inline(never) private func mapAsking(_ count: Int) async -> Int {
  let server = Server()
  var sum = 0
  for await element in (0..<count).async.map({ await server.triple($0) }) { sum &+= element }
  return sum
}

@inline(never) private func mapYielding(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await yielding($0) }) { sum &+= element }
  return sum
}

@inline(never) private func mapLeaving(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await leaving($0) }) { sum &+= element }
  return sum
}

@inline(never) private func shareStaying(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }).share() { sum &+= element }
  return sum
}

@inline(never) private func shareAsking(_ count: Int) async -> Int {
  let server = Server()
  var sum = 0
  for await element in (0..<count).async.map({ await server.triple($0) }).share() {
    sum &+= element
  }
  return sum
}

@inline(never) private func shareYielding(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await yielding($0) }).share() { sum &+= element }
  return sum
}

@inline(never) private func shareLeaving(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await leaving($0) }).share() { sum &+= element }
  return sum
}

// MARK: The concurrency library

@inline(never) private func immediateStaying(_ count: Int) async -> Int {
  var sum = 0
  for element in 0..<count { sum &+= await Task.immediate { await staying(element) }.value }
  return sum
}

@inline(never) private func immediateAsking(_ count: Int) async -> Int {
  let server = Server()
  var sum = 0
  for element in 0..<count { sum &+= await Task.immediate { await server.triple(element) }.value }
  return sum
}

@inline(never) private func immediateYielding(_ count: Int) async -> Int {
  var sum = 0
  for element in 0..<count { sum &+= await Task.immediate { await yielding(element) }.value }
  return sum
}

@inline(never) private func immediateLeaving(_ count: Int) async -> Int {
  var sum = 0
  for element in 0..<count { sum &+= await Task.immediate { await leaving(element) }.value }
  return sum
}
