import Synchronization
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

/// Steps that wait until they are let go or cancelled, and what has happened to them.
final class Loads: Sendable {
  let begun = Probe<Int>()
  let cancelled = Probe<Int>()
  private let state = Mutex((isFree: false, running: Gate?.none))

  /// From now on no step waits.
  func free() {
    let running = state.withLock { state in
      state.isFree = true
      return state.running
    }
    running?.open()
  }

  func hold() { state.withLock { $0.isFree = false } }

  func load(_ number: Int) async {
    begun.record(number)
    let gate = Gate()
    let isFree = state.withLock { state in
      state.running = gate
      return state.isFree
    }
    if isFree { return await Task.yield() }
    await withTaskCancellationHandler {
      await gate.wait()
    } onCancel: { [cancelled] in
      cancelled.record(number)
      gate.open()
    }
  }

  /// 1, 2, 3 … up to a number. Its steps change their state before they can be cancelled.
  func list(upTo last: Int = 6) -> Row.Source {
    Row.Source(state: 0, cancelsUnobservedSteps: true) { state async throws in
      state += 1
      await self.load(state)
      try Task.checkCancellation()
      return state <= last ? state : nil
    }
  }
}

@Suite("A step that nobody waits for is cancelled, if the list says so", .hangLimit, .inTurn)
struct UnwaitedStepTests {
  /// Begins to read, and is cancelled while the first step runs.
  private func leave(
    _ loads: Loads, _ read: @escaping @Sendable () async throws -> some Sendable
  ) async {
    let before = loads.begun.count
    let task = Task { _ = try await read() }
    await loads.begun.waitForCount(before + 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("the only reader leaves: the step is cancelled, and the next demand takes it again")
  func again() async throws {
    let loads = Loads()
    let list = loads.list(upTo: 2)
    for count in 1...3 {
      await leave(loads) { try await list.head() }
      await loads.cancelled.waitForCount(count)
    }
    #expect(list.description == "[…]")
    loads.free()
    #expect(try await list.array() == [1, 2])
    #expect(loads.begun.values == [1, 1, 1, 1, 2, 3])
    #expect(loads.cancelled.values == [1, 1, 1])
  }

  @Test("so it is when the reader has got elements before it, and comes back for it")
  func behindElements() async throws {
    let loads = Loads()
    loads.free()
    let list = loads.list()
    #expect(try await list.head() == 1)
    loads.hold()
    // Held, so that its cells are filled: the first is new, and the second is missing.
    let marked = list.map { $0 }
    let task = Task { try await marked.array() }
    await loads.begun.waitForCount(2)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await loads.cancelled.waitForCount(1)
    #expect(loads.cancelled.values == [2])
    loads.free()
    #expect(try await marked.array() == [1, 2, 3, 4, 5, 6])
  }

  /// Whole-list calls whose closure stops the call: its task is cancelled there, or it throws.
  private static let stopped: [(String, @Sendable (Row.Source) async throws -> Void)] = [
    ("reduce", { list in _ = try await list.reduce(0) { sum, _ in cancelsItself(sum) } }),
    ("count(where:)", { list in _ = try await list.count { _ in cancelsItself(true) } }),
    ("forEachSpan", { list in try await list.forEachSpan { _ in cancelsItself(()) } }),
    (
      "forEachSpan, throwing",
      { list in try await list.forEachSpan { _ throws in throw CancellationError() } }
    ),
    ("sum", { list in _ = try await list.map { cancelsItself($0) }.sum() }),
  ]

  private static func cancelsItself<Result>(_ result: Result) -> Result {
    withUnsafeCurrentTask { $0?.cancel() }
    return result
  }

  /// Operators whose steps do not read the source in a task of their own, which goes on.
  private static let rows = Row.all.filter { row in
    row.forHead <= 3 && row.ahead == 0
      && !["stored", "reading", "memoized"].contains { row.name.hasPrefix($0) }
  }

  @Test(
    "a call that stops while it reads what it was given leaves nothing running",
    arguments: rows, stopped.map(\.0))
  func stopsInItsClosure(_ row: Row, _ name: String) async throws {
    let call = Self.stopped.first { $0.0 == name }?.1
    let (begun, ended) = (Counter(), Probe<Int>())
    let (reached, hung) = (Gate(), Gate())
    let source = Row.Source(state: 0, cancelsUnobservedSteps: true) { state async throws in
      begun.increment()
      defer { ended.record(state) }
      state += 1
      if state > 3 {
        reached.open()
        await withTaskCancellationHandler {
          await hung.wait()
        } onCancel: {
          hung.open()
        }
        try Task.checkCancellation()
      }
      return state
    }
    #expect(try await source.prefix(3).array() == [1, 2, 3])
    // Held, so that a demand of the call fills cells.
    let list = row.apply(source.map { $0 }, Calls())
    let reader = Task { try await call?(list) }
    // One that has nothing to read before it waits is cancelled from outside.
    let canceller = Task {
      await reached.wait()
      reader.cancel()
    }
    _ = await reader.result
    // In vain, if a step runs on for nobody.
    await ended.waitForCount(begun.value)
    reached.open()
    await canceller.value
    withExtendedLifetime(list) {}
  }

  @Test("a reader of a stage above waits for the next step, too, that the stage's step begins")
  func behindAStage() async throws {
    for _ in 0..<20 {
      let (loads, gate) = (Loads(), Gate())
      loads.free()
      let list = loads.list(upTo: 2).filter { element async in
        if element == 1 { await gate.wait() }
        return element > 1
      }
      let task = Task { try await list.head() }
      await gate.waitForArrivals(1)
      loads.hold()
      // The reader runs the stage's job in its own place; so it must still count as one that waits.
      gate.open()
      await loads.begun.waitForCount(2)
      loads.free()
      #expect(try await task.value == 2)
      #expect(loads.begun.values == [1, 2])
      #expect(loads.cancelled.count == 0)
    }
  }

  @Test("a list made with false, and every other, computes on")
  func otherwise() async throws {
    let loads = Loads()
    let list = Row.Source(state: 0, cancelsUnobservedSteps: false) { state async throws in
      state += 1
      await loads.load(state)
      try Task.checkCancellation()
      return state <= 1 ? state : nil
    }
    await leave(loads) { try await list.head() }
    loads.free()
    #expect(try await list.array() == [1])
    #expect(loads.begun.values == [1, 2])
    #expect(loads.cancelled.count == 0)
  }

  @Test("a cancelled step that gives an element, or the end, or a failure: that is dropped")
  func dropped() async throws {
    for answer in [
      Result<Int?, any Error>.success(100), .success(nil), .failure(Mishap(position: 0)),
    ] {
      let loads = Loads()
      let list = Row.Source(state: 0, cancelsUnobservedSteps: true) { state async throws in
        state += 1
        await loads.load(state)
        if Task.isCancelled { return try answer.get() }
        return state <= 2 ? state : nil
      }
      await leave(loads) { try await list.head() }
      loads.free()
      #expect(try await list.array() == [1, 2])
    }
  }

  @Test("a reader that comes while the cancelled step still ends waits for the next one")
  func lingering() async throws {
    let (begun, cancelled, gate) = (Probe<Int>(), Probe<Int>(), Gate())
    let list = Row.Source(state: 0, cancelsUnobservedSteps: true) { state async throws in
      state += 1
      begun.record(state)
      if begun.count == 1 {
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          cancelled.record(1)
        }
      }
      return state <= 2 ? state : nil
    }
    let task = Task { try await list.head() }
    await begun.waitForCount(1)
    task.cancel()
    await cancelled.waitForCount(1)
    let late = Task { try await list.array() }
    gate.open()
    #expect(try await late.value == [1, 2])
    #expect(begun.values == [1, 1, 2, 3])
  }

  @Test("a reader that is cancelled before it asks leaves nothing running")
  func cancelledBefore() async throws {
    let loads = Loads()
    let list = loads.list(upTo: 1)
    let gate = Gate()
    let task = Task {
      await gate.wait()
      return try await list.head()
    }
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    if loads.begun.count > 0 { await loads.cancelled.waitForCount(loads.begun.count) }
    loads.free()
    #expect(try await list.array() == [1])
  }

  @Test(
    "operators pass it on: their reader leaves, and the source's step is cancelled",
    // A stored list computes in a closure, which is no stage.
    arguments: Row.all.dropLast(Row.stored.count))
  func operators(_ row: Row) async throws {
    let loads = Loads()
    let calls = Calls()
    let list = row.apply(loads.list(), calls)
    for count in 1...2 {
      await leave(loads) { try await list.count() }
      await loads.cancelled.waitForCount(count)
    }
    loads.free()
    #expect(try await list.array() == row.elements)
    #expect(loads.begun.values.prefix(3) == [1, 1, 1])
    let (alone, aloneCalls) = (Loads(), Calls())
    alone.free()
    _ = try await row.apply(alone.list(), aloneCalls).array()
    let called = (calls.probe.values, aloneCalls.probe.values)
    #expect(row.ahead == 0 ? called.0 == called.1 : called.0.sorted() == called.1.sorted())
  }

  @Test("a closure that reads the list is a reader: it goes on unless its own step is cancelled")
  func closures() async throws {
    let (loads, others) = (Loads(), Loads())
    let (list, other) = (loads.list(), others.list())
    let passesOn = Row.Source(state: list, cancelsUnobservedSteps: true) { rest async throws in
      let parts = try await rest.uncons()
      rest = parts?.tail ?? .empty
      return parts?.head
    }
    let computesOn = Row.Source(state: other) { rest async throws in
      let parts = try await rest.uncons()
      rest = parts?.tail ?? .empty
      return parts?.head
    }
    await leave(loads) { try await passesOn.head() }
    await loads.cancelled.waitForCount(1)
    await leave(others) { try await computesOn.head() }
    for each in [loads, others] { each.free() }
    #expect(try await passesOn.array() == [1, 2, 3, 4, 5, 6])
    #expect(try await computesOn.array() == [1, 2, 3, 4, 5, 6])
    #expect(loads.begun.values == [1, 1, 2, 3, 4, 5, 6, 7])
    #expect(others.begun.values == [1, 2, 3, 4, 5, 6, 7])
    #expect(others.cancelled.count == 0)
  }

  @Test("readers in step: when both have left, the step is cancelled")
  func lockstep() async throws {
    let loads = Loads()
    let readers = loads.list().lockstep(readers: 2, maxLead: 3)
    // The one that stays comes first: its step is wanted from its beginning to the end.
    let stays = Task { try await readers[1].array() }
    await loads.begun.waitForCount(1)
    let leaves = Task { try await readers[0].array() }
    leaves.cancel()
    await #expect(throws: CancellationError.self) { try await leaves.value }
    #expect(loads.cancelled.count == 0)
    stays.cancel()
    await #expect(throws: CancellationError.self) { try await stays.value }
    await loads.cancelled.waitForCount(1)
    loads.free()
  }

  @Test("look-ahead goes on for its readers to come")
  func ahead() async throws {
    let loads = Loads()
    let list = [0] + loads.list(upTo: 2)
    let ahead = list.prefetching(2)
    let task = Task { try await ahead.element(at: 1) }
    await loads.begun.waitForCount(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(loads.cancelled.count == 0)
    loads.free()
    #expect(try await ahead.array() == [0, 1, 2])
    #expect(loads.begun.values == [1, 2, 3])
  }

  @Test(
    "through many stages: asynchronous ones, or with plain ones in between",
    arguments: [false, true])
  func stages(_ isMixed: Bool) async throws {
    let loads = Loads()
    let list = (0..<40).reduce(loads.list(upTo: 3)) { list, _ in
      let stage = list.mapAsync { $0 + 1 }
      return isMixed ? stage.filter { $0 > 0 }.map { $0 }.prefix(10) : stage
    }
    await leave(loads) { try await list.array() }
    await loads.cancelled.waitForCount(1)
    loads.free()
    #expect(try await list.array() == [41, 42, 43])
  }

  @Test("a memo")
  func memo() async throws {
    let loads = Loads()
    let memo = Memo<Int, any Error>(cancelsUnobservedSteps: true) {
      await loads.load(7)
      try Task.checkCancellation()
      return 7
    }
    await leave(loads) { try await memo.value() }
    await loads.cancelled.waitForCount(1)
    loads.free()
    #expect(try await memo.value() == 7)
    #expect(loads.begun.count == 2)
  }

  @Test("a list that cannot fail: its questions wait for the answer, its iterations leave")
  func neverFails() async throws {
    let loads = Loads()
    let list = LazyList<Int, Never>(first: 1, cancelsUnobservedSteps: true) { last async in
      await loads.load(last + 1)
      return last < 3 ? last + 1 : nil
    }
    // Its step is wanted from the beginning, whoever leaves.
    let asks = Task { await list.count() }
    await loads.begun.waitForCount(1)
    let iterates = Task {
      for await _ in list {}
    }
    iterates.cancel()
    asks.cancel()
    await iterates.value
    loads.free()
    #expect(await asks.value == 3)
    #expect(loads.cancelled.count == 0)
  }

  @Test("a failed step is told, and tried again if the list says so")
  func retried() async throws {
    let attempts = Probe<Int>()
    let list = Row.Source(
      first: 1, retryingFailures: true, cancelsUnobservedSteps: true
    ) { last async throws in
      attempts.record(last)
      await Task.yield()
      if attempts.count < 3 { throw Mishap(position: last) }
      return last < 3 ? last + 1 : nil
    }
    for _ in 1...2 {
      await #expect(throws: Mishap(position: 1)) { try await list.array() }
    }
    #expect(try await list.array() == [1, 2, 3])
    #expect(attempts.values == [1, 1, 1, 2, 3])
  }

  @Test("a step that needs its own element is an error")
  func cycle() async throws {
    let knot = CycleTests.Knot()
    knot["a"] = LazyList(state: 0, cancelsUnobservedSteps: true) { _ async throws in
      await Task.yield()
      return try await knot["a"].head()
    }
    let list = knot["a"]
    await #expect(throws: CyclicEvaluationError.self) { try await list.head() }
  }

  @Test("a list that is released while its step runs ends it, and keeps nothing")
  func released() async throws {
    let loads = Loads()
    let instances = InstanceCounter()
    var list: Row.Source? = Row.Source(
      state: instances.member(), cancelsUnobservedSteps: true
    ) { state async throws in
      await loads.load(1)
      return withExtendedLifetime(state) { nil }
    }
    let task = Task { [list] in try await list?.mapAsync { $0 }.head() }
    await loads.begun.waitForCount(1)
    list = nil
    task.cancel()
    _ = await task.result
    await loads.cancelled.waitForCount(1)
    await instances.waitUntilEmpty()
  }
}
