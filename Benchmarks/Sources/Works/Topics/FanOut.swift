import Measuring
import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  /// All readers begin together, and each gets every element.
  public static let fanOut = Topic(
    "Fan-out", about: "several readers of one computation",
    rows: [1, 4, 8, 64].map(plain) + [
      Row(
        "8 readers, a step that only yields", per: "element and reader", times: 8,
        sizes: [4, 100, 10_000],
        Contender("LazyList") { await steppedList($0, by: 8) { await yielding($0) } },
        Contender("`.async.map.share()`") {
          await steppedShare($0, by: 8) { await yielding($0) }
        },
        Contender("an `AsyncStream` for each reader") {
          await steppedStreams($0, by: 8) { await yielding($0) }
        }),
      Row(
        "8 readers, a step that leaves its thread", per: "element and reader", times: 8,
        sizes: [4, 100, 10_000],
        Contender("LazyList") { await steppedList($0, by: 8) { await leaving($0) } },
        Contender("`.async.map.share()`", atMost: 1 / 2) {
          await steppedShare($0, by: 8) { await leaving($0) }
        },
        Contender("an `AsyncStream` for each reader") {
          await steppedStreams($0, by: 8) { await leaving($0) }
        }),
    ])
}

private func plain(_ readers: Int) -> Row {
  let upTo = readers == 64 ? 100 : 10_000
  return Row(
    readers == 1 ? "1 reader" : "\(readers) readers", per: "element and reader", times: readers,
    sizes: [4, 100, 10_000, 100_000], isHeadline: readers == 8,
    Contender("LazyList") { await list($0, by: readers) },
    Contender("`share()`", atMost: readers == 8 ? 1 / 60 : nil, upTo: upTo) {
      await share($0, by: readers)
    },
    Contender("an `AsyncStream` for each reader", upTo: upTo) {
      await streams($0, by: readers)
    },
    Contender("an actor around an array, a task per step", upTo: upTo) {
      await actorAroundArray($0, by: readers)
    },
    Contender("OpenCombine `multicast`, on one thread", upTo: upTo) {
      multicast($0, by: readers)
    })
}

// MARK: Tailrace

@inline(never) private func list(_ count: Int, by readers: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
  return await together(readers) { start in
    var iterator = list.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next() { sum &+= element }
    return sum
  }
}

// The steps of the rows whose steps suspend. Inlined: a contender is a function of its own.

@inline(__always)
private func steppedList(
  _ count: Int, by readers: Int, _ step: @escaping @Sendable (Int) async -> Int
) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { await step($0) }
  return await together(readers) { start in
    var iterator = list.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next() { sum &+= element }
    return sum
  }
}

// MARK: Peers

@inline(never) private func share(_ count: Int, by readers: Int) async -> Int {
  let shared = (0..<count).async.map { $0 &* 3 }.share()
  return await together(readers) { start in
    var iterator = shared.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next(isolation: nil) { sum &+= element }
    return sum
  }
}

@inline(__always)
private func steppedShare(
  _ count: Int, by readers: Int, _ step: @escaping @Sendable (Int) async -> Int
) async -> Int {
  let shared = (0..<count).async.map { await step($0) }.share()
  return await together(readers) { start in
    var iterator = shared.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next(isolation: nil) { sum &+= element }
    return sum
  }
}

/// The broadcast that is written by hand where a stream has one reader only: a stream for each, and
/// a loop that yields each element to all of them.
@inline(never) private func streams(_ count: Int, by readers: Int) async -> Int {
  let streams = (0..<readers).map { _ in AsyncStream.makeStream(of: Int.self) }
  return await withTaskGroup(of: Int.self) { group in
    for (stream, _) in streams {
      group.addTask {
        var sum = 0
        for await element in stream { sum &+= element }
        return sum
      }
    }
    for element in 0..<count {
      let element = element &* 3
      for (_, continuation) in streams { continuation.yield(element) }
    }
    for (_, continuation) in streams { continuation.finish() }
    return await group.reduce(0) { $0 &+ $1 }
  }
}

@inline(__always)
private func steppedStreams(
  _ count: Int, by readers: Int, _ step: @escaping @Sendable (Int) async -> Int
) async -> Int {
  let streams = (0..<readers).map { _ in AsyncStream.makeStream(of: Int.self) }
  return await withTaskGroup(of: Int.self) { group in
    for (stream, _) in streams {
      group.addTask {
        var sum = 0
        for await element in stream { sum &+= element }
        return sum
      }
    }
    for element in 0..<count {
      let element = await step(element)
      for (_, continuation) in streams { continuation.yield(element) }
    }
    for (_, continuation) in streams { continuation.finish() }
    return await group.reduce(0) { $0 &+ $1 }
  }
}

@inline(never) private func actorAroundArray(_ count: Int, by readers: Int) async -> Int {
  let list = TaskPerStep { $0 < count ? $0 &* 3 : nil }
  return await together(readers) { start in
    var iterator = list.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next(isolation: nil) { sum &+= element }
    return sum
  }
}

@inline(never) private func multicast(_ count: Int, by readers: Int) -> Int {
  let total = Total()
  let shared = (0..<count).publisher.map { $0 &* 3 }
    .multicast { PassthroughSubject<Int, Never>() }
  let sinks = (0..<readers).map { _ in shared.sink { total.sum &+= $0 } }
  let connection = shared.connect()
  return withExtendedLifetime((sinks, connection)) { total.sum }
}
