import Measuring
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let operators = Topic(
    "Operators", about: "one operator over a range, read to the end, per element of the range",
    rows: [
      .operator("none, the source alone", listSource, lazySource, asyncSource),
      .operator("map", listMap, lazyMap, asyncMap),
      .operator("filter", listFilter, lazyFilter, asyncFilter),
      .operator("compactMap", listCompactMap, lazyCompactMap, asyncCompactMap),
      .operator("map and removeDuplicates", listDuplicates, lazyDuplicates, asyncDuplicates),
    ])
}

// Each element changes the result in its own way. Of a plain sum over a range the compiler knows the
// formula, and leaves out the loop.

extension Row {
  /// An operator three times: of a list, of the standard library's lazy sequences, and of
  /// asynchronous ones.
  static func `operator`(
    _ name: String, _ list: @escaping @Sendable (Int) async -> Int,
    _ lazy: @escaping @Sendable (Int) -> Int, _ async: @escaping @Sendable (Int) async -> Int
  ) -> Row {
    Row(
      name, Contender("LazyList", list), Contender("lazy sequence", lazy),
      Contender("AsyncSequence", async))
  }
}

// MARK: Tailrace

@inline(never) private func listSource(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).lazyList { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listMap(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listFilter(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.filter { $0 % 2 == 0 }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listCompactMap(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.compactMap { $0 % 2 == 0 ? $0 &* 3 : nil }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listDuplicates(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 / 2 }.removeDuplicates()
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

// MARK: The standard library

@inline(never) private func lazySource(_ count: Int) -> Int {
  var digest = 0
  for element in 0..<count { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func lazyMap(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count).lazy.map({ $0 &* 3 }) { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func lazyFilter(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count).lazy.filter({ $0 % 2 == 0 }) { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func lazyCompactMap(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count).lazy.compactMap({ $0 % 2 == 0 ? $0 &* 3 : nil }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

/// It has no `removeDuplicates`: the loop that one writes instead.
@inline(never) private func lazyDuplicates(_ count: Int) -> Int {
  var (digest, last) = (0, Int?.none)
  for element in (0..<count).lazy.map({ $0 / 2 }) where element != last {
    digest = digest &* 31 &+ element
    last = element
  }
  return digest
}

// MARK: swift-async-algorithms

@inline(never) private func asyncSource(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func asyncMap(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.map({ $0 &* 3 }) { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func asyncFilter(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.filter({ $0 % 2 == 0 }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncCompactMap(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.compactMap({ $0 % 2 == 0 ? $0 &* 3 : nil }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncDuplicates(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.map({ $0 / 2 }).removeDuplicates() {
    digest = digest &* 31 &+ element
  }
  return digest
}
