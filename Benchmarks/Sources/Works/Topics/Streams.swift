import Measuring
import Tailrace

extension Topic {
  public static let streams = Topic(
    "Streams", about: "a stream that is remembered, beside the stream itself; feeding it included",
    rows: [
      Row(
        "a buffered stream, first pass", sizes: [4, 100, 10_000, 100_000],
        Contender("`stream.memoized()`", memoized),
        Contender("`AsyncStream`", atMost: 1.2, streamed)),
      Row(
        "a buffered stream, plain map and filter", sizes: [4, 100, 10_000, 100_000],
        Contender("`stream.memoized().map.filter`", memoizedLayers),
        Contender("`AsyncStream.map.filter`", atMost: 1, streamedLayers),
        Contender("`AsyncStream.compactMap`", atMost: 1, streamedCompactMap)),
    ])
}

// MARK: Tailrace

@inline(never) private func memoized(_ count: Int) async -> Int {
  let list = buffered(count).memoized()
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never) private func memoizedLayers(_ count: Int) async -> Int {
  let source = buffered(count).memoized()
  let list: LazyList<Int, Never> = source.map { $0 &* 3 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime((source, list)) { sum }
}

// MARK: Peers

@inline(never) private func streamed(_ count: Int) async -> Int {
  var sum = 0
  for await element in buffered(count) { sum &+= element }
  return sum
}

@inline(never) private func streamedLayers(_ count: Int) async -> Int {
  var sum = 0
  for await element in buffered(count).map({ $0 &* 3 }).filter({ $0 % 2 == 0 }) { sum &+= element }
  return sum
}

@inline(never) private func streamedCompactMap(_ count: Int) async -> Int {
  let chain = buffered(count).compactMap { element -> Int? in
    let tripled = element &* 3
    return tripled % 2 == 0 ? tripled : nil
  }
  var sum = 0
  for await element in chain { sum &+= element }
  return sum
}

/// A stream in which everything lies ready.
private func buffered(_ count: Int) -> AsyncStream<Int> {
  let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
  for element in 0..<count { continuation.yield(element) }
  continuation.finish()
  return stream
}
