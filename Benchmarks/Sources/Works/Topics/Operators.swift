import AsyncAlgorithms
import Tailrace

extension Topic {
  /// The same operator three times: of a list, of the standard library's lazy sequences, and of
  /// asynchronous ones.
  public static let operators = Topic(
    "Operators", about: "one operator over a range, read to the end, per element of the range",
    rows: [
      row("none, the source alone", listSource, lazySource, asyncSource),
      row("map", listMap, lazyMap, asyncMap),
      row("filter", listFilter, lazyFilter, asyncFilter),
      row("compactMap", listCompactMap, lazyCompactMap, asyncCompactMap),
      row("map and removeDuplicates", listDuplicates, lazyDuplicates, asyncDuplicates),
      row("dropFirst and prefix", listSlice, lazySlice, asyncSlice),
      row("prefix(while:)", listPrefix, lazyPrefix, asyncPrefix),
      row("reductions", listReductions, lazyReductions, asyncReductions),
      row("chunks of 16, counted", listChunks, lazyChunks, asyncChunks),
    ])
}

// Each element changes the result in its own way. Of a plain sum over a range the compiler knows the
// formula, and leaves out the loop.

private func row(
  _ name: String, _ list: @escaping @Sendable (Int) async -> Int,
  _ lazy: @escaping @Sendable (Int) -> Int, _ async: @escaping @Sendable (Int) async -> Int
) -> Row {
  Row(
    name, Contender("LazyList", list), Contender("lazy sequence", lazy),
    Contender("AsyncSequence", async))
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

@inline(never) private func listSlice(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.dropFirst(10).prefix(count)
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listPrefix(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.prefix { $0 >= 0 }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listReductions(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.reductions(0) { $0 &+ $1 }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listChunks(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.chunks(ofCount: 16).map { $0.count }
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

/// It has no `removeDuplicates`: what one writes instead.
@inline(never) private func lazyDuplicates(_ count: Int) -> Int {
  var (digest, last) = (0, Int?.none)
  for element in (0..<count).lazy.map({ $0 / 2 }) where element != last {
    digest = digest &* 31 &+ element
    last = element
  }
  return digest
}

@inline(never) private func lazySlice(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count).lazy.dropFirst(10).prefix(count) { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func lazyPrefix(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count).lazy.prefix(while: { $0 >= 0 }) { digest = digest &* 31 &+ element }
  return digest
}

/// Nor has it lazy `reductions`.
@inline(never) private func lazyReductions(_ count: Int) -> Int {
  var (digest, sum) = (0, 0)
  for element in 0..<count {
    sum &+= element
    digest = digest &* 31 &+ sum
  }
  return digest
}

/// Nor `chunks`.
@inline(never) private func lazyChunks(_ count: Int) -> Int {
  var (digest, iterator) = (0, (0..<count).makeIterator())
  while true {
    var chunk: [Int] = []
    while chunk.count < 16, let element = iterator.next() { chunk.append(element) }
    if chunk.isEmpty { return digest }
    digest = digest &* 31 &+ chunk.count
  }
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

@inline(never) private func asyncSlice(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.dropFirst(10).prefix(count) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncPrefix(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.prefix(while: { $0 >= 0 }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncReductions(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.reductions({ $0 &+ $1 }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncChunks(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count).async.chunks(ofCount: 16) {
    digest = digest &* 31 &+ element.count
  }
  return digest
}
