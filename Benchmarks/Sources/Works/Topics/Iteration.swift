import Measuring
import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  public static let iteration = Topic(
    "Iteration", about: "reading what is already there",
    rows: [
      Row(
        "read Ints again", isHeadline: true,
        Contender("LazyList", given: evaluated, readAgain),
        Contender("`for x in array`", atMost: 4, given: array, loop),
        Contender("`array.async`", given: array, asyncLoop),
        Contender("OpenCombine `array.publisher.sink`", given: array, sink)),
      Row(
        "read Strings again",
        Contender("LazyList", given: evaluatedStrings, readStringsAgain),
        Contender("`for x in array`", given: strings, stringLoop),
        Contender("`array.async`", given: strings, asyncStringLoop)),
    ])
}

private func evaluatedStrings(_ count: Int) async -> LazyList<String, Never> {
  let list = strings(count).lazyList
  _ = await list.count()
  return list
}

// MARK: Tailrace

@inline(never) private func readAgain(_ list: LazyList<Int, Never>) async -> Int {
  var sum = 0
  for await element in list { sum &+= element }
  return sum
}

@inline(never) private func readStringsAgain(_ list: LazyList<String, Never>) async -> Int {
  var length = 0
  for await element in list { length &+= element.utf8.count }
  return length
}

// MARK: Peers

/// The compiler may turn this loop into vector instructions. So it may elsewhere.
@inline(never) private func loop(_ array: [Int]) -> Int {
  var sum = 0
  for element in array { sum &+= element }
  return sum
}

@inline(never) private func asyncLoop(_ array: [Int]) async -> Int {
  var sum = 0
  for await element in array.async { sum &+= element }
  return sum
}

@inline(never) private func sink(_ array: [Int]) -> Int {
  let total = Total()
  let sink = array.publisher.sink { total.sum &+= $0 }
  return withExtendedLifetime(sink) { total.sum }
}

@inline(never) private func stringLoop(_ array: [String]) -> Int {
  var length = 0
  for element in array { length &+= element.utf8.count }
  return length
}

@inline(never) private func asyncStringLoop(_ array: [String]) async -> Int {
  var length = 0
  for await element in array.async { length &+= element.utf8.count }
  return length
}
