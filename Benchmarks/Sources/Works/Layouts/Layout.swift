import Measuring

/// Computes the element at a position; `nil` at the end.
typealias StepFunction = @Sendable (Int) -> Int?

/// A way to lay out and isolate memo cells, as contender of several rows.
struct Layout {
  let firstPass: Contender
  let again: Contender
  let readers: Contender
  let memory: Quantity

  /// Everything that knows the type of the list is in here, so that it is specialised for it: all of
  /// them are of this module, or inlinable, and their iterators know isolation.
  init<List: AsyncSequence & Sendable & SendableMetatype>(
    _ name: String, _ make: @escaping @Sendable (@escaping StepFunction) -> List
  ) where List.Element == Int, List.Failure == Never {
    firstPass = Contender(name) { count in
      let list = make(triples(count))
      let sum = await sum(list)
      return withExtendedLifetime(list) { sum }
    }
    again = Contender(
      name,
      given: { count in
        let list = make(triples(count))
        _ = await sum(list)
        return list
      },
      { list in await sum(list) })
    readers = Contender(
      name,
      given: { count in
        try await verify(name, make)
        return count
      },
      { count in await read(make(triples(count)), by: 8) })
    memory = .bytesPerElement("bytes per evaluated Int", who: name) { count in
      let list = make(triples(count))
      blackHole(await sum(list))
      return list
    }
  }
}

@inline(__always)
private func sum<List: AsyncSequence>(_ list: List) async -> Int
where List.Element == Int, List.Failure == Never {
  var sum = 0
  for await element in list { sum &+= element }
  return sum
}

private func read<List: AsyncSequence & Sendable & SendableMetatype>(
  _ list: List, by readers: Int
) async -> Int
where List.Element == Int, List.Failure == Never {
  await together(readers) { start in
    await start.cross()
    return await sum(list)
  }
}

/// Throws a flaw if a layout computes an element twice, or loses one: its times mean nothing then.
private func verify<List: AsyncSequence & Sendable & SendableMetatype>(
  _ name: String, _ make: @Sendable (@escaping StepFunction) -> List
) async throws where List.Element == Int, List.Failure == Never {
  let count = 2_000
  let calls = Sum()
  let list = make { position in
    calls.add(1)
    return position < count ? 1 : nil
  }
  guard await read(list, by: 8) == count * 8 else { throw Flaw("\(name): readers lost elements") }
  guard calls.value == count + 1 else { throw Flaw("\(name): elements were not computed once") }
}

private func triples(_ count: Int) -> StepFunction { { $0 < count ? $0 &* 3 : nil } }
