import Measuring
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let slices = Topic(
    "Slices", about: "slices, scans and chunks of a range, read to the end",
    rows: [
      .operator("dropFirst and prefix", listSlice, lazySlice, asyncSlice),
      .operator("prefix(while:)", listPrefix, lazyPrefix, asyncPrefix),
      .operator("reductions", listReductions, lazyReductions, asyncReductions),
      .operator("chunks of 16, counted", listChunks, lazyChunks, asyncChunks),
    ])
}

// MARK: Tailrace

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

/// It has no lazy `reductions`: the loop that one writes instead.
@inline(never) private func lazyReductions(_ count: Int) -> Int {
  var (digest, sum) = (0, 0)
  for element in 0..<count {
    sum &+= element
    digest = digest &* 31 &+ sum
  }
  return digest
}

/// Nor has it `chunks`.
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
