import Synchronization
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Cycles: an element that needs itself is an error, never a hang", .inTurn)
struct CycleTests {
  typealias List = LazyList<Int, any Error>

  /// Two lists that can refer to each other.
  final class Knot: Sendable {
    private let lists = Locked<[String: List]>([:])

    subscript(_ name: String) -> List {
      get { lists.withLock { $0[name] ?? .empty } }
      set { lists.withLock { $0[name] = newValue } }
    }
  }

  private func expectCycle(
    _ names: Set<String>, at position: Int? = nil, _ body: () async throws -> Void
  ) async {
    do {
      try await body()
      Issue.record("a cycle must be an error")
    } catch let error as CyclicEvaluationError {
      #expect(Set(error.lists).isSuperset(of: names))
      for name in names { #expect(error.description.contains(name)) }
      if let position { #expect(error.position == position) }
    } catch {
      Issue.record("not a cycle: \(error)")
    }
  }

  @Test("a step that demands its own list")
  func direct() async {
    let knot = Knot()
    knot["self"] = List(state: 0) { state async throws in
      state += 1
      if state == 3 { return try await knot["self"].element(at: 2) }
      return state
    }.named("self")
    let list = knot["self"]
    #expect(try! await list.prefix(2).array() == [1, 2])
    await expectCycle(["self"], at: 2) { _ = try await list.element(at: 2) }
    await expectCycle(["self"], at: 2) { _ = try await list.count() }
    knot["self"] = .empty
  }

  @Test(
    "a list that has failed because it needs itself retains no closures", arguments: [1, 10, 300])
  func closures(_ depth: Int) async {
    let (knot, instances) = (Knot(), InstanceCounter())
    var failed = List.empty
    do {
      let token = instances.member(1)
      var list = List.deferred { knot["list"] }
      for _ in 0..<depth { list = list.map { $0 * token.number } }
      knot["list"] = list
      failed = list
    }
    await expectCycle([]) { _ = try await failed.head() }
    knot["list"] = .empty
    await instances.waitUntilEmpty()
    await expectCycle([]) { _ = try await failed.head() }
  }

  @Test("a definition that is nothing but itself")
  func bare() async {
    await expectCycle([]) { _ = try await List.recursive { $0 }.head() }
    await expectCycle([]) { _ = try await List.recursive { $0.map { $0 + 1 } }.head() }
    await expectCycle(["naturals"]) {
      _ = try await List.recursive { $0.map { $0 + 1 } }.named("naturals").head()
    }
    await expectCycle([]) {
      _ = try await List.recursive { list in
        list.map { (number: Int) async throws in number + 1 }
      }.head()
    }
    await expectCycle([]) { _ = try await List.recursive { [1] + $0.dropFirst(2) }.count() }
    // Making a list of the rest of one that has failed reads nothing.
    let never = LazyList<Int, Never>.recursive { $0.map { $0 } }
    _ = try? await never.throwingCancellation.head()
    _ = (never.tail, never.dropFirst(3))
    await expectCycle([]) { _ = try await List.recursive { list in .deferred { list } }.head() }
    let knot = Knot()
    knot["a"] = .deferred { knot["a"] }
    await expectCycle([]) { _ = try await knot["a"].head() }
    knot["a"] = .empty
  }

  /// Lets two threads go on together, if there are two.
  private final class Meeting: Sendable {
    private let arrived = Atomic(0)

    func arrive() {
      arrived.add(1, ordering: .relaxed)
      for _ in 0..<20_000 where arrived.load(ordering: .relaxed) < 2 {}
    }
  }

  @Test("two lists that become each other at the same time", .hangLimit)
  func simultaneous() async {
    for _ in 0..<Size.usual(2_000, full: 100_000) {
      let (knot, meeting) = (Knot(), Meeting())
      let left = List.deferred {
        meeting.arrive()
        return knot["right"]
      }
      let right = List.deferred {
        meeting.arrive()
        return left
      }
      knot["right"] = right
      async let first: Void = expectCycle([]) { _ = try await left.head() }
      async let second: Void = expectCycle([]) { _ = try await right.head() }
      _ = await (first, second)
      knot["right"] = .empty
    }
  }

  @Test("through a derived list")
  func derived() async {
    let knot = Knot()
    let list = List(state: 0) { state async throws in try await knot["doubled"].head() }
      .named("list")
    knot["doubled"] = list.map { $0 * 2 }.named("doubled")
    await expectCycle(["list", "doubled"], at: 0) { _ = try await list.head() }
    await expectCycle(["list"], at: 0) { _ = try await knot["doubled"].head() }
    knot["doubled"] = .empty
  }

  @Test("through two lists in two tasks that wait for each other")
  func twoTasks() async {
    for _ in 0..<100 {
      let (knot, gate) = (Knot(), Gate())
      for (name, other) in [("left", "right"), ("right", "left")] {
        knot[name] = List(state: 0) { state async throws in
          await gate.wait()
          return try await knot[other].head()
        }.named(name)
      }
      let tasks = ["left", "right"].map { name in Task { try await knot[name].head() } }
      await gate.waitForArrivals(2)
      gate.open()
      for task in tasks {
        await expectCycle(["left", "right"], at: 0) { _ = try await task.value }
      }
      (knot["left"], knot["right"]) = (.empty, .empty)
    }
  }

  @Test("through a memo")
  func memo() async {
    let box = Locked<Memo<Int, any Error>?>(nil)
    let memo = Memo<Int, any Error> { () async throws in
      guard let memo = box.withLock({ $0 }) else { return 0 }
      return try await memo.value()
    }
    box.withLock { $0 = memo }
    await expectCycle([], at: 0) { _ = try await memo.value() }
    box.withLock { $0 = nil }
  }

  @Test("no false alarm for a task that a step starts and does not wait for")
  func unstructured() async throws {
    let (knot, gate, results) = (Knot(), Gate(), Probe<Int>())
    let list = List(state: 0) { state async throws in
      if state == 0 {
        Task {
          gate.open()
          results.record(try await knot["list"].element(at: 1) ?? -1)
        }
        // The other task asks for this list while this step is in flight.
        await gate.wait()
        await Task.yield()
      }
      state += 1
      return state
    }
    knot["list"] = list
    #expect(try await list.head() == 1)
    await results.waitForCount(1)
    #expect(results.values == [2])
    knot["list"] = .empty
  }

  @Test("no false alarm for lists that read each other's earlier elements")
  func productive() async throws {
    let knot = Knot()
    let a = [0] + List.deferred { knot["b"].map { (number: Int) async throws in number + 1 } }
    // Two lists that hold each other are a cycle until one of them ends.
    knot["a"] = a.prefix(20)
    knot["b"] = List.deferred { knot["a"].map { (number: Int) async throws in number * 2 } }
    async let left = knot["a"].array()
    async let right = knot["b"].array()
    #expect(try await left.prefix(5) == [0, 1, 3, 7, 15])
    #expect(try await right.prefix(5) == [0, 2, 6, 14, 30])
    (knot["a"], knot["b"]) = (.empty, .empty)
  }

  /// The place from which a cycle is told is one of these: a list, and a position in it.
  private func expectCycle(
    from places: [String: Int], at location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
  ) async {
    let error = await #expect(throws: CyclicEvaluationError.self, sourceLocation: location) {
      try await body()
    }
    guard let error, let list = error.lists.first else { return }
    #expect(places[list] == error.position, "\(error)", sourceLocation: location)
  }

  @Test("begins with a list that has a name, and with the element that this lacks")
  func named() async {
    await expectCycle(from: ["list": 1]) {
      _ = try await List.recursive { list in
        [0] + list.tail.map { (number: Int) async throws in number }
      }.named("list").element(at: 1)
    }
    await expectCycle(from: ["list": 2]) {
      _ = try await List.recursive { list in
        ([0, 1] + list.dropFirst(2).map { (number: Int) async throws in number }).map { $0 }
      }.named("list").count()
    }
    // Lists that are replaced by each other: nothing is computed on the way.
    for asked in ["left", "right"] {
      let knot = Knot()
      knot["left"] = ([0] + List.deferred { knot["right"] }).named("left")
      knot["right"] = List.deferred { knot["left"].tail }.named("right")
      await expectCycle(from: ["left": 1, "right": 0]) { _ = try await knot[asked].count() }
      (knot["left"], knot["right"]) = (.empty, .empty)
    }
    // The lists in between have no name: where all are evaluated in one go, the error can be told of the
    // first element of the `map`, which is that of "right".
    for asked in ["left", "right"] {
      let knot = Knot()
      knot["left"] = ([0] + List.deferred { knot["right"] }).map { $0 }.named("left")
      knot["right"] = List.deferred { knot["left"].tail.map { $0 } }.named("right")
      await expectCycle(from: ["left": 1, "right": 0, "LazyList<Int>": 0]) {
        _ = try await knot[asked].count()
      }
      (knot["left"], knot["right"]) = (.empty, .empty)
    }
  }

  @Test("of lists without a name begins with the one that has given most elements")
  func unnamed() async {
    await expectCycle(from: ["LazyList<Int>": 1]) {
      _ = try await List.recursive { list in
        [0] + list.tail.map { (number: Int) async throws in number }
      }.element(at: 1)
    }
    await expectCycle(from: ["LazyList<Int>": 2]) {
      _ = try await List.recursive { list in
        [0, 1] + list.dropFirst(2).map { (number: Int) async throws in number }
      }.count()
    }
  }

  @Test("a list that cannot fail traps, with words")
  func trap() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = await LazyList<Int, Never>.recursive { $0.map { $0 + 1 } }.named("itself").head()
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(#"element 0 of a LazyList needs itself: "itself""#), "\(said)")
  }
}
