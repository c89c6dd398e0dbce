import Measuring
import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  /// Tailrace keeps every element; an element of its peers is gone when it has been read.
  public static let firstPass = Topic(
    "First pass", about: "computing each element for the first time",
    rows: [
      Row(
        "map and filter Ints", isHeadline: true,
        Contender("LazyList", list),
        Contender("`.async.map.filter`", atMost: 1 / 15, asyncMapFilter),
        Contender("`.async.compactMap`", asyncCompactMap),
        Contender("`.async.map`, and `where` in the loop", asyncMapWhere),
        Contender("`AsyncStream`, buffered, `.map.filter`", upTo: 10_000, streamMapFilter),
        Contender("OpenCombine `.map.filter.sink`", sink),
        Contender("`for x in lazy.map.filter`", lazyMapFilter)),
      Row(
        "map and filter Ints, head not held",
        Contender("LazyList", releasedList),
        Contender("`.async.map.filter`", atMost: 1 / 15, asyncMapFilter),
        Contender("`.async.compactMap`", asyncCompactMap)),
      Row(
        "map and filter Strings",
        Contender("LazyList", given: strings, stringList),
        Contender("`.async.map.filter`", given: strings, asyncStrings),
        Contender("`.async.compactMap`", given: strings, asyncCompactStrings),
        Contender("OpenCombine `.map.filter.sink`", given: strings, stringSink),
        Contender("`for x in lazy.map.filter`", given: strings, lazyStrings)),
    ])
}

// MARK: Tailrace

/// The head is held to the end: nothing is forgotten on the way.
@inline(never) private func list(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList
    .map { $0 &* 3 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func releasedList(_ count: Int) async -> Int {
  var sum = 0
  for await element in released(count) { sum &+= element }
  return sum
}

/// A list that only its reader holds.
private func released(_ count: Int) -> LazyList<Int, Never> {
  (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }
}

@inline(never) private func stringList(_ source: [String]) async -> Int {
  let list: LazyList<String, Never> = source.lazyList
    .map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }
  var length = 0
  for await element in list { length &+= element.utf8.count }
  return withExtendedLifetime(list) { length }
}

// MARK: Peers

@inline(never) private func asyncMapFilter(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ $0 &* 3 }).filter({ $0 % 2 == 0 }) {
    sum &+= element
  }
  return sum
}

@inline(never) private func asyncCompactMap(_ count: Int) async -> Int {
  let chain = (0..<count).async.compactMap { element -> Int? in
    let tripled = element &* 3
    return tripled % 2 == 0 ? tripled : nil
  }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}

@inline(never) private func asyncMapWhere(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ $0 &* 3 }) where element % 2 == 0 {
    sum &+= element
  }
  return sum
}

@inline(never) private func streamMapFilter(_ count: Int) async -> Int {
  let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
  for element in 0..<count { continuation.yield(element) }
  continuation.finish()
  var sum = 0
  for await element in stream.map({ $0 &* 3 }).filter({ $0 % 2 == 0 }) { sum &+= element }
  return sum
}

@inline(never) private func sink(_ count: Int) -> Int {
  let total = Total()
  let sink = (0..<count).publisher.map { $0 &* 3 }.filter { $0 % 2 == 0 }
    .sink { total.sum &+= $0 }
  return withExtendedLifetime(sink) { total.sum }
}

@inline(never) private func lazyMapFilter(_ count: Int) -> Int {
  var sum = 0
  for element in (0..<count).lazy.map({ $0 &* 3 }).filter({ $0 % 2 == 0 }) { sum &+= element }
  return sum
}

@inline(never) private func asyncStrings(_ source: [String]) async -> Int {
  var length = 0
  for await element in source.async.map({ $0 + "!" }).filter({ $0.utf8.count % 2 == 0 }) {
    length &+= element.utf8.count
  }
  return length
}

@inline(never) private func asyncCompactStrings(_ source: [String]) async -> Int {
  let chain = source.async.compactMap { element -> String? in
    let longer = element + "!"
    return longer.utf8.count % 2 == 0 ? longer : nil
  }
  var length = 0
  for await element in chain { length &+= element.utf8.count }
  return length
}

@inline(never) private func stringSink(_ source: [String]) -> Int {
  let total = Total()
  let sink = source.publisher.map { $0 + "!" }.filter { $0.utf8.count % 2 == 0 }
    .sink { total.sum &+= $0.utf8.count }
  return withExtendedLifetime(sink) { total.sum }
}

@inline(never) private func lazyStrings(_ source: [String]) -> Int {
  var length = 0
  for element in source.lazy.map({ $0 + "!" }).filter({ $0.utf8.count % 2 == 0 }) {
    length &+= element.utf8.count
  }
  return length
}
