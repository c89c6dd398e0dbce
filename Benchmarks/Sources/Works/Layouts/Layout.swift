import Synchronization

/// What computes the element at a position; `nil` at the end.
typealias StepFunction = @Sendable (Int) -> Int?

/// A way to lay out and isolate memo cells, as contender of several works.
struct Layout {
  let firstPass: Contender
  let again: Contender
  let readers: Contender
  let memory: Quantity

  /// Everything that knows the type of the list is in here, so that it is specialised for it.
  init<List: AsyncSequence & Sendable & SendableMetatype>(
    _ name: String, _ make: @escaping @Sendable (@escaping StepFunction) -> List
  ) where List.Element == Int, List.Failure == Never {
    firstPass = Contender(name, sizes: Contender.fewer) { count in
      let list = make(triples(count))
      let sum = await sum(list)
      return withExtendedLifetime(list) { Tally(count, sum) }
    }
    again = Contender(
      name, sizes: Contender.fewer,
      preparing: { count in
        let list = make(triples(count))
        _ = await sum(list)
        return { Tally(count, await sum(list)) }
      })
    readers = Contender(
      name, sizes: Contender.fewer,
      preparing: { count in
        try await verify(name, make)
        return { await read(make(triples(count)), readers: 8) }
      })
    memory = .bytesPerElement("bytes per evaluated Int", who: name) { count in
      let list = make(triples(count))
      blackHole(await sum(list))
      return list
    }
  }
}

/// What computes twice, or loses elements, has no right to be fast.
private func verify<List: AsyncSequence & Sendable & SendableMetatype>(
  _ name: String, _ make: @Sendable (@escaping StepFunction) -> List
) async throws where List.Element == Int, List.Failure == Never {
  let (count, readers) = (2_000, 8)
  let calls = Counter()
  let list = make { position in
    calls.number.add(1, ordering: .relaxed)
    return position < count ? position : nil
  }
  let tally = await read(list, readers: readers)
  guard tally.elements == count * readers else { throw Flaw("\(name): readers lost elements") }
  guard calls.number.load(ordering: .relaxed) == count + 1 else {
    throw Flaw("\(name): elements were not computed once")
  }
}

private final class Counter: Sendable {
  let number = Atomic(0)
}

private func triples(_ count: Int) -> StepFunction { { $0 < count ? $0 &* 3 : nil } }
