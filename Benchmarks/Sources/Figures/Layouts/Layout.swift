import Synchronization
import Tailrace

/// What computes the element at a position; `nil` at the end.
typealias StepFunction = @Sendable (Int) -> Int?

/// A way to lay out and isolate memo cells.
///
/// Those that lost hold `Int`s and are compiled with what measures them: nothing that they lose is
/// lost to generics or to a module's border.
struct Layout<List: AsyncSequence & Sendable>: Sendable
where List.Element == Int, List.Failure == Never {
  let name: String
  /// How many elements the measurements of time take.
  var count = 100_000
  let make: @Sendable (@escaping StepFunction) -> List
}

private let tailrace = Layout(name: "Tailrace: segments, one evaluator, claimed inline") { step in
  LazyList<Int, Never>(state: 0) { position in
    defer { position += 1 }
    return step(position)
  }
}
private let perList = Layout(name: "segments, one default actor per list") { ActorPerList($0) }
private let perSegment = Layout(name: "segments, each a default actor") { ActorPerSegment($0) }
private let perCell = Layout(name: "cells, each a default actor") { ActorPerCell($0) }
private let straightforward = Layout(
  name: "an actor around an array, a task per step", count: 10_000
) { TaskPerStep($0) }

// MARK: Time

/// The comparison as lines of a Markdown table, given the bytes per element of each layout.
func layoutLines(_ bytes: [Double]) async -> [String] {
  let layouts = [
    await verified(tailrace), await verified(perList), await verified(perSegment),
    await verified(perCell), await verified(straightforward),
  ]
  let firstPass = await race(layouts.map(\.firstPass), rounds: 9)
  let again = await race(layouts.map(\.again), rounds: 9)
  let readers = await race(layouts.map(\.readers), rounds: 25)
  return layouts.indices.map { index in
    let cells = [
      layouts[index].firstPass.name, firstPass[index].cell, again[index].cell,
      readers[index].span, decimal(bytes[index]),
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }
}

private typealias Contestants = (firstPass: Contestant, again: Contestant, readers: Contestant)

private func verified<List>(_ layout: Layout<List>) async -> Contestants {
  await verify(layout)
  let (name, count) = (layout.name, layout.count)
  let evaluated = layout.make(triples(count))
  return (
    Contestant(name: name) {
      let list = layout.make(triples(count))
      let count = await readAlone(list)
      return withExtendedLifetime(list) { count }
    },
    Contestant(name: name) { await readAlone(evaluated) },
    Contestant(name: name) { await read(layout.make(triples(count)), readers: 8) }
  )
}

private func triples(_ count: Int) -> StepFunction { { $0 < count ? $0 &* 3 : nil } }

private func readAlone<S: AsyncSequence>(_ list: S) async -> Int
where S.Element == Int, S.Failure == Never {
  var (sum, count) = (0, 0)
  for await element in list {
    sum &+= element
    count += 1
  }
  blackHole(sum)
  return count
}

/// A layout that computes twice, or loses elements, has no right to be fast.
private func verify<List>(_ layout: Layout<List>) async {
  let (count, readers) = (20_000, 8)
  let calls = Counter()
  let list = layout.make { position in
    calls.value.add(1, ordering: .relaxed)
    return position < count ? position &* 3 : nil
  }
  let read = await read(list, readers: readers) + (await readAlone(list))
  precondition(read == count * (readers + 1), "\(layout.name): readers lost elements")
  precondition(
    calls.value.load(ordering: .relaxed) == count + 1, "\(layout.name): not computed once")
}

private final class Counter: Sendable {
  let value = Atomic(0)
}

// MARK: Memory

/// Bytes per element, in the order of `layoutLines(_:)`.
func layoutMemory() async -> [Double] {
  // The first round makes what the process makes once. Each list stays alive until all are measured,
  // so that none is built from what another has freed.
  _ = await layoutMemory(100)
  return await layoutMemory(1_000_000)
}

private func layoutMemory(_ count: Int) async -> [Double] {
  let (a, aList) = await bytes(of: tailrace, count)
  let (b, bList) = await bytes(of: perList, count)
  let (c, cList) = await bytes(of: perSegment, count)
  let (d, dList) = await bytes(of: perCell, count)
  let (e, eList) = await bytes(of: straightforward, count)
  return withExtendedLifetime((aList, bList, cList, dList, eList)) { [a, b, c, d, e] }
}

private func bytes<List>(of layout: Layout<List>, _ count: Int) async -> (Double, List) {
  let before = Memory.resident.bytes ?? .nan
  let list = layout.make(triples(count))
  _ = await readAlone(list)
  return (((Memory.resident.bytes ?? .nan) - before) / Double(count), list)
}
