import Tailrace
import TailraceTesting
import Testing

/// Each closure of `concurrentMap` runs in a task of its own, which waits like a list's task.
@Suite("Cycles through closures that run at the same time", .inTurn)
struct ConcurrentCycleTests {
  typealias List = LazyList<Int, any Error>
  typealias Asking = ChildCycleTests.Asking

  static let askings = Asking.all.filter {
    ["directly", "through a layer"].contains($0.testDescription)
  }

  private func isCycle(_ body: () async throws -> Int?) async -> Bool {
    do {
      let element = try await body()
      Issue.record("an element that needs itself was \(element.map(String.init) ?? "nil")")
      return false
    } catch {
      return error is CyclicEvaluationError
    }
  }

  @Test(
    "a closure that needs its own result", .timeLimit(.minutes(15)), arguments: askings,
    [(2, 0), (2, 1), (8, 0), (8, 5), (8, 19)])
  func own(_ asking: Asking, _ place: (limit: Int, position: Int)) async throws {
    for isRetried in [false, true] {
      let knot = CycleTests.Knot()
      knot["list"] = LazyList(0..<20).concurrentMap(
        limit: place.limit, retryingFailures: isRetried
      ) { position in
        await Task.yield()
        guard position == place.position else { return position }
        return try await asking.ask(knot["list"], position) ?? -1
      }
      let list = knot["list"]
      #expect(try await list.prefix(place.position).array() == Array(0..<place.position))
      #expect(await isCycle { try await list.element(at: place.position) })
      knot["list"] = .empty
    }
  }

  @Test(
    "a closure that needs the result of one that runs beside it is no cycle",
    .timeLimit(.minutes(15)), arguments: askings, [2, 3, 8])
  func earlier(_ asking: Asking, limit: Int) async throws {
    let knot = CycleTests.Knot()
    knot["list"] = LazyList(0..<200).concurrentMap(limit: limit) { position in
      if position % 3 == 0 { await Task.yield() }
      return position == 0
        ? 1 : try await asking.ask(knot["list"], position - 1).map { $0 + 1 } ?? 0
    }
    let list = knot["list"]
    async let second = list.array()
    #expect(try await list.array() == Array(1...200))
    #expect(try await second == Array(1...200))
    knot["list"] = .empty
  }

  @Test(
    "two that run beside each other and need each other", .timeLimit(.minutes(15)),
    arguments: askings)
  func beside(_ asking: Asking) async throws {
    for _ in 0..<20 {
      let knot = CycleTests.Knot()
      knot["list"] = LazyList(0..<4).concurrentMap(limit: 4) { position in
        await Task.yield()
        return try await asking.ask(knot["list"], 3 - position) ?? -1
      }
      let list = knot["list"]
      #expect(await isCycle { try await list.head() })
      knot["list"] = .empty
    }
  }

  @Test(
    "through other lists, of any kind", .timeLimit(.minutes(15)), arguments: askings,
    ["closures", "steps", "plain", "ahead"])
  func others(_ asking: Asking, between: String) async throws {
    for _ in 0..<20 {
      let knot = CycleTests.Knot()
      knot["left"] = LazyList(0..<3).concurrentMap(limit: 2) { position in
        try await asking.ask(knot["right"], position) ?? -1
      }
      knot["right"] =
        switch between {
        case "closures":
          LazyList(0..<3).concurrentMap(limit: 3) { try await asking.ask(knot["left"], $0) ?? -1 }
        case "steps":
          LazyList(0..<3).map { (position) async throws in
            await Task.yield()
            return try await asking.ask(knot["left"], position) ?? -1
          }
        case "ahead": knot["left"].map { $0 + 1 }.prefetching(1)
        default: knot["left"].map { $0 + 1 }
        }
      async let right = isCycle { try await knot["right"].head() }
      #expect(await isCycle { try await knot["left"].head() })
      #expect(await right)
      knot["left"] = .empty
      knot["right"] = .empty
    }
  }

  @Test(
    "a task that a closure starts, and does not await, may wait for the closure's element",
    .timeLimit(.minutes(15)), arguments: askings)
  func unstructured(_ asking: Asking) async throws {
    for _ in 0..<20 {
      let (knot, started, found) = (CycleTests.Knot(), Gate(), Probe<Int?>())
      knot["list"] = LazyList(0..<2).concurrentMap(limit: 2) { (position) async throws in
        if position == 0 {
          Task {
            started.open()
            found.record(try await asking.ask(knot["list"], 0))
          }
          await started.wait()
          for _ in 0..<20 { await Task.yield() }
        }
        return position + 1
      }
      #expect(try await knot["list"].head() == 1)
      await found.waitForCount(1)
      #expect(found.values == [1])
      knot["list"] = .empty
    }
  }
}
