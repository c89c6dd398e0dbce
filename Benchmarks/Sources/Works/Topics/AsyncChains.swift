import Measuring
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let asyncChains = Topic(
    "Async chains", about: "plain operators over an async step, and searches with one",
    rows: [
      Row(
        "plain map and filter over a step, both lists held", sizes: sizes,
        Contender("LazyList", listLayers),
        Contender("`.async.map.map.filter`", asyncLayers),
        Contender("`.async.map.compactMap`", asyncCompactLayers)),
      Row(
        "two plain maps over a step, all three lists held", sizes: sizes,
        Contender("LazyList", listMaps),
        Contender("LazyList, the step alone", atMost: 1.5, listStep),
        Contender("`.async.map.map.map`", asyncMaps)),
      Row(
        "two asynchronous maps, one over the other", sizes: sizes,
        Contender("LazyList", listTwo),
        Contender("`.async.map.map`", asyncTwo)),
      Row(
        "twenty asynchronous maps on one another", sizes: [4, 100, 10_000],
        Contender("LazyList", listTwenty),
        Contender("`.async`, and `.map` twenty times", asyncTwenty)),
      Row(
        "an async filter that rejects all but the last", sizes: sizes,
        Contender("LazyList", listFilter),
        Contender("`.async.filter`", asyncFilter)),
      Row(
        "a plain filter over a step, that rejects all but the last", sizes: sizes,
        Contender("LazyList", listPlainFilter),
        Contender("`.async.map.filter`", asyncMapFilter),
        Contender("`.async.map`, and `where` in the loop", asyncMapWhere)),
      Row(
        "`first(where:)` over a step, found at the end", sizes: sizes,
        Contender("LazyList", listFirst),
        Contender("`.async.map.first`", asyncFirst),
        Contender("`.async.map`, a loop that breaks", asyncBreak)),
      Row(
        "`flatMap` of a step to lists of four", sizes: sizes,
        Contender("LazyList", listFlatMap),
        Contender("`.async.map.flatMap`", upTo: 10_000, asyncFlatMap)),
    ])
}

private let sizes = [4, 100, 10_000, 100_000]

// MARK: Tailrace

@inline(never) private func listLayers(_ count: Int) async -> Int {
  let source: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  let list: LazyList<Int, Never> = source.map { $0 &+ 1 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime((source, list)) { sum }
}

@inline(never) private func listMaps(_ count: Int) async -> Int {
  let source: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  let negated: LazyList<Int, Never> = source.map { ~$0 }
  let list: LazyList<Int, Never> = negated.map { ~$0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime((source, negated, list)) { sum }
}

@inline(never) private func listStep(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listTwo(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
    .map { await staying($0) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listTwenty(_ count: Int) async -> Int {
  var list: LazyList<Int, Never> = (0..<count).lazyList
  for _ in 0..<20 { list = list.map { await staying($0) } }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listFilter(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  let list: LazyList<Int, Never> = (0..<count).lazyList.filter { await staying($0) == last }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func listPlainFilter(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  let source: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  let list: LazyList<Int, Never> = source.filter { $0 == last }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime((source, list)) { sum }
}

@inline(never) private func listFirst(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await staying($0) }
  let first = await list.first { $0 == last }
  return withExtendedLifetime(list) { first ?? 0 }
}

@inline(never) private func listFlatMap(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count / 4).lazyList.map { await staying($0) }
    .flatMap { LazyList($0..<$0 + 4) }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

// MARK: Peers

@inline(never) private func asyncLayers(_ count: Int) async -> Int {
  let chain = (0..<count).async.map { await staying($0) }.map { $0 &+ 1 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}

@inline(never) private func asyncCompactLayers(_ count: Int) async -> Int {
  let chain = (0..<count).async.map { await staying($0) }.compactMap { element -> Int? in
    let next = element &+ 1
    return next % 2 == 0 ? next : nil
  }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}

@inline(never) private func asyncMaps(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }).map({ ~$0 }).map({ ~$0 }) {
    sum &+= element
  }
  return sum
}

@inline(never) private func asyncTwo(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }).map({ await staying($0) }) {
    sum &+= element
  }
  return sum
}

/// Its maps are known to the compiler, all twenty of them, as in a chain that is written out.
@inline(never) private func asyncTwenty(_ count: Int) async -> Int {
  var sum = 0
  for await element in fiveMaps(fiveMaps(fiveMaps(fiveMaps((0..<count).async)))) {
    sum &+= element
  }
  return sum
}

@inline(__always)
private func fiveMaps<Base: AsyncSequence<Int, Never>>(
  _ base: Base
) -> some AsyncSequence<Int, Never> {
  base.map { await staying($0) }.map { await staying($0) }.map { await staying($0) }
    .map { await staying($0) }.map { await staying($0) }
}

@inline(never) private func asyncFilter(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  var sum = 0
  for await element in (0..<count).async.filter({ await staying($0) == last }) { sum &+= element }
  return sum
}

@inline(never) private func asyncMapFilter(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }).filter({ $0 == last }) {
    sum &+= element
  }
  return sum
}

@inline(never) private func asyncMapWhere(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }) where element == last {
    sum &+= element
  }
  return sum
}

@inline(never) private func asyncFirst(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  return await (0..<count).async.map { await staying($0) }.first { $0 == last } ?? 0
}

@inline(never) private func asyncBreak(_ count: Int) async -> Int {
  let last = (count - 1) &* 3
  for await element in (0..<count).async.map({ await staying($0) }) where element == last {
    return element
  }
  return 0
}

@inline(never) private func asyncFlatMap(_ count: Int) async -> Int {
  let chain = (0..<count / 4).async.map { await staying($0) }.flatMap { ($0..<$0 + 4).async }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}
