import Measuring
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let joins = Topic(
    "Joins", about: "several lists made one, read to the end, per element that comes out",
    rows: [
      Row(
        "one after the other",
        Contender("LazyList", listChain),
        Contender("lazy sequence", lazyChain),
        Contender("AsyncSequence", asyncChain)),
      Row(
        "zip of two, and map",
        Contender("LazyList", listZip),
        Contender("lazy sequence", lazyZip),
        Contender("AsyncSequence", upTo: 10_000, asyncZip),
        Contender("two async iterators, by hand", asyncZipByHand)),
      Row(
        "zip of three, and map",
        Contender("LazyList", listZipThree),
        Contender("lazy sequence", lazyZipThree),
        Contender("AsyncSequence", upTo: 10_000, asyncZipThree),
        Contender("three async iterators, by hand", asyncZipThreeByHand)),
      Row(
        "`flatMap` to arrays of four",
        Contender("LazyList", listFlatMapToArrays),
        Contender("lazy sequence", lazyFlatMapToArrays),
        Contender("AsyncSequence", asyncFlatMapToArrays),
        Contender("nested loops, the outer async", asyncNestedLoops)),
      Row(
        "`flatMap` to lists of four",
        Contender("LazyList", listFlatMapToLists),
        Contender("lazy sequence", lazyFlatMapToRanges),
        Contender("AsyncSequence", asyncFlatMapToRanges),
        Contender("nested async loops", asyncNestedAsyncLoops)),
    ])
}

// MARK: Tailrace

@inline(never) private func listChain(_ count: Int) async -> Int {
  let list = (0..<count / 2).lazyList + (count / 2..<count).lazyList
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listZip(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = Tailrace.zip((0..<count).lazyList, (1...count).lazyList)
    .map { $0 &+ $1 }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listZipThree(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = Tailrace.zip(
    (0..<count).lazyList, (1...count).lazyList, (2..<count + 2).lazyList
  )
  .map { $0 &+ $1 &+ $2 }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listFlatMapToArrays(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count / 4).lazyList.flatMap { [$0, 1, 2, 3] }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

@inline(never) private func listFlatMapToLists(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count / 4).lazyList.flatMap { ($0..<$0 + 4).lazyList }
  var digest = 0
  for await element in list { digest = digest &* 31 &+ element }
  return digest
}

// MARK: The standard library

@inline(never) private func lazyChain(_ count: Int) -> Int {
  var digest = 0
  for element in [0..<count / 2, count / 2..<count].lazy.joined() {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func lazyZip(_ count: Int) -> Int {
  var digest = 0
  for (first, second) in Swift.zip(0..<count, 1...count) {
    digest = digest &* 31 &+ (first &+ second)
  }
  return digest
}

@inline(never) private func lazyZipThree(_ count: Int) -> Int {
  var digest = 0
  for ((first, second), third) in Swift.zip(Swift.zip(0..<count, 1...count), 2..<count + 2) {
    digest = digest &* 31 &+ (first &+ second &+ third)
  }
  return digest
}

@inline(never) private func lazyFlatMapToArrays(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count / 4).lazy.flatMap({ [$0, 1, 2, 3] }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func lazyFlatMapToRanges(_ count: Int) -> Int {
  var digest = 0
  for element in (0..<count / 4).lazy.flatMap({ $0..<$0 + 4 }) { digest = digest &* 31 &+ element }
  return digest
}

// MARK: swift-async-algorithms

@inline(never) private func asyncChain(_ count: Int) async -> Int {
  var digest = 0
  for await element in chain((0..<count / 2).async, (count / 2..<count).async) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncZip(_ count: Int) async -> Int {
  var digest = 0
  for await (first, second) in AsyncAlgorithms.zip((0..<count).async, (1...count).async) {
    digest = digest &* 31 &+ (first &+ second)
  }
  return digest
}

@inline(never) private func asyncZipByHand(_ count: Int) async -> Int {
  var first = (0..<count).async.makeAsyncIterator()
  var second = (1...count).async.makeAsyncIterator()
  var digest = 0
  while let one = await first.next(), let two = await second.next() {
    digest = digest &* 31 &+ (one &+ two)
  }
  return digest
}

@inline(never) private func asyncZipThree(_ count: Int) async -> Int {
  let zipped = AsyncAlgorithms.zip((0..<count).async, (1...count).async, (2..<count + 2).async)
  var digest = 0
  for await (first, second, third) in zipped {
    digest = digest &* 31 &+ (first &+ second &+ third)
  }
  return digest
}

@inline(never) private func asyncZipThreeByHand(_ count: Int) async -> Int {
  var first = (0..<count).async.makeAsyncIterator()
  var second = (1...count).async.makeAsyncIterator()
  var third = (2..<count + 2).async.makeAsyncIterator()
  var digest = 0
  while let one = await first.next(), let two = await second.next(), let three = await third.next()
  {
    digest = digest &* 31 &+ (one &+ two &+ three)
  }
  return digest
}

@inline(never) private func asyncFlatMapToArrays(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count / 4).async.flatMap({ [$0, 1, 2, 3].async }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncNestedLoops(_ count: Int) async -> Int {
  var digest = 0
  for await outer in (0..<count / 4).async {
    for element in [outer, 1, 2, 3] { digest = digest &* 31 &+ element }
  }
  return digest
}

@inline(never) private func asyncFlatMapToRanges(_ count: Int) async -> Int {
  var digest = 0
  for await element in (0..<count / 4).async.flatMap({ ($0..<$0 + 4).async }) {
    digest = digest &* 31 &+ element
  }
  return digest
}

@inline(never) private func asyncNestedAsyncLoops(_ count: Int) async -> Int {
  var digest = 0
  for await outer in (0..<count / 4).async {
    for await element in (outer..<outer + 4).async { digest = digest &* 31 &+ element }
  }
  return digest
}
