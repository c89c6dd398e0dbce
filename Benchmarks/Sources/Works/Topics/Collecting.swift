import Measuring
import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  /// Nobody holds the head: the whole is asked for, and nothing but the result stays.
  public static let collecting = Topic(
    "Collecting", about: "the whole at once, after map and filter",
    rows: [
      Row(
        "an array of Ints", isHeadline: true,
        Contender("LazyList", list),
        Contender("`Array(lazy.map.filter)`", atMost: 10, lazyArray),
        Contender("`await Array(async.map.filter)`", asyncArray),
        Contender("`await Array(async.compactMap)`", compactArray),
        Contender("OpenCombine `.map.filter.collect`", collect)),
      Row(
        "an array of four Ints", sizes: [4],
        Contender("LazyList", list),
        Contender("`Array(lazy.map.filter)`", lazyArray),
        Contender("`await Array(async.map.filter)`", atMost: 0.1, asyncArray),
        Contender("`await Array(async.compactMap)`", atMost: 0.1, compactArray)),
      Row(
        "an array of Strings",
        Contender("LazyList", given: strings, stringList),
        Contender("`Array(lazy.map.filter)`", given: strings, lazyStrings),
        Contender("`await Array(async.map.filter)`", given: strings, asyncStrings)),
      Row(
        "the sum of Ints",
        Contender("LazyList", listSum),
        Contender("`lazy.map.filter.reduce`", lazySum),
        Contender("`.async.map.filter.reduce`", asyncSum),
        Contender("`.async.compactMap.reduce`", compactSum)),
    ])
}

// MARK: Tailrace

@inline(never) private func list(_ count: Int) async -> Int {
  let array = await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.array()
  return collected(array)
}

@inline(never) private func stringList(_ source: [String]) async -> Int {
  let array = await source.lazyList.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }.array()
  return collected(array)
}

@inline(never) private func listSum(_ count: Int) async -> Int {
  await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.reduce(0) { $0 &+ $1 }
}

// MARK: Peers

@inline(never) private func lazyArray(_ count: Int) -> Int {
  let array = Array((0..<count).lazy.map { $0 &* 3 }.filter { $0 % 2 == 0 })
  return collected(array)
}

@inline(never) private func asyncArray(_ count: Int) async -> Int {
  let array = await Array((0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 })
  return collected(array)
}

@inline(never) private func compactArray(_ count: Int) async -> Int {
  let chain = (0..<count).async.compactMap { element -> Int? in
    let tripled = element &* 3
    return tripled % 2 == 0 ? tripled : nil
  }
  return collected(await Array(chain))
}

@inline(never) private func collect(_ count: Int) -> Int {
  let result = Collected()
  let sink = (0..<count).publisher.map { $0 &* 3 }.filter { $0 % 2 == 0 }.collect()
    .sink { result.array = $0 }
  return withExtendedLifetime(sink) { collected(result.array) }
}

/// Where the closure of a sink leaves an array. It is called before `sink` returns.
private final class Collected {
  var array: [Int] = []
}

@inline(never) private func lazyStrings(_ source: [String]) -> Int {
  let array = Array(source.lazy.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 })
  return collected(array)
}

@inline(never) private func asyncStrings(_ source: [String]) async -> Int {
  let array = await Array(source.async.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 })
  return collected(array)
}

@inline(never) private func lazySum(_ count: Int) -> Int {
  (0..<count).lazy.map { $0 &* 3 }.filter { $0 % 2 == 0 }.reduce(0) { $0 &+ $1 }
}

@inline(never) private func asyncSum(_ count: Int) async -> Int {
  await (0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 }.reduce(0) { $0 &+ $1 }
}

@inline(never) private func compactSum(_ count: Int) async -> Int {
  let chain = (0..<count).async.compactMap { element -> Int? in
    let tripled = element &* 3
    return tripled % 2 == 0 ? tripled : nil
  }
  return await chain.reduce(0) { $0 &+ $1 }
}
