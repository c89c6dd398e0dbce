import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  /// All readers begin together, and each gets every element.
  public static let fanOut = Topic(
    "Fan-out", about: "several readers of one computation, per element and reader",
    works: [1, 2, 8, 64].map(readers))
}

private func readers(_ readers: Int) -> Work {
  let sizes = readers == 64 ? [1, 100, 1_000] : Contender.fewer
  return Work(
    readers == 1 ? "1 reader" : "\(readers) readers", readers: readers,
    isHeadline: readers == 8,
    floors: readers == 8 ? [.atLeast(60, fasterThan: "`share()`")] : [],
    contenders: [
      Contender("LazyList", sizes: sizes + [1_000_000 / readers]) { count in
        let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
        return await read(list, readers: readers)
      },
      Contender("`share()`", sizes: sizes) { count in
        await read((0..<count).async.map { $0 &* 3 }.share(), readers: readers)
      },
      Contender("an `AsyncStream` for each reader", sizes: sizes) { count in
        await readBroadcast(count, readers: readers)
      },
      Contender("an actor around an array, a task per step", sizes: sizes) { count in
        await read(TaskPerStep { $0 < count ? $0 &* 3 : nil }, readers: readers)
      },
      Contender("OpenCombine `multicast`, on one thread", sizes: sizes) { count in
        let total = Total()
        let shared = (0..<count).publisher.map { $0 &* 3 }
          .multicast { PassthroughSubject<Int, Never>() }
        let sinks = (0..<readers).map { _ in shared.sink { total.sum &+= $0 } }
        let connection = shared.connect()
        return withExtendedLifetime((sinks, connection)) {
          Tally(count * readers, total.sum)
        }
      },
    ])
}

/// The broadcast that is written by hand where a stream has one reader only: a stream for each, and
/// a loop that yields each element to all of them.
private func readBroadcast(_ count: Int, readers: Int) async -> Tally {
  let streams = (0..<readers).map { _ in AsyncStream.makeStream(of: Int.self) }
  return await withTaskGroup(of: Tally.self) { group in
    for (stream, _) in streams {
      group.addTask {
        var (count, sum) = (0, 0)
        for await element in stream {
          sum &+= element
          count += 1
        }
        return Tally(count, sum)
      }
    }
    for element in 0..<count {
      let element = element &* 3
      for (_, continuation) in streams { continuation.yield(element) }
    }
    for (_, continuation) in streams { continuation.finish() }
    return await group.reduce(Tally(0, 0)) {
      Tally($0.elements + $1.elements, $0.result &+ $1.result)
    }
  }
}
