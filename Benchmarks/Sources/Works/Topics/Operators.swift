import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let operators = Topic(
    "Operators", about: "one operator over a range, read to the end, per element of the range",
    works: maps + filters + slices + joins + scans)
}

/// The same operator three times: of a list, of the standard library's lazy sequences, and of
/// asynchronous ones.
private func work<
  Listed: AsyncSequence & SendableMetatype, Lazily: Sequence & SendableMetatype,
  Streamed: AsyncSequence & SendableMetatype
>(
  _ name: String, asyncSizes: [Int] = Contender.sizes,
  list: @escaping @Sendable (Range<Int>) -> Listed,
  lazy: @escaping @Sendable (Range<Int>) -> Lazily,
  async: @escaping @Sendable (Range<Int>) -> Streamed
) -> Work
where
  Listed.Element == Int, Listed.Failure == Never, Lazily.Element == Int,
  Lazily.Iterator: SendableMetatype, Streamed.Element == Int, Streamed.Failure == Never
{
  Work(
    name,
    contenders: [
      Contender("LazyList") { count in Tally(count, await digest(list(0..<count))) },
      Contender("lazy sequence") { count in
        var digest = 0
        for element in lazy(0..<count) { digest = digest &* 31 &+ element }
        return Tally(count, digest)
      },
      Contender("AsyncSequence", sizes: asyncSizes) { count in
        Tally(count, await digest(async(0..<count)))
      },
    ])
}

/// Each element changes the result in its own way. Of a plain sum over a range the compiler knows the
/// formula, and leaves out the loop.
@inline(__always)
private func digest<S: AsyncSequence>(_ sequence: S) async -> Int
where S.Element == Int, S.Failure == Never {
  var digest = 0
  for await element in sequence { digest = digest &* 31 &+ element }
  return digest
}

private typealias Ints = LazyList<Int, Never>

private let maps = [
  work("none, the source alone", list: { $0.lazyList }, lazy: { $0.lazy }, async: { $0.async }),
  work(
    "map",
    list: { $0.lazyList.map { $0 &* 3 } as Ints },
    lazy: { $0.lazy.map { $0 &* 3 } },
    async: { $0.async.map { $0 &* 3 } }),
  work(
    "flatMap to two",
    list: { $0.lazyList.flatMap { [$0, $0] } as Ints },
    lazy: { $0.lazy.flatMap { [$0, $0] } },
    async: { $0.async.flatMap { [$0, $0].async } }),
]

private let filters = [
  work(
    "filter",
    list: { $0.lazyList.filter { $0 % 2 == 0 } as Ints },
    lazy: { $0.lazy.filter { $0 % 2 == 0 } },
    async: { $0.async.filter { $0 % 2 == 0 } }),
  work(
    "compactMap",
    list: { $0.lazyList.compactMap { $0 % 2 == 0 ? $0 &* 3 : nil } as Ints },
    lazy: { $0.lazy.compactMap { $0 % 2 == 0 ? $0 &* 3 : nil } },
    async: { $0.async.compactMap { $0 % 2 == 0 ? $0 &* 3 : nil } }),
  work(
    "map and removeDuplicates",
    list: { $0.lazyList.map { $0 / 2 }.removeDuplicates() as Ints },
    // The standard library has none: what one writes instead.
    lazy: { range in
      sequence(state: (range.makeIterator(), Int?.none)) { state in
        while let element = state.0.next() {
          let halved = element / 2
          if state.1 == halved { continue }
          state.1 = halved
          return halved
        }
        return nil
      }
    },
    async: { $0.async.map { $0 / 2 }.removeDuplicates() }),
]

private let slices = [
  work(
    "dropFirst and prefix",
    list: { $0.lazyList.dropFirst(10).prefix($0.count) as Ints },
    lazy: { $0.lazy.dropFirst(10).prefix($0.count) },
    async: { $0.async.dropFirst(10).prefix($0.count) }),
  work(
    "prefix(while:)",
    list: { $0.lazyList.prefix { $0 >= 0 } as Ints },
    lazy: { $0.lazy.prefix { $0 >= 0 } },
    async: { $0.async.prefix { $0 >= 0 } }),
]

private let joins = [
  work(
    "one after the other",
    list: { (0..<$0.count / 2).lazyList + ($0.count / 2..<$0.count).lazyList },
    lazy: { [0..<$0.count / 2, $0.count / 2..<$0.count].lazy.joined() },
    async: { chain((0..<$0.count / 2).async, ($0.count / 2..<$0.count).async) }),
  work(
    "zip and map", asyncSizes: Contender.fewer,
    list: { Tailrace.zip($0.lazyList, $0.lazyList).map { $0 &+ $1 } as Ints },
    lazy: { Swift.zip($0, $0).lazy.map { $0 &+ $1 } },
    async: { AsyncAlgorithms.zip($0.async, $0.async).map { $0 &+ $1 } }),
]

private let scans = [
  work(
    "reductions",
    list: { $0.lazyList.reductions(0) { $0 &+ $1 } as Ints },
    lazy: { range in
      sequence(state: (range.makeIterator(), 0)) { state in
        guard let element = state.0.next() else { return nil }
        state.1 &+= element
        return state.1
      }
    },
    async: { $0.async.reductions { $0 &+ $1 } }),
  work(
    "chunks of 16, counted",
    list: { $0.lazyList.chunks(ofCount: 16).map { $0.count } as Ints },
    lazy: { range in
      sequence(state: range.makeIterator()) { iterator in
        var chunk: [Int] = []
        while chunk.count < 16, let element = iterator.next() { chunk.append(element) }
        return chunk.isEmpty ? nil : chunk.count
      }
    },
    async: { $0.async.chunks(ofCount: 16).map { $0.count } }),
]
