// A client of both packages. Where both have an operator of one name, a list's is ours, which remembers
// what it has computed. That this compiles is the test: nothing here runs. Each result gets its type in
// a line of its own, because a type beside the call would choose the operator.
import AsyncAlgorithms
import Tailrace

private func free(_ numbers: LazyList<Int, Never>, _ words: LazyList<String, Never>) {
  let pairs = zip(numbers, words)
  let _: LazyList<(Int, String), Never> = pairs
  let triples = zip(numbers, words, numbers)
  let _: LazyList<(Int, String, Int), Never> = triples
  let quadruples = zip(numbers, words, numbers, words)
  let _: LazyList<(Int, String, Int, String), Never> = quadruples
  let sextuples = zip(numbers, words, numbers, words, numbers, words)
  let _: LazyList<(Int, String, Int, String, Int, String), Never> = sextuples
  let fibs = LazyList.recursive { fibs in [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 } }
  let _: LazyList<Int, Never> = fibs
}

private func freeOfListsThatFail(_ pages: LazyList<Int, any Error>) {
  let pairs = zip(pages, pages)
  let _: LazyList<(Int, Int), any Error> = pairs
  let triples = zip(pages, pages, pages)
  let _: LazyList<(Int, Int, Int), any Error> = triples
}

private func chains(_ numbers: LazyList<Int, Never>) async {
  let sums = zip(LazyList(1...3), LazyList(10...)).map { $0 * $1 }.filter { $0 > 10 }
  let _: LazyList<Int, Never> = sums
  let total = await zip(numbers, numbers.tail).map { $0 * $1 }.filter { $0 > 10 }.reduce(0, +)
  let heads = await zip(LazyList(1...3), LazyList(10...)).map { $0 * $1 }.reduce(0, +)
  let three = await zip(LazyList(1...3), LazyList(10...), LazyList(5...)).map { $0 * $1 + $2 }
    .filter { $0 > 10 }.reduce(0, +)
  let _: [Int] = [total, heads, three]
}

private func methods(_ numbers: LazyList<Int, Never>, _ pages: LazyList<Int, any Error>) {
  let pairs = numbers.zip(pages)
  let _: LazyList<(Int, Int), any Error> = pairs
  let chunks = numbers.chunks(ofCount: 2)
  let _: LazyList<[Int], Never> = chunks
  let groups = numbers.chunked { $0 < $1 }
  let _: LazyList<[Int], Never> = groups
  let joined = numbers.map { LazyList.just($0) }.joined()
  let _: LazyList<Int, Never> = joined
  let numbersOfPages = pages.map { LazyList.just($0).setFailureType(to: (any Error).self) }.joined()
  let _: LazyList<Int, any Error> = numbersOfPages
  let flat = numbers.flatMap { LazyList.just($0) }
  let _: LazyList<Int, Never> = flat
  let keyed = numbers.chunked(on: { $0 / 10 })
  let _: LazyList<(Int, [Int]), Never> = keyed
  let neighbours = numbers.adjacentPairs()
  let _: LazyList<(Int, Int), Never> = neighbours
  let different = numbers.removeDuplicates()
  let _: LazyList<Int, Never> = different
  let distinct = numbers.removeDuplicates { $0 / 10 == $1 / 10 }
  let _: LazyList<Int, Never> = distinct
  let sums = numbers.reductions(0, +)
  let _: LazyList<Int, Never> = sums
  let into = numbers.reductions(into: 0) { $0 += $1 }
  let _: LazyList<Int, Never> = into
  let dashed = numbers.interspersed(with: 0)
  let _: LazyList<Int, Never> = dashed
  let there = numbers.map { $0 > 1 ? $0 : nil }.compacted()
  let _: LazyList<Int, Never> = there
}

private func different(
  _ numbers: LazyList<Int, Never>, _ pages: LazyList<Int, any Error>,
  _ stopped: LazyList<Int, CancellationError>
) {
  let pairs = zip(numbers, pages)
  let _: LazyList<(Int, Int), any Error> = pairs
  let others = zip(stopped, pages)
  let _: LazyList<(Int, Int), any Error> = others
  let inner = numbers.map { _ in stopped }.joined()
  let _: LazyList<Int, CancellationError> = inner
  let outer = stopped.map { _ in numbers }.joined()
  let _: LazyList<Int, CancellationError> = outer
  let both = stopped.map { _ in pages }.joined()
  let _: LazyList<Int, any Error> = both
}

// Code that uses no list keeps its types.
private func others(_ stream: AsyncStream<Int>) async {
  let sum = zip([1, 2, 3], [10, 20, 30]).map { $0 * $1 }.filter { $0 > 10 }.reduce(0, +)
  let _: Int = sum
  let pairs = zip(stream, stream)
  let _: AsyncZip2Sequence<AsyncStream<Int>, AsyncStream<Int>> = pairs
}
