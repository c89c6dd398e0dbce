import Measuring
import Tailrace

extension Topic {
  public static let depth = Topic(
    "Depth", about: "stacked operators, and recursion",
    rows: [
      Row(
        "10 000 stacked plain maps", per: "element and map", times: 10_000, sizes: [100],
        Contender("LazyList", stackedMaps),
        Contender("an array, mapped as often", mappedArrays)),
      // The time of a map must not grow with their number.
      Row(
        "stacked asynchronous maps, one element", per: "map", sizes: [500, 5_000, 50_000],
        Contender("LazyList", stackedSteps),
        Contender("a task made and awaited", tasks)),
      Row(
        "`foldRight`", sizes: [50_000],
        Contender("LazyList", foldRight),
        Contender("a task made and awaited", atMost: 0.6, tasks)),
    ])
}

// MARK: Tailrace

@inline(never) private func stackedMaps(_ count: Int) async -> Int {
  var list = (0..<count).lazyList
  for _ in 0..<10_000 { list = list.map { $0 &+ 1 } }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func stackedSteps(_ depth: Int) async -> Int {
  var list: LazyList<Int, Never> = [0]
  for number in 0..<depth { list = list.map { await added($0, number) } }
  return await list.head() ?? 0
}

@inline(never) private func added(_ sum: Int, _ number: Int) async -> Int { sum &+ number }

@inline(never) private func foldRight(_ count: Int) async -> Int {
  await (0..<count).lazyList.foldRight(0) { first, rest in first &+ (await rest.value()) }
}

// MARK: Peers

@inline(never) private func mappedArrays(_ count: Int) -> Int {
  var array = Array(0..<count)
  for _ in 0..<10_000 { array = array.map { $0 &+ 1 } }
  return array.reduce(0, &+)
}

@inline(never) private func tasks(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Task { number }.value }
  return sum
}
