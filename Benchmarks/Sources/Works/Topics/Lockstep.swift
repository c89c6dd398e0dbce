import Measuring
import AsyncAlgorithms
import Tailrace

extension Topic {
  /// The same readers as in *Fan-out*, in bounded memory.
  public static let lockstep = Topic(
    "In step", about: "several readers of one computation, none over a thousand elements ahead",
    rows: [3, 8].map(lockstepRow),
    quantities: [10_000, 1_000_000, 10_000_000].map(growthLockstep) + [
      Quantity(
        "growth over 3 readers", who: "`share(bufferingPolicy: .bounded(1_000))`", unit: "MB",
        size: 1_000_000
      ) { count in await growthOfReading(count, shareReads) }
    ])
}

private let distance = 1_000

private func lockstepRow(_ readers: Int) -> Row {
  Row(
    "\(readers) readers", per: "element and reader", times: readers,
    sizes: [100, 10_000, 100_000, 1_000_000],
    Contender("`lockstep(readers: \(readers), maxLead: 1_000)`") {
      await lockstepReads($0, by: readers)
    },
    Contender("`share(bufferingPolicy: .bounded(1_000))`", atMost: 1 / 10, upTo: 100_000) {
      await shareReads($0, by: readers)
    },
    Contender("LazyList, which keeps everything") {
      await list($0, by: readers)
    })
}

/// How much three readers add to the process, in megabytes.
private func growthLockstep(_ count: Int) -> Quantity {
  Quantity(
    "growth over 3 readers, \(count) elements", who: "`list.lockstep(readers: 3, maxLead: 1_000)`",
    unit: "MB", atMost: 5, size: count
  ) { count in await growthOfReading(count, lockstepReads) }
}

private func growthOfReading(
  _ count: Int, _ read: @Sendable (_ count: Int, _ readers: Int) async -> Int
) async -> Double? {
  blackHole(await read(min(count, 10_000), 3))
  ResidentMemory.forgetPeak()
  guard let before = ResidentMemory.now.bytes else { return nil }
  blackHole(await read(count, 3))
  return ResidentMemory.peak.bytes.map { max(0, $0 - before) / 1e6 }
}

// MARK: Tailrace

@Sendable @inline(never)
private func lockstepReads(_ count: Int, by readers: Int) async -> Int {
  let readers = (0..<count).lazyList.map { $0 &* 3 }.lockstep(readers: readers, maxLead: distance)
  return await withTaskGroup(of: Int.self) { group in
    for reader in readers {
      group.addTask {
        var sum = 0
        for await element in reader { sum &+= element }
        return sum
      }
    }
    return await group.reduce(0) { $0 &+ $1 }
  }
}

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

// MARK: Peers

@Sendable @inline(never)
private func shareReads(_ count: Int, by readers: Int) async -> Int {
  let shared = (0..<count).async.map { $0 &* 3 }.share(bufferingPolicy: .bounded(distance))
  return await together(readers) { start in
    var iterator = shared.makeAsyncIterator()
    await start.cross()
    var sum = 0
    while let element = await iterator.next(isolation: nil) { sum &+= element }
    return sum
  }
}
