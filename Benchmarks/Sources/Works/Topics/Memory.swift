import Allocations
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let memory = Topic(
    "Memory", about: "what evaluated elements cost, beyond their own storage elsewhere",
    works: [
      Work(
        "evaluate Ints and keep them",
        contenders: [
          Contender("LazyList") { count in
            let list = (0..<count).lazyList
            let found = await list.count()
            return withExtendedLifetime(list) { Tally(count, found) }
          },
          Contender("`Array`") { count in
            let array = Array(0..<count)
            blackHole(array)
            return Tally(count, array.count)
          },
        ])
    ],
    quantities: bytes + allocations + [
      Quantity(
        "growth over map, filter and reduce, head not held", who: "LazyList", unit: "MB",
        limit: 5, size: 100_000_000, count: growthOfPass)
    ])
}

private let bytes: [Quantity] = [
  .bytesPerElement("bytes per evaluated Int", who: "LazyList", limit: 10) { count in
    let list = (0..<count).lazyList
    _ = await list.count()
    return list
  },
  .bytesPerElement("bytes per evaluated Int", who: "`Array`") { count in Array(0..<count) },
  .bytesPerElement("bytes per evaluated Int", who: "`AsyncStream`, buffered") { count in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    for element in 0..<count { continuation.yield(element) }
    return (stream, continuation)
  },
]

private let allocations: [Quantity] = [
  Quantity("heap blocks per evaluated Int", who: "LazyList", unit: "") { count in
    allocations_start()
    let list = (0..<count).lazyList
    blackHole(await list.count())
    let blocks = allocations_stop()
    return withExtendedLifetime(list) {
      blocks.made < 0 ? nil : Double(blocks.made - blocks.freed) / Double(count)
    }
  },
  Quantity(
    "allocations per element, first pass", who: "LazyList", unit: "", limit: 1.0 / 32
  ) { count in
    await allocations(per: count) {
      let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
      blackHole(await sum(list))
    }
  },
  Quantity("allocations per element, read again", who: "LazyList", unit: "", limit: 0) { count in
    let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
    blackHole(await sum(list))
    return await allocations(per: count) { blackHole(await sum(list)) }
  },
  Quantity("allocations per element, first pass", who: "`.async.map`", unit: "") { count in
    await allocations(per: count) { blackHole(await sum((0..<count).async.map { $0 &* 3 })) }
  },
]

private func allocations(
  per count: Int, _ body: @Sendable () async -> Void
) async -> Double? {
  // The first time makes what the process makes once.
  await body()
  allocations_start()
  await body()
  let number = allocations_stop().made
  return number < 0 ? nil : Double(number) / Double(count)
}

extension Quantity {
  /// The heap that a value keeps, by the number of its elements.
  static func bytesPerElement<Value: Sendable>(
    _ name: String, who: String, limit: Double? = nil,
    _ make: @escaping @Sendable (Int) async -> Value
  ) -> Quantity {
    Quantity(name, who: who, unit: "bytes", limit: limit) { count in
      // The first time makes what the process makes once.
      _ = await make(100)
      let before = allocations_bytes()
      let value = await make(count)
      let after = allocations_bytes()
      return withExtendedLifetime(value) {
        before < 0 ? nil : Double(after - before) / Double(count)
      }
    }
  }
}

/// How much a pass over elements that nobody holds adds to the process, in megabytes.
@Sendable
private func growthOfPass(_ count: Int) async -> Double? {
  await pass(over: min(count, 100_000))
  ResidentMemory.forgetPeak()
  guard let before = ResidentMemory.now.bytes else { return nil }
  await pass(over: count)
  return ResidentMemory.peak.bytes.map { max(0, $0 - before) / 1e6 }
}

private func pass(over count: Int) async {
  blackHole(
    await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.reduce(0) { $0 &+ $1 })
}
