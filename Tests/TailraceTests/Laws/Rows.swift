import Tailrace

// The laws hold for every operator: each suite in this folder runs over these rows.
extension Row {
  static let all: [Row] =
    lists + filters + slices + others + concurrent + recoveries + retries + groups + stored

  private static let lists: [Row] = [
    Row("map, plain", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map { calls.plain($0, $0 * 10) }
    },
    Row("map, throwing", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map { try calls.throwing($0, $0 * 10) }
    },
    Row("map, async", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map { await calls.async($0, $0 * 10) }
    },
    Row("map, async throwing", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map { try await calls.asyncThrowing($0, $0 * 10) }
    },
    Row("compactMap, plain", 2, 4, [20, 40, 60]) { list, calls in
      list.compactMap { calls.plain($0, $0 % 2 == 0 ? $0 * 10 : nil) }
    },
    Row("compactMap, throwing", 2, 4, [20, 40, 60]) { list, calls in
      list.compactMap { try calls.throwing($0, $0 % 2 == 0 ? $0 * 10 : nil) }
    },
    Row("compactMap, async", 2, 4, [20, 40, 60]) { list, calls in
      list.compactMap { await calls.async($0, $0 % 2 == 0 ? $0 * 10 : nil) }
    },
    Row("compactMap, async throwing", 2, 4, [20, 40, 60]) { list, calls in
      list.compactMap { try await calls.asyncThrowing($0, $0 % 2 == 0 ? $0 * 10 : nil) }
    },
    Row("flatMap to lists, plain", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        calls.plain($0, Row.Source.repeating($0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to lists, throwing", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        try calls.throwing($0, Row.Source.repeating($0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to lists, async", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        await calls.async($0, Row.Source.repeating($0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to lists, async throwing", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        try await calls.asyncThrowing($0, Row.Source.repeating($0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to sequences, plain", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        calls.plain($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to sequences, throwing", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        try calls.throwing($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to sequences, async", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        await calls.async($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("flatMap to sequences, async throwing", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.flatMap {
        try await calls.asyncThrowing($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0))
      }
    },
    Row("bind, stop, plain", 1, 1, [1, 1, 2, 2]) { list, calls in
      list.bind { element, stop in
        stop = element == 2
        return calls.plain(element, Row.Source.repeating(element, count: 2))
      }
    },
    Row("bind, stop, async", 1, 1, [1, 1, 2, 2]) { list, calls in
      list.bind { element, stop async in
        stop = element == 2
        return await calls.async(element, Row.Source.repeating(element, count: 2))
      }
    },
    Row("bind, nil, plain", 1, 1, [1, 1, 2, 2]) { list, calls in
      list.bind { element, _ in
        calls.plain(element, element == 3 ? nil : Row.Source.repeating(element, count: 2))
      }
    },
  ]

  private static let filters: [Row] = [
    Row("filter, plain", 2, 4, [2, 4, 6]) { list, calls in
      list.filter { calls.plain($0, $0 % 2 == 0) }
    },
    Row("filter, throwing", 2, 4, [2, 4, 6]) { list, calls in
      list.filter { try calls.throwing($0, $0 % 2 == 0) }
    },
    Row("filter, async", 2, 4, [2, 4, 6]) { list, calls in
      list.filter { await calls.async($0, $0 % 2 == 0) }
    },
    Row("filter, async throwing", 2, 4, [2, 4, 6]) { list, calls in
      list.filter { try await calls.asyncThrowing($0, $0 % 2 == 0) }
    },
    Row("removeDuplicates by, plain", 1, 2, [1, 2, 4, 6]) { list, calls in
      list.removeDuplicates { calls.plain($1, $0 / 2 == $1 / 2) }
    },
    Row("removeDuplicates by, throwing", 1, 2, [1, 2, 4, 6]) { list, calls in
      list.removeDuplicates { try calls.throwing($1, $0 / 2 == $1 / 2) }
    },
    Row("removeDuplicates by, async throwing", 1, 2, [1, 2, 4, 6]) { list, calls in
      list.removeDuplicates { try await calls.asyncThrowing($1, $0 / 2 == $1 / 2) }
    },
    Row("ignoring", 1, 3, [1, 3, 4, 5, 6]) { list, _ in
      list.ignoring(2)
    },
    Row("removeDuplicates", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.removeDuplicates()
    },
    Row("a pair of filters", 1, 3, [1, 3, 5, 2, 4, 6]) { list, _ in
      list.filter { $0 % 2 == 1 } + list.filter { $0 % 2 == 0 }
    },
  ]

  private static let slices: [Row] = [
    Row("prefix while, plain", 1, 2, [1, 2]) { list, calls in
      list.prefix { calls.plain($0, $0 < 3) }
    },
    Row("prefix while, throwing", 1, 2, [1, 2]) { list, calls in
      list.prefix { try calls.throwing($0, $0 < 3) }
    },
    Row("prefix while, async", 1, 2, [1, 2]) { list, calls in
      list.prefix { await calls.async($0, $0 < 3) }
    },
    Row("prefix while, async throwing", 1, 2, [1, 2]) { list, calls in
      list.prefix { try await calls.asyncThrowing($0, $0 < 3) }
    },
    Row("drop while, plain", 3, 4, [3, 4, 5, 6]) { list, calls in
      list.drop { calls.plain($0, $0 < 3) }
    },
    Row("drop while, throwing", 3, 4, [3, 4, 5, 6]) { list, calls in
      list.drop { try calls.throwing($0, $0 < 3) }
    },
    Row("drop while, async", 3, 4, [3, 4, 5, 6]) { list, calls in
      list.drop { await calls.async($0, $0 < 3) }
    },
    Row("drop while, async throwing", 3, 4, [3, 4, 5, 6]) { list, calls in
      list.drop { try await calls.asyncThrowing($0, $0 < 3) }
    },
    Row("prefix", 1, 2, [1, 2]) { list, _ in
      list.prefix(2)
    },
    Row("prefix, longer than the list", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.prefix(9)
    },
    Row("dropFirst", 3, 4, [3, 4, 5, 6]) { list, _ in
      list.dropFirst(2)
    },
    Row("dropFirst, more than a segment", 0, 0, []) { list, _ in
      LazyList<Int, any Error>.empty + list.dropFirst(600)
    },
    Row("tail", 2, 3, [2, 3, 4, 5, 6]) { list, _ in
      list.tail
    },
  ]

  private static let others: [Row] = [
    Row("reductions, plain", 1, 2, [1, 3, 6, 10, 15, 21]) { list, calls in
      list.reductions(0) { calls.plain($1, $0 + $1) }
    },
    Row("reductions, throwing", 1, 2, [1, 3, 6, 10, 15, 21]) { list, calls in
      list.reductions(0) { try calls.throwing($1, $0 + $1) }
    },
    Row("reductions, async throwing", 1, 2, [1, 3, 6, 10, 15, 21]) { list, calls in
      list.reductions(0) { try await calls.asyncThrowing($1, $0 + $1) }
    },
    Row("reductions into, plain", 1, 2, [1, 3, 6, 10, 15, 21]) { list, calls in
      list.reductions(into: 0) { $0 = calls.plain($1, $0 + $1) }
    },
    Row("reductions into, throwing", 1, 2, [1, 3, 6, 10, 15, 21]) { list, calls in
      list.reductions(into: 0) { $0 = try calls.throwing($1, $0 + $1) }
    },
    Row("reductions into, async throwing", 1, 2, [1, 3, 6, 10, 15, 21]) { list, calls in
      list.reductions(into: 0) { $0 = try await calls.asyncThrowing($1, $0 + $1) }
    },
    Row("prepending", 0, 1, [0, 1, 2, 3, 4, 5, 6]) { list, _ in
      list.prepending(0)
    },
    Row("+, on the left", 1, 2, [1, 2, 3, 4, 5, 6, 7]) { list, _ in
      list + [7]
    },
    Row("+, on the right", 0, 1, [0, 1, 2, 3, 4, 5, 6]) { list, _ in
      [0] + list
    },
    Row("+, twice", 1, 2, [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]) { list, _ in
      list + list
    },
    Row("joined lists", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.map { Row.Source.just($0) }.joined()
    },
    Row("joined sequences", 1, 1, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]) { list, _ in
      list.map { [$0, $0] }.joined()
    },
    Row("cycled", 1, 2, [1, 2, 3, 4, 5, 6, 1, 2]) { list, _ in
      list.cycled().prefix(8)
    },
    Row("interspersed", 1, 2, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]) { list, _ in
      list.interspersed(with: 0)
    },
    Row("enumerated", 1, 2, [1, 12, 23, 34, 45, 56]) { list, _ in
      list.enumerated().map { $0.offset * 10 + $0.element }
    },
    Row("adjacentPairs", 2, 3, [12, 23, 34, 45, 56]) { list, _ in
      list.adjacentPairs().map { $0.0 * 10 + $0.1 }
    },
    Row("chunks", 3, 6, [6, 15]) { list, _ in
      list.chunks(ofCount: 3).map { $0.reduce(0, +) }
    },
    Row("zip with itself", 1, 2, [2, 4, 6, 8, 10, 12]) { list, _ in
      zip(list, list).map { $0.0 + $0.1 }
    },
    Row("zip with its tail", 2, 3, [3, 5, 7, 9, 11]) { list, _ in
      zip(list, list.tail).map { $0.0 + $0.1 }
    },
    Row("zip with a shorter one", 1, 2, [11, 22]) { list, _ in
      Row.Source([10, 20]).zip(list).map { $0.0 + $0.1 }
    },
    Row("named", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.named("numbers")
    },
    Row("memoized", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.memoized()
    },
    Row("deferred", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      Row.Source.deferred { list }
    },
    Row("head and tail", 0, 1, [0, 1, 2, 3, 4, 5, 6]) { list, _ in
      Row.Source(head: { 0 }, tail: { list })
    },
    Row("recursive", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      Row.Source.recursive { _ in list }
    },
    Row("recursive, reading itself", 1, 2, [1, 3, 6, 10, 15, 21]) { list, _ in
      Row.Source.recursive { sums in zip(list, [0] + sums).map { $0.0 + $0.1 } }
    },
  ]

  private static let concurrent: [Row] = [
    Row("concurrentMap, async", 1, 2, [10, 20, 30, 40, 50, 60], ahead: 2) { list, calls in
      list.concurrentMap(limit: 3) { await calls.async($0, $0 * 10) }
    },
    Row("concurrentMap, async throwing", 1, 2, [10, 20, 30, 40, 50, 60], ahead: 2) { list, calls in
      list.concurrentMap(limit: 3) { try await calls.asyncThrowing($0, $0 * 10) }
    },
    Row("concurrentMap, one at a time", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.concurrentMap(limit: 1) { await calls.async($0, $0 * 10) }
    },
    Row("prefetching", 1, 2, [1, 2, 3, 4, 5, 6], ahead: 2) { list, _ in
      list.prefetching(2)
    },
    Row("prefetching, nothing", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.prefetching(0)
    },
  ]
}
