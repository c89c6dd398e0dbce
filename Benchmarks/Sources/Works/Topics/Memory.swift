import Measuring
import Allocations
import AsyncAlgorithms
import Tailrace

extension Topic {
  public static let memory = Topic(
    "Memory", about: "the cost of evaluated elements, beyond their own storage elsewhere",
    rows: [
      Row(
        "evaluate Ints and keep them",
        Contender("LazyList", keepList),
        Contender("`Array`", keepArray))
    ],
    quantities: bytes + allocations + [
      Quantity(
        "growth over map, filter and reduce, head not held", who: "LazyList", unit: "MB",
        atMost: 5, size: 100_000_000, growthOfPass)
    ] + herds)
}

@inline(never) private func keepList(_ count: Int) async -> Int {
  let list = (0..<count).lazyList
  let found = await list.count()
  return withExtendedLifetime(list) { found }
}

@inline(never) private func keepArray(_ count: Int) -> Int {
  let array = Array(0..<count)
  blackHole(array)
  return array.count
}

// MARK: Bytes

private let bytes: [Quantity] = [
  .bytesPerElement("bytes per evaluated Int", who: "LazyList", atMost: 10, evaluated),
  .bytesPerElement("bytes per evaluated Int", who: "`Array`", array),
  .bytesPerElement("bytes per evaluated Int", who: "`AsyncStream`, buffered") { count in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    for element in 0..<count { continuation.yield(element) }
    return (stream, continuation)
  },
]

extension Quantity {
  /// The heap that a value keeps, by the number of its elements.
  static func bytesPerElement<Value: Sendable>(
    _ name: String, who: String, atMost limit: Double? = nil, size: Int = 1_000_000,
    _ make: @escaping @Sendable (Int) async -> Value
  ) -> Quantity {
    Quantity(name, who: who, unit: "bytes", atMost: limit, size: size) { count in
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

// MARK: Allocations

private let allocations: [Quantity] = [
  Quantity("heap blocks per evaluated Int", who: "LazyList", unit: "") { count in
    allocations_start()
    let list = await evaluated(count)
    let blocks = allocations_stop()
    return withExtendedLifetime(list) {
      blocks.made < 0 ? nil : Double(blocks.made - blocks.freed) / Double(count)
    }
  },
  Quantity(
    "allocations per element, first pass", who: "LazyList", unit: "", atMost: 1.0 / 32
  ) { count in
    await allocations(per: count) {
      let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }
      for await element in list { blackHole(element) }
    }
  },
  Quantity("allocations per element, read again", who: "LazyList", unit: "", atMost: 0) { count in
    let list = await evaluated(count)
    return await allocations(per: count) { for await element in list { blackHole(element) } }
  },
  Quantity("allocations per element, first pass", who: "`.async.map`", unit: "") { count in
    await allocations(per: count) {
      for await element in (0..<count).async.map({ $0 &* 3 }) { blackHole(element) }
    }
  },
  Quantity(
    "allocations per element, a step that suspends", who: "LazyList", unit: "", size: 10_000
  ) { count in
    await allocations(per: count) {
      let list: LazyList<Int, Never> = (0..<count).lazyList.map { await yielding($0) }
      for await element in list { blackHole(element) }
    }
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
