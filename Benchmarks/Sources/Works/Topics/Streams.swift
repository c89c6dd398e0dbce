import Tailrace

extension Topic {
  public static let streams = Topic(
    "Streams", about: "a stream that is remembered, beside the stream itself; feeding it included",
    works: [
      Work(
        "a buffered stream, first pass", floors: [.atMost(1.2, slowerThan: "`AsyncStream`")],
        contenders: [
          Contender("`stream.memoized()`", sizes: Contender.fewer) {
            Tally($0, await memoized($0))
          },
          Contender("`AsyncStream`", sizes: Contender.fewer) { Tally($0, await streamed($0)) },
        ]),
      Work(
        "a buffered stream, plain map and filter",
        floors: [
          .atMost(1, slowerThan: "`AsyncStream.map.filter`"),
          .atMost(1, slowerThan: "`AsyncStream.compactMap`"),
        ],
        contenders: [
          Contender("`stream.memoized().map.filter`", sizes: Contender.fewer) {
            Tally($0, await memoizedLayers($0))
          },
          Contender("`AsyncStream.map.filter`", sizes: Contender.fewer) {
            Tally($0, await streamedLayers($0))
          },
          Contender("`AsyncStream.compactMap`", sizes: Contender.fewer) {
            Tally($0, await streamedCompactMap($0))
          },
        ]),
    ])
}

// MARK: Tailrace

@inline(never)
private func memoized(_ count: Int) async -> Int {
  let list = buffered(count).memoized()
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime(list) { sum }
}

@inline(never)
private func memoizedLayers(_ count: Int) async -> Int {
  let source = buffered(count).memoized()
  let list: LazyList<Int, Never> = source.map { $0 &* 3 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  return withExtendedLifetime((source, list)) { sum }
}

// MARK: Peers

@inline(never)
private func streamed(_ count: Int) async -> Int {
  var sum = 0
  for await element in buffered(count) { sum &+= element }
  return sum
}

@inline(never)
private func streamedLayers(_ count: Int) async -> Int {
  var sum = 0
  for await element in buffered(count).map({ $0 &* 3 }).filter({ $0 % 2 == 0 }) { sum &+= element }
  return sum
}

@inline(never)
private func streamedCompactMap(_ count: Int) async -> Int {
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
