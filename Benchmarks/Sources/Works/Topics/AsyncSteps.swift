import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let asyncSteps = Topic(
    "Async steps", about: "elements that an async closure computes",
    works: [
      Work(
        "a step that does not suspend", isHeadline: true,
        floors: [.atMost(4, slowerThan: "`.async.map`")],
        contenders: [
          Contender("LazyList") { Tally($0, await listStaying($0)) },
          Contender("`.async.map`") { Tally($0, await mapStaying($0)) },
          Contender("`.async.map.share()`", sizes: Contender.fewer) {
            Tally($0, await shareStaying($0))
          },
        ]),
      Work(
        "an array of steps that do not suspend",
        floors: [
          .atMost(1, slowerThan: "`Array(.async.map)`"),
          .atMost(1, slowerThan: "a loop that appends"),
        ],
        contenders: [
          Contender("LazyList") { Tally($0, collected(await listArray($0))) },
          Contender("`Array(.async.map)`") { Tally($0, collected(await mapArray($0))) },
          Contender("a loop that appends") { Tally($0, collected(await mapAppended($0))) },
        ]),
      Work(
        "a step that asks an actor",
        floors: [.atMost(5, slowerThan: "`.async.map`")],
        contenders: [
          Contender("LazyList") { Tally($0, await listAsking($0)) },
          Contender("`.async.map`") { Tally($0, await mapAsking($0)) },
          Contender("`.async.map.share()`", sizes: Contender.fewer) {
            Tally($0, await shareAsking($0))
          },
        ]),
      Work(
        "a step that suspends", isHeadline: true,
        floors: [
          .atMost(1.2, slowerThan: "`.async.map`"),
          .atLeast(4, fasterThan: "`.async.map.share()`"),
        ],
        contenders: [
          Contender("LazyList", sizes: Contender.fewer) { Tally($0, await listYielding($0)) },
          Contender("`.async.map`", sizes: Contender.fewer) { Tally($0, await mapYielding($0)) },
          Contender("`.async.map.share()`", sizes: Contender.fewer) {
            Tally($0, await shareYielding($0))
          },
        ]),
      Work(
        "plain map and filter over a step that does not suspend",
        contenders: [
          Contender("LazyList") { Tally($0, await listLayers($0)) },
          Contender("`.async.map.map.filter`") { Tally($0, await mapLayers($0)) },
          Contender("`.async.map.compactMap`") { Tally($0, await compactMapLayers($0)) },
        ]),
      Work(
        "an async filter that rejects all but the last",
        contenders: [
          Contender("LazyList") { Tally($0, await listSearch($0)) },
          Contender("`.async.filter`") { Tally($0, await filterSearch($0)) },
        ]),
    ])
}

// MARK: Tailrace

/// Of the list's async closures, all that there are: what they are called is decided here.
private enum Listed {
  static func staying(_ count: Int) -> LazyList<Int, Never> {
    (0..<count).lazyList.map { await Works.staying($0) }
  }
  static func asking(_ count: Int, _ server: Server) -> LazyList<Int, Never> {
    (0..<count).lazyList.map { await server.triple($0) }
  }
  static func yielding(_ count: Int) -> LazyList<Int, Never> {
    (0..<count).lazyList.map { await Works.yielding($0) }
  }
  static func accepting(_ count: Int) -> LazyList<Int, Never> {
    (0..<count).lazyList.filter { await Works.staying($0) == (count - 1) &* 3 }
  }
}

@inline(never)
private func listStaying(_ count: Int) async -> Int {
  let list = Listed.staying(count)
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never)
private func listArray(_ count: Int) async -> [Int] { await Listed.staying(count).array() }

@inline(never)
private func listAsking(_ count: Int) async -> Int {
  let list = Listed.asking(count, Server())
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never)
private func listYielding(_ count: Int) async -> Int {
  let list = Listed.yielding(count)
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never)
private func listLayers(_ count: Int) async -> Int {
  let source = Listed.staying(count)
  let list: LazyList<Int, Never> = source.map { $0 &+ 1 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime((source, list)) { sum }
}

@inline(never)
private func listSearch(_ count: Int) async -> Int {
  let list = Listed.accepting(count)
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

// MARK: Peers

@inline(never)
private func mapStaying(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }) { sum &+= element }
  return sum
}

@inline(never)
private func shareStaying(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await staying($0) }).share() { sum &+= element }
  return sum
}

@inline(never)
private func mapArray(_ count: Int) async -> [Int] {
  await Array((0..<count).async.map { await staying($0) })
}

@inline(never)
private func mapAppended(_ count: Int) async -> [Int] {
  var array: [Int] = []
  for await element in (0..<count).async.map({ await staying($0) }) { array.append(element) }
  return array
}

@inline(never)
private func mapAsking(_ count: Int) async -> Int {
  let server = Server()
  var sum = 0
  for await element in (0..<count).async.map({ await server.triple($0) }) { sum &+= element }
  return sum
}

@inline(never)
private func shareAsking(_ count: Int) async -> Int {
  let server = Server()
  var sum = 0
  for await element in (0..<count).async.map({ await server.triple($0) }).share() {
    sum &+= element
  }
  return sum
}

@inline(never)
private func mapYielding(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await yielding($0) }) { sum &+= element }
  return sum
}

@inline(never)
private func shareYielding(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.map({ await yielding($0) }).share() { sum &+= element }
  return sum
}

@inline(never)
private func mapLayers(_ count: Int) async -> Int {
  let chain = (0..<count).async.map { await staying($0) }.map { $0 &+ 1 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}

@inline(never)
private func compactMapLayers(_ count: Int) async -> Int {
  let chain = (0..<count).async.map { await staying($0) }.compactMap { element -> Int? in
    let next = element &+ 1
    return next % 2 == 0 ? next : nil
  }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}

@inline(never)
private func filterSearch(_ count: Int) async -> Int {
  var sum = 0
  for await element in (0..<count).async.filter({ await staying($0) == (count - 1) &* 3 }) {
    sum &+= element
  }
  return sum
}

private func collected(_ array: [Int]) -> Int {
  blackHole(array)
  return array.count &+ (array.last ?? 0)
}
