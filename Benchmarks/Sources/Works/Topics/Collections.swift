import Measuring
import AsyncAlgorithms
import Foundation
import Tailrace
import TailraceFoundation

extension Topic {
  public static let collections = Topic(
    "Collections", about: "lists of collections and of files, and eager ones",
    rows: [
      Row(
        "read an array's list once",
        Contender("LazyList", given: array, readList),
        Contender("`for x in array`", atMost: 4, given: array, loop),
        Contender("`array.async`", given: array, asyncLoop)),
      Row(
        "map and filter at once",
        Contender("EagerList", given: { EagerList(0..<$0) }, eagerMapFilter),
        Contender("`array.map.filter`", atMost: 1.5, given: array, mapFilter)),
      Row(
        // A million of them are 100 MB.
        "the lines of a file, 100 bytes each", per: "line",
        Contender("`url.lazyLines`", given: LineFile.init, lazyLines),
        Contender("a loop around `read`", given: LineFile.init, readLines),
        Contender("`AsyncStream` that such a loop feeds", given: LineFile.init, streamedLines)),
    ])
}

// MARK: Tailrace

@inline(never) private func readList(_ array: [Int]) async -> Int {
  var sum = 0
  for await element in array.lazyList { sum &+= element }
  return sum
}

@inline(never) private func eagerMapFilter(_ list: EagerList<Int>) -> Int {
  let result = list.map { $0 &* 3 }.filter { $0 % 2 == 0 }
  blackHole(result)
  return result.count &+ (result.last ?? 0)
}

@inline(never) private func lazyLines(_ file: LineFile) async throws -> Int {
  var length = 0
  for try await line in file.url.lazyLines { length &+= line.utf8.count }
  return length
}

// MARK: Peers

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

@inline(never) private func mapFilter(_ array: [Int]) -> Int {
  collected(array.map { $0 &* 3 }.filter { $0 % 2 == 0 })
}

@inline(never) private func readLines(_ file: LineFile) -> Int {
  var length = 0
  file.read { length &+= $0.utf8.count }
  return length
}

@inline(never) private func streamedLines(_ file: LineFile) async -> Int {
  let (lines, continuation) = AsyncStream.makeStream(of: String.self)
  DispatchQueue.global().async {
    file.read { continuation.yield($0) }
    continuation.finish()
  }
  var length = 0
  for await line in lines { length &+= line.utf8.count }
  return length
}
