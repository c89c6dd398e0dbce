import Measuring
import Tailrace

extension Topic {
  /// An element costs the same in a list of any length.
  public static let growth = Topic(
    "Growth", about: "cost per element against the number of elements",
    rows: [
      Row(
        "first pass, map and filter", sizes: sizes, steadiness: 1.5,
        Contender("LazyList", listFirstPass)),
      Row(
        "read again", sizes: sizes, steadiness: 1.5,
        Contender("LazyList", given: evaluated, readAgain),
        // Memory that is far away costs an array, too.
        Contender("`for x in array`", given: array, loop)),
      Row(
        "an array of map and filter", sizes: sizes, steadiness: 1.5,
        Contender("LazyList", listArray)),
    ])
}

private let sizes = [1_000, 10_000, 1_000_000, 10_000_000]

@inline(never) private func listFirstPass(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList
    .map { $0 &* 3 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func readAgain(_ list: LazyList<Int, Never>) async -> Int {
  var sum = 0
  for await element in list { sum &+= element }
  return sum
}

@inline(never) private func loop(_ array: [Int]) -> Int {
  var sum = 0
  for element in array { sum &+= element }
  return sum
}

@inline(never) private func listArray(_ count: Int) async -> Int {
  collected(await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.array())
}
