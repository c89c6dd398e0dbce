import Tailrace
import TailraceTesting
import Testing

/// Structured children of a step count as the step: it cannot end before they do.
@Suite("Cycles through the children of steps", .inTurn)
struct ChildCycleTests {
  typealias List = LazyList<Int, any Error>

  /// How a step asks for an element of another list.
  struct Asking: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let ask: @Sendable (List, Int) async throws -> Int?

    init(_ name: String, _ ask: @escaping @Sendable (List, Int) async throws -> Int?) {
      testDescription = name
      self.ask = ask
    }

    static let all = [
      Asking("directly") { try await $0.element(at: $1) },
      Asking("async let") { list, position in
        async let element = list.element(at: position)
        return try await element
      },
      Asking("a task group") { list, position in
        try await withThrowingTaskGroup { group in
          group.addTask { try await list.element(at: position) }
          return try await group.next().flatMap { $0 }
        }
      },
      Asking("a child's child") { list, position in
        try await withThrowingTaskGroup { group in
          group.addTask { () async throws -> Int? in
            async let element = list.element(at: position)
            await Task.yield()
            return try await element
          }
          return try await group.next().flatMap { $0 }
        }
      },
      Asking("one of ten children") { list, position in
        try await withThrowingTaskGroup { group in
          for child in 0..<10 {
            group.addTask {
              await Task.yield()
              return child == 7 ? try await list.element(at: position) : nil
            }
          }
          return try await group.reduce(into: Int?.none) { found, next in
            if let next { found = next }
          }
        }
      },
      Asking("through a layer") { try await $0.dropFirst($1).map { $0 }.head() },
      Asking("through a layer, in a child") { list, position in
        async let element = list.dropFirst(position).map { $0 }.filter { _ in true }.head()
        return try await element
      },
    ]
  }

  private func expectCycle(
    _ names: Set<String>, at position: Int? = nil, _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      Issue.record("a cycle must be an error")
    } catch let error as CyclicEvaluationError {
      #expect(Set(error.lists).isSuperset(of: names), "\(error)")
      if let position { #expect(error.position == position, "\(error)") }
    } catch {
      Issue.record("not a cycle: \(error)")
    }
  }

  @Test("a step that needs its own element", .timeLimit(.minutes(15)), arguments: Asking.all)
  func own(_ asking: Asking) async throws {
    for _ in 0..<20 {
      let knot = CycleTests.Knot()
      knot["list"] = Steps(3) { position in
        position < 2 ? position : try await asking.ask(knot["list"], 2) ?? -1
      }.memoized().named("list")
      let list = knot["list"]
      #expect(try await list.prefix(2).array() == [0, 1])
      await expectCycle(["list"], at: 2) { _ = try await list.element(at: 2) }
      knot["list"] = .empty
    }
  }

  @Test(
    "a step that reads what is there of its own list is no cycle", .timeLimit(.minutes(15)),
    arguments: Asking.all)
  func earlier(_ asking: Asking) async throws {
    let knot = CycleTests.Knot()
    knot["list"] = Steps(50) { position in
      position == 0 ? 1 : try await asking.ask(knot["list"], position - 1).map { $0 + 1 } ?? -1
    }.memoized()
    let list = knot["list"]
    #expect(try await list.array() == Array(1...50))
    knot["list"] = .empty
  }

  @Test(
    "lists in tasks of their own that need each other", .timeLimit(.minutes(15)),
    arguments: Asking.all, [2, 3])
  func several(_ asking: Asking, _ count: Int) async {
    for _ in 0..<20 {
      let (knot, gate) = (CycleTests.Knot(), Gate())
      let names = (0..<count).map { "list \($0)" }
      for (number, name) in names.enumerated() {
        let next = names[(number + 1) % count]
        knot[name] = Steps(1) { _ in
          await gate.wait()
          return try await asking.ask(knot[next], 0) ?? -1
        }.memoized().named(name)
      }
      let readers = names.map { name in Task { try await knot[name].head() } }
      await gate.waitForArrivals(count)
      gate.open()
      for reader in readers {
        await expectCycle(Set(names), at: 0) { _ = try await reader.value }
      }
      for name in names { knot[name] = .empty }
    }
  }

  @Test(
    "a task that a step only starts may wait for the step", .timeLimit(.minutes(15)),
    arguments: Asking.all)
  func unstructured(_ asking: Asking) async throws {
    let (knot, started, found) = (CycleTests.Knot(), Gate(), Probe<Int?>())
    knot["list"] = Steps(2) { position in
      if position == 0 {
        Task {
          started.open()
          found.record(try await asking.ask(knot["list"], 1))
        }
        await started.wait()
        await Task.yield()
      }
      return position + 1
    }.memoized()
    #expect(try await knot["list"].head() == 1)
    await found.waitForCount(1)
    #expect(found.values == [2])
    knot["list"] = .empty
  }

  struct Ahead: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let apply: @Sendable (List) -> List

    static let all = [
      Ahead(testDescription: "prefetching(1)") { $0.prefetching(1) },
      Ahead(testDescription: "prefetching(3)") { $0.prefetching(3) },
      Ahead(testDescription: "concurrentMap(limit: 2)") { $0.concurrentMap(limit: 2) { $0 } },
      Ahead(testDescription: "concurrentMap(limit: 4)") {
        $0.concurrentMap(limit: 4) {
          await Task.yield()
          return $0
        }
      },
      Ahead(testDescription: "both") { $0.prefetching(2).concurrentMap(limit: 2) { $0 } },
    ]
  }

  @Test("through look-ahead", .timeLimit(.minutes(15)), arguments: Ahead.all)
  func ahead(_ ahead: Ahead) async {
    for _ in 0..<50 {
      let list = List.recursive { ahead.apply($0).map { $0 + 1 } }
      await expectCycle([]) { _ = try await list.head() }
      let skipping = List.recursive { [1] + ahead.apply($0).dropFirst(2) }
      await expectCycle([]) { _ = try await skipping.element(at: 1) }
    }
  }

  @Test(
    "a step that asks for what looks ahead of it", .timeLimit(.minutes(15)), arguments: Ahead.all)
  func stepAhead(_ ahead: Ahead) async throws {
    for _ in 0..<20 {
      let knot = CycleTests.Knot()
      let source = Steps<Int, any Error>(5) { position in
        position < 3 ? position : try await knot["ahead"].element(at: 3) ?? -1
      }.memoized().named("source")
      knot["ahead"] = ahead.apply(source).named("ahead")
      #expect(try await knot["ahead"].prefix(3).array() == [0, 1, 2])
      await expectCycle([]) { _ = try await source.element(at: 3) }
      await expectCycle([]) { _ = try await knot["ahead"].element(at: 3) }
      knot["ahead"] = .empty
    }
  }
}
