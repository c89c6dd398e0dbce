import Tailrace
import TailraceInspection
import Testing

/// A list, and the lines of its diagram after the first.
struct Picture: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let lines: [String]
  let draw: @Sendable () async -> String

  init(_ name: String, _ lines: String..., draw: @escaping @Sendable () async -> String) {
    testDescription = name
    self.lines = lines
    self.draw = draw
  }
}

private struct Offline: Error, CustomStringConvertible {
  let description = "no \"net\";\nreally <none>"
}

extension Picture {
  static let all: [Picture] = values + chains + states + branches + shared

  private static let values: [Picture] = [
    Picture("the empty list", #"  value0(["empty list"])"#) {
      LazyList<Int, Never>.empty.diagram()
    },
    Picture("one value", #"  value0(["1 value"])"#) { LazyList.just(7).diagram() },
    Picture("an array", #"  value0(["3 values"])"#) { [1, 2, 3].lazyList.diagram() },
    Picture("a part of it", #"  value0(["2 values"])"#) { [1, 2, 3].lazyList.tail.diagram() },
    Picture("an array with a name", #"  value0(["few<br/>3 values"])"#) {
      [1, 2, 3].lazyList.named("few").diagram()
    },
    Picture("a failure", #"  value0(["0 values, failed: CancellationError()"])"#) {
      LazyList<Int, any Error>.failing(CancellationError()).diagram()
    },
  ]

  private static let chains: [Picture] = [
    Picture(
      "stages that will be pulled through are one layer",
      #"  subgraph list0["0 evaluated, unresolved"]"#, #"    stage0["map"]"#,
      #"    stage1["filter"]"#, #"    stage2["LazyList"]"#, "  end",
      "  stage1 --> stage0", "  stage2 --> stage1"
    ) { LazyList(1...).filter { $0 > 2 }.map { $0 * 2 }.diagram() },
    Picture(
      "and when they are, too",
      #"  subgraph list0["2 evaluated, unresolved"]"#, #"    stage0["map"]"#,
      #"    stage1["filter"]"#, #"    stage2["LazyList"]"#, "  end",
      "  stage1 --> stage0", "  stage2 --> stage1"
    ) {
      let list = LazyList(1...).filter { $0 > 2 }.map { $0 * 2 }
      _ = await list.element(at: 1)
      return list.diagram()
    },
    Picture(
      "a list that somebody else holds is a layer",
      #"  subgraph list0["0 evaluated, unresolved"]"#, #"    stage0["reductions"]"#, "  end",
      #"  subgraph list1["numbers<br/>1 evaluated, unresolved"]"#, #"    stage1["LazyList"]"#,
      "  end", "  stage1 --> stage0"
    ) {
      let numbers = LazyList(1...).named("numbers")
      _ = await numbers.head()
      return withExtendedLifetime(numbers) { numbers.reductions(0, +).diagram() }
    },
    Picture(
      "a failure that is converted is no stage",
      #"  subgraph list0["0 evaluated, unresolved"]"#, #"    stage0["map"]"#,
      #"    stage1["LazyList(state:retryingFailures:next:)"]"#, "  end", "  stage1 --> stage0"
    ) { LazyList(first: 1, next: { $0 + 1 }).map { try Int("\($0)", format: 10) }.diagram() },
    Picture(
      "asynchronous steps", #"  subgraph list0["later<br/>1 evaluated, unresolved"]"#,
      #"    stage0["compactMap"]"#, #"    stage1["enumerated"]"#, #"    stage2["repeating"]"#,
      "  end", "  stage1 --> stage0", "  stage2 --> stage1"
    ) {
      let list = LazyList.repeating(7).enumerated()
        .compactMap { (pair) async -> Int? in
          await Task.yield(); return pair.offset
        }
        .named("later")
      _ = await list.head()
      return list.diagram()
    },
  ]

  private static let states: [Picture] = [
    Picture("ended", #"  subgraph list0["20 evaluated, ended"]"#, #"    stage0["map"]"#, "  end") {
      let list = LazyList(1...20).map { $0 }
      _ = await list.array()
      return list.diagram()
    },
    Picture(
      "failed",
      #"  subgraph list0["1 evaluated, failed: no #34;net#34;#59;<br/>really #60;none#62;"]"#,
      #"    stage0["map"]"#, "  end"
    ) {
      let list = LazyList(1...3).map { (number) throws -> Int in
        if number == 2 { throw Offline() }
        return number
      }
      _ = try? await list.count()
      return list.diagram()
    },
  ]

  private static let branches: [Picture] = [
    Picture(
      "a zip of three", #"  subgraph list0["0 evaluated, unresolved"]"#, #"    stage0["zip"]"#,
      #"    stage1["map"]"#, #"    stage2["LazyList"]"#, #"    stage4["LazyList"]"#, "  end",
      #"  value3(["2 values"])"#, "  stage1 --> stage0", "  stage2 --> stage1",
      "  value3 --> stage0", "  stage4 --> stage0"
    ) { zip(LazyList(1...).map { $0 }, [1, 2].lazyList, LazyList(3...)).diagram() },
    Picture(
      "a concatenation", #"  subgraph list0["1 evaluated, unresolved"]"#, ##"    stage0["#43;"]"##,
      #"    stage1["LazyList"]"#, "  end", #"  value2(["1 value"])"#, "  stage1 --> stage0",
      "  value2 --> stage0"
    ) {
      let list = LazyList(1...3) + [7]
      _ = await list.head()
      return list.diagram()
    },
    Picture(
      "a prepended element", #"  subgraph list0["0 evaluated, unresolved"]"#,
      #"    stage1["LazyList"]"#, "  end", #"  value0(["1 value"])"#, "  stage1 -->|rest| value0"
    ) { LazyList(1...3).prepending(0).diagram() },
    Picture(
      "the inner list of a flatMap", #"  subgraph list0["1 evaluated, unresolved"]"#,
      #"    stage0["joined"]"#, #"    stage1["map"]"#, #"    stage2["LazyList"]"#,
      #"    stage3["prefix"]"#, #"    stage4["LazyList"]"#, "  end", "  stage1 --> stage0",
      "  stage2 --> stage1", "  stage3 --> stage0", "  stage4 --> stage3"
    ) {
      let list = LazyList(1...3).flatMap { LazyList($0...).prefix(4) }
      _ = await list.head()
      return list.diagram()
    },
    Picture(
      "operators that look ahead", #"  subgraph list0["0 evaluated, unresolved"]"#,
      #"    stage0["prefetching"]"#, #"    stage1["concurrentMap"]"#, #"    stage2["LazyList"]"#,
      "  end", "  stage1 --> stage0", "  stage2 --> stage1"
    ) { LazyList(1...).concurrentMap(limit: 2) { $0 }.prefetching(1).diagram() },
  ]

  private static let shared: [Picture] = [
    Picture(
      "a list that is read twice is drawn once",
      #"  subgraph list0["0 evaluated, unresolved"]"#, #"    stage0["zip"]"#,
      #"    stage1["map"]"#, #"    stage4["filter"]"#, "  end",
      #"  subgraph list1["base<br/>3 evaluated, unresolved"]"#, #"    stage2["map"]"#,
      #"    stage3["LazyList"]"#, "  end", "  stage1 --> stage0", "  stage2 --> stage1",
      "  stage3 --> stage2", "  stage4 --> stage0", "  stage2 --> stage4"
    ) {
      let base = LazyList(1...).map { $0 + 1 }.named("base")
      _ = await base.element(at: 2)
      return zip(base.map { $0 }, base.filter { $0 > 1 }).diagram()
    },
    Picture(
      "and so is one that is read by itself", #"  subgraph list0["4 evaluated, unresolved"]"#,
      #"    stage0["recursive"]"#, "  end", #"  subgraph list1["4 evaluated, unresolved"]"#,
      #"    stage1["definition"]"#, #"    stage2["map"]"#, #"    stage3["zip"]"#, "  end",
      "  stage1 --> stage0", "  stage2 --> stage1", "  stage3 --> stage2", "  stage1 --> stage3"
    ) {
      let fibs = LazyList.recursive { fibs in [0, 1] + zip(fibs, fibs.tail).map { $0 + $1 } }
      _ = await fibs.element(at: 3)
      return fibs.diagram()
    },
  ]
}

extension Int {
  fileprivate init(_ text: String, format: Int) throws {
    guard let number = Int(text, radix: format) else { throw Offline() }
    self = number
  }
}
