import Tailrace
import TailraceTesting
import Testing

/// A wait counts as a step's wherever the step runs at the moment, and in its children; a task that the
/// step merely starts is no part of it.
@Suite("Cycles: the step is known on any executor, and in its children", .inTurn)
struct StepIdentityTests {
  typealias List = LazyList<Int, any Error>

  /// How a step comes to demand an element.
  struct Place: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let ask: @Sendable (@escaping @Sendable () async throws -> Int?) async throws -> Int?

    init(
      _ name: String,
      _ ask:
        @escaping @Sendable (@escaping @Sendable () async throws -> Int?) async throws -> Int?
    ) {
      (testDescription, self.ask) = (name, ask)
    }
  }

  private static let scheduler = QueueScheduler(name: "elsewhere")

  static let places: [Place] = [
    Place("itself") { try await $0() },
    Place("on a scheduler") { ask in try await scheduler.run { try await ask() } },
    Place("with another preferred executor") { ask in
      try await withTaskExecutorPreference(scheduler) { try await ask() }
    },
    Place("in a child") { ask in
      async let child = ask()
      return try await child
    },
    Place("in a group") { ask in
      try await withThrowingTaskGroup(of: Int?.self) { group in
        group.addTask { try await ask() }
        return try await group.next() ?? nil
      }
    },
    Place("in a child on a scheduler") { ask in
      try await scheduler.run {
        async let child = ask()
        return try await child
      }
    },
    Place("in a child with another preferred executor") { ask in
      try await withTaskExecutorPreference(scheduler) {
        async let child = ask()
        return try await child
      }
    },
  ]

  /// Lists whose first element demands something before it is there.
  static let operators:
    [(name: String, make: @Sendable (@escaping @Sendable () async throws -> Int?) -> List)] = [
      ("map", { ask in LazyList(0..<3).map { x async throws in try await ask() ?? x } }),
      (
        "unfold",
        { ask in List(state: 0) { n async throws -> Int? in try await ask().map { $0 + n } } }
      ),
      (
        "concurrentMap",
        { ask in LazyList(0..<3).concurrentMap(limit: 2) { x in try await ask() ?? x } }
      ),
      (
        "concurrentMapUnordered",
        { ask in LazyList(0..<3).concurrentMapUnordered(limit: 2) { x in try await ask() ?? x } }
      ),
      (
        "concurrentMapUnordered of one",
        { ask in LazyList(0..<1).concurrentMapUnordered(limit: 2) { x in try await ask() ?? x } }
      ),
      (
        "concurrentMapUnordered of what is pulled beside it",
        { ask in
          LazyList(0..<3).map { x async in
            await Task.yield()
            return x
          }.concurrentMapUnordered(limit: 2) { x in try await ask() ?? x }
        }
      ),
    ]

  // Of results in any order it is not found.
  @Test(
    "an element that needs itself is an error", .hangLimit,
    arguments: operators.indices.filter { !operators[$0].name.contains("Unordered") }, places)
  func own(_ number: Int, _ place: Place) async {
    let knot = CycleTests.Knot()
    knot["list"] = Self.operators[number].make {
      try await place.ask { try await knot["list"].head() }
    }
    let list = knot["list"].named("knot")
    await #expect(throws: CyclicEvaluationError.self) { try await list.head() }
    knot["list"] = .empty
  }

  @Test("a task that a step starts may wait for it", .hangLimit, arguments: operators.indices)
  func started(_ number: Int) async throws {
    let knot = CycleTests.Knot()
    let seen = Probe<Int>()
    knot["list"] = Self.operators[number].make {
      Task { seen.record(try await knot["list"].head() ?? -1) }
      await Task.yield()
      return 7
    }
    let list = knot["list"]
    #expect(try await list.head() == 7)
    await seen.waitForCount(1)
    #expect(seen.values.first == 7)
    knot["list"] = .empty
  }

  @Test("of several unordered closures one may wait for what another brings", .hangLimit)
  func alternatives() async throws {
    let knot = CycleTests.Knot()
    let gate = Gate()
    knot["list"] = LazyList(0..<2).concurrentMapUnordered(limit: 2) { x in
      if x == 1 {
        await gate.wait()
        return 10
      }
      return try await knot["list"].head() ?? -1
    }
    let list = knot["list"]
    async let all = list.array()
    await gate.waitForArrivals(1)
    gate.open()
    #expect(try await all == [10, 10])
    knot["list"] = .empty
  }
}

/// A step that nobody waits for any more is cancelled, also below lists with tasks of their own.
@Suite("Cancellation and release below asynchronous closures", .inTurn)
struct BelowTests {
  typealias List = LazyList<Int, any Error>

  static let operators: [(name: String, derive: @Sendable (List) -> List)] = [
    ("map", { $0.map { x async in x } }),
    ("map, throwing", { $0.map { x async throws in x } }),
    ("map, retrying", { $0.map(retryingFailures: true) { x async throws in x } }),
    ("filter", { $0.filter { _ async in true } }),
    ("compactMap", { $0.compactMap { x async in x } }),
    ("flatMap", { $0.flatMap { x async in List([x]) } }),
    ("reductions", { $0.reductions(0) { a, b async in a + b } }),
    ("prefix(while:)", { $0.prefix { _ async in true } }),
    ("drop(while:)", { $0.drop { _ async in false } }),
    ("onEach", { $0.onEach { _ async in } }),
    ("concurrentMap, one at a time", { $0.concurrentMap(limit: 1) { x in x } }),
    ("two of them", { $0.map { x async in x }.filter { _ async in true } }),
    ("behind a look-ahead", { $0.map { x async in x }.prefetching(2) }),
  ]

  @Test(
    "the step in flight is cancelled when nobody is left", .hangLimit,
    arguments: operators.indices)
  func cancelled(_ number: Int) async {
    let (begun, ended) = (Probe<Int>(), Probe<Bool>())
    let gate = Gate()
    var list: List? = Self.operators[number].derive(
      List(state: 0) { n async throws in
        begun.record(n)
        let wasCancelled = await withTaskCancellationHandler {
          await gate.wait()
          return Task.isCancelled
        } onCancel: {
          gate.open()
        }
        ended.record(wasCancelled)
        n += 1
        return n
      })
    let reader = Task { [list] in _ = try? await list?.head() }
    await begun.waitForCount(1)
    reader.cancel()
    await reader.value
    list = nil
    await ended.waitForCount(1)
    #expect(ended.values == [true])
  }

  @Test("a list that is first demanded by a closure beside others is released", .hangLimit)
  func released() async {
    let instances = InstanceCounter()
    let inner = LazyList<Int, Never>(state: 0) { [member = instances.member()] n async -> Int? in
      withExtendedLifetime(member) { n += 1 }
      await Task.yield()
      return n
    }
    func read(_ list: consuming LazyList<Int, Never>) async {
      let list = list
      _ = await LazyList(0..<10).concurrentMap(limit: 3) { x in await list.element(at: x) ?? -1 }
        .array()
    }
    await read(inner)
    _ = consume inner
    await instances.waitUntilEmpty()
  }
}
