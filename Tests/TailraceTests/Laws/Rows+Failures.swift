import Tailrace

extension Row {
  static let recoveries: [Row] = [
    Row("catch, plain", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.catch { Row.Source.failing($0) }
    },
    Row("catch, async", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.catch { failure async in Row.Source.failing(failure) }
    },
    Row("catch, async throwing", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.catch { failure async throws -> Row.Source in throw failure }
    },
    Row("catch, with a list that cannot fail", 1, 2, [1, 2, 3, 4, 5, 6], recovers: true) {
      list, _ in
      list.catch { _ in [7] }.throwingCancellation
    },
    Row("replacingFailure", 1, 2, [1, 2, 3, 4, 5, 6], recovers: true) { list, _ in
      list.replacingFailure(with: 7).throwingCancellation
    },
    Row("endingAtFailure", 1, 2, [1, 2, 3, 4, 5, 6], recovers: true) { list, _ in
      list.endingAtFailure().throwingCancellation
    },
    Row("setFailureType", 1, 2, [1, 2, 3, 4, 5, 6], recovers: true) { list, _ in
      list.endingAtFailure().setFailureType(to: (any Error).self)
    },
    Row("mapFailure, plain", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in list.mapFailure { $0 } },
    Row("throwingCancellation", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in list.throwingCancellation },
  ]

  static let retries: [Row] = [
    Row("map, retrying", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map(retryingFailures: true) { try calls.throwing($0, $0 * 10) }
    },
    Row("map, retrying, async", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map(retryingFailures: true) { try await calls.asyncThrowing($0, $0 * 10) }
    },
    Row("map, not retrying", 1, 2, [10, 20, 30, 40, 50, 60]) { list, calls in
      list.map(retryingFailures: false) { try await calls.asyncThrowing($0, $0 * 10) }
    },
    Row("map, retrying, async, compacted", 2, 4, [20, 40, 60]) { list, calls in
      list.map(retryingFailures: true) {
        try await calls.asyncThrowing($0, $0 % 2 == 0 ? $0 * 10 : nil)
      }.compacted()
    },
    Row("map, retrying, joined lists", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.map(retryingFailures: true) {
        try calls.throwing($0, Row.Source.repeating($0, count: $0 % 2 == 0 ? 2 : 0))
      }.joined()
    },
    Row("map, retrying, async, joined sequences", 2, 2, [2, 2, 4, 4, 6, 6]) { list, calls in
      list.map(retryingFailures: true) {
        try await calls.asyncThrowing($0, [Int](repeating: $0, count: $0 % 2 == 0 ? 2 : 0))
      }.joined()
    },
    Row("deferred, retrying", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      Row.Source.deferred(retryingFailures: true) { () throws in list }
    },
    Row("head and tail, retrying", 0, 1, [0, 1, 2, 3, 4, 5, 6]) { list, _ in
      Row.Source(retryingFailures: true, head: { () throws in 0 }, tail: { () throws in list })
    },
    Row("concurrentMap, retrying", 1, 2, [10, 20, 30, 40, 50, 60], ahead: 2) { list, calls in
      list.concurrentMap(limit: 3, retryingFailures: true) {
        try await calls.asyncThrowing($0, $0 * 10)
      }
    },
  ]

  static let groups: [Row] = [
    Row("compacted", 2, 4, [2, 4, 6]) { list, _ in
      list.map { $0 % 2 == 0 ? $0 : nil }.compacted()
    },
    Row("uniqued", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in list.uniqued() },
    Row("uniqued on, plain", 1, 2, [1, 2, 4, 6]) { list, calls in
      list.uniqued { calls.plain($0, $0 / 2) }
    },
    Row("uniqued on, throwing", 1, 2, [1, 2, 4, 6]) { list, calls in
      list.uniqued { try calls.throwing($0, $0 / 2) }
    },
    Row("uniqued on, async throwing", 1, 2, [1, 2, 4, 6]) { list, calls in
      list.uniqued { try await calls.asyncThrowing($0, $0 / 2) }
    },
    Row("dropLast", 3, 4, [1, 2, 3, 4]) { list, _ in list.dropLast(2) },
    Row("suffix", 7, 7, [5, 6]) { list, _ in list.suffix(2) },
    Row("windows", 2, 3, [3, 5, 7, 9, 11]) { list, _ in
      list.windows(ofCount: 2).map { $0.reduce(0, +) }
    },
    Row("chunked by, plain", 3, 6, [3, 12, 6]) { list, calls in
      list.chunked { calls.plain($1, $0 / 3 == $1 / 3) }.map { $0.reduce(0, +) }
    },
    Row("chunked by, throwing", 3, 6, [3, 12, 6]) { list, calls in
      list.chunked { try calls.throwing($1, $0 / 3 == $1 / 3) }.map { $0.reduce(0, +) }
    },
    Row("chunked by, async throwing", 3, 6, [3, 12, 6]) { list, calls in
      list.chunked { try await calls.asyncThrowing($1, $0 / 3 == $1 / 3) }.map { $0.reduce(0, +) }
    },
    Row("chunked on, plain", 3, 6, [3, 112, 206]) { list, calls in
      list.chunked { calls.plain($0, $0 / 3) }.map { $0.0 * 100 + $0.1.reduce(0, +) }
    },
    Row("chunked on, throwing", 3, 6, [3, 112, 206]) { list, calls in
      list.chunked { try calls.throwing($0, $0 / 3) }.map { $0.0 * 100 + $0.1.reduce(0, +) }
    },
    Row("chunked on, async throwing", 3, 6, [3, 112, 206]) { list, calls in
      list.chunked { try await calls.asyncThrowing($0, $0 / 3) }
        .map { $0.0 * 100 + $0.1.reduce(0, +) }
    },
    Row("onEach, plain", 1, 2, [1, 2, 3, 4, 5, 6]) { list, calls in
      list.onEach { calls.plain($0, ()) }
    },
    Row("onEach, throwing", 1, 2, [1, 2, 3, 4, 5, 6]) { list, calls in
      list.onEach { try calls.throwing($0, ()) }
    },
    Row("onEach, async throwing", 1, 2, [1, 2, 3, 4, 5, 6]) { list, calls in
      list.onEach { try await calls.asyncThrowing($0, ()) }
    },
    Row("lines", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in
      list.map { Array("\($0)\n".utf8) }.lines.map { Int($0) ?? 0 }
    },
    Row("concurrentMapUnordered, one at a time, async", 1, 2, [10, 20, 30, 40, 50, 60]) {
      list, calls in
      list.concurrentMapUnordered(limit: 1) { await calls.async($0, $0 * 10) }
    },
    Row("concurrentMapUnordered, one at a time, async throwing", 1, 2, [10, 20, 30, 40, 50, 60]) {
      list, calls in
      list.concurrentMapUnordered(limit: 1) { try await calls.asyncThrowing($0, $0 * 10) }
    },
  ]
}
