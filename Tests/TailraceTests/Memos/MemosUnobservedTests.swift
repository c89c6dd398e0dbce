import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("Memos that cancel what nobody waits for", .hangLimit, .inTurn)
struct MemosUnobservedTests {
  /// Computations that a test holds. Each gives its number, and ignores its cancellation, or fails.
  struct Loads {
    let begun = Probe<Int>()
    let cancelled = Probe<Int>()
    let ended = Probe<Int>()
    let gates = [Gate(), Gate(), Gate()]
    private let count = Counter()

    func load(_ key: Int) async -> Int { await load([key]) }

    func load(_ keys: [Int]) async -> Int {
      for key in keys { begun.record(key) }
      let number = count.increment() - 1
      await withTaskCancellationHandler {
        await gates[number].wait()
      } onCancel: {
        cancelled.record(number)
      }
      ended.record(number)
      return number
    }

    func check(_ key: Int) async throws -> Int {
      let number = await load(key)
      try Task.checkCancellation()
      return number
    }
  }

  typealias Table = Memos<Int, Int, any Error>

  private func invariant<Failure>(of memos: Memos<Int, Int, Failure>) -> String? {
    memos.store.table.withLock { $0.brokenInvariant }
  }

  /// A task that waits for a key, once it waits.
  private func waiting(for key: Int, of memos: Table) async -> Task<Int, any Error> {
    let asked = memos.statistics.hits + memos.statistics.loads
    let task = Task { try await memos.value(for: key) }
    while memos.statistics.hits + memos.statistics.loads == asked { await Task.yield() }
    return task
  }

  private func leave(_ task: Task<Int, any Error>) async {
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test(
    "the last caller takes the computation with it; the next one begins anew, while that runs out")
  func lastCaller() async throws {
    let loads = Loads()
    let memos = Table(retryingFailures: false, cancelsUnobservedSteps: true) {
      await loads.load($0)
    }
    let first = await waiting(for: 1, of: memos)
    await loads.begun.waitForCount(1)
    let second = await waiting(for: 1, of: memos)
    await leave(first)
    #expect(loads.cancelled.count == 0)
    await leave(second)
    await loads.cancelled.waitForCount(1)
    #expect(memos.count == 0 && memos.peek(1) == nil && invariant(of: memos) == nil)
    let third = await waiting(for: 1, of: memos)
    await loads.begun.waitForCount(2)
    loads.gates[0].open()
    await loads.ended.waitForCount(1)
    #expect(memos.peek(1) == nil)
    loads.gates[1].open()
    #expect(try await third.value == 1)
    #expect(memos.peek(1) == 1 && loads.begun.count == 2 && memos.statistics.failures == 0)
  }

  @Test("the failure of a cancelled computation is neither remembered, nor counted, nor reported")
  func failure() async throws {
    let (loads, events) = (Loads(), Probe<String>())
    let memos = Table(
      retryingFailures: false, cancelsUnobservedSteps: true, reporting: { events.record("\($0)") }
    ) { key in
      let number = await loads.load(key)
      if number == 0 { throw Refused() }
      return number
    }
    let caller = await waiting(for: 1, of: memos)
    await loads.begun.waitForCount(1)
    await leave(caller)
    await loads.cancelled.waitForCount(1)
    loads.gates[0].open()
    await loads.ended.waitForCount(1)
    loads.gates[1].open()
    #expect(try await memos.value(for: 1) == 1)
    #expect(memos.statistics.failures == 0 && memos.statistics.loads == 2)
    #expect(events.values == ["load(1)", "load(1)"])
  }

  @Test("what was asked for in the background goes on, also if a caller came and left")
  func background() async throws {
    let loads = Loads()
    let memos = Table(cancelsUnobservedSteps: true) { try await loads.check($0) }
    memos.refresh(1)
    await loads.begun.waitForCount(1)
    await leave(waiting(for: 1, of: memos))
    #expect(loads.cancelled.count == 0)
    loads.gates[0].open()
    #expect(try await memos.value(for: 1) == 0)
    // A refreshment of a computation that callers wait for keeps it, too.
    let caller = await waiting(for: 2, of: memos)
    await loads.begun.waitForCount(2)
    memos.refresh(2)
    await leave(caller)
    loads.gates[1].open()
    #expect(try await memos.value(for: 2) == 1)
    #expect(loads.begun.values == [1, 2] && loads.cancelled.count == 0)
  }

  @Test("a value that is due is computed on for nobody")
  func due() async throws {
    let (loads, scheduler) = (Loads(), VirtualScheduler())
    let memos = Table(
      refreshingAfter: .seconds(1), cancelsUnobservedSteps: true, clock: scheduler.clock
    ) { try await loads.check($0) }
    loads.gates[0].open()
    #expect(try await memos.value(for: 1) == 0)
    scheduler.advance(by: .seconds(1))
    #expect(try await memos.value(for: 1) == 0)
    await loads.begun.waitForCount(2)
    // The one in the background, and this one.
    let caller = Task { try await memos.refreshedValue(for: 1) }
    while memos.store.table.withLock({ $0.base.observers?[0] }) != 2 { await Task.yield() }
    await leave(caller)
    loads.gates[1].open()
    while memos.peek(1) != 1 { await Task.yield() }
    #expect(loads.cancelled.count == 0)
  }

  @Test("a caller that waits for a new value, and leaves, leaves the old one")
  func renewal() async throws {
    let loads = Loads()
    let memos = Table(capacity: .count(1), cancelsUnobservedSteps: true) {
      try await loads.check($0)
    }
    loads.gates[0].open()
    #expect(try await memos.value(for: 1) == 0)
    let caller = Task { try await memos.refreshedValue(for: 1) }
    await loads.begun.waitForCount(2)
    await leave(caller)
    await loads.cancelled.waitForCount(1)
    #expect(memos.peek(1) == 0 && memos.count == 1 && invariant(of: memos) == nil)
    loads.gates[1].open()
    await loads.ended.waitForCount(2)
    #expect(try await memos.value(for: 1) == 0)
    #expect(memos.statistics.failures == 0)
  }

  @Test("an expired value that stands in for failures is still there when the caller has left")
  func standIn() async throws {
    let (loads, scheduler) = (Loads(), VirtualScheduler())
    let memos = Table(
      capacity: .count(1), lifetime: .seconds(1), servingStaleFor: .seconds(5),
      cancelsUnobservedSteps: true, clock: scheduler.clock
    ) { key in
      let number = await loads.load(key)
      if number > 0 { throw Refused() }
      return number
    }
    loads.gates[0].open()
    #expect(try await memos.value(for: 1) == 0)
    scheduler.advance(by: .seconds(2))
    let caller = await waiting(for: 1, of: memos)
    await loads.begun.waitForCount(2)
    await leave(caller)
    await loads.cancelled.waitForCount(1)
    #expect(memos.peek(1) == nil && invariant(of: memos) == nil)
    for gate in loads.gates { gate.open() }
    await loads.ended.waitForCount(2)
    #expect(memos.statistics.servedStale == 0)
    // The next computation fails, and the value is given.
    #expect(try await memos.value(for: 1) == 0)
    #expect(memos.statistics.servedStale == 1 && memos.statistics.failures == 1)
  }

  @Test("memos that cannot fail: a caller leaves through throwingCancellation only")
  func infallible() async throws {
    let loads = Loads()
    let memos = Memos(cancelsUnobservedSteps: true) { (key: Int) async in await loads.load(key) }
    let patient = Task { await memos.value(for: 1) }
    await loads.begun.waitForCount(1)
    patient.cancel()
    let impatient = Task { try await memos.throwingCancellation.value(for: 2) }
    await loads.begun.waitForCount(2)
    await leave(impatient)
    await loads.cancelled.waitForCount(1)
    for gate in loads.gates { gate.open() }
    #expect(await patient.value == 0)
    await loads.ended.waitForCount(2)
    #expect(memos.peek(1) == 0 && memos.peek(2) == nil)
  }

  @Test("a caller of several keys waits for all of them, and leaves all of them")
  func several() async throws {
    let (begun, cancelled, gate) = (Probe<Int>(), Probe<Int>(), Gate())
    let memos = Table(retryingFailures: false, cancelsUnobservedSteps: true) { key in
      if key == 0 { throw Refused() }
      begun.record(key)
      await withTaskCancellationHandler {
        await gate.wait()
      } onCancel: {
        cancelled.record(key)
      }
      return key
    }
    let caller = Task { try await memos.values(for: [1, 2, 1, 3]).count }
    await begun.waitForCount(3)
    let other = await waiting(for: 2, of: memos)
    await leave(caller)
    await cancelled.waitForCount(2)
    #expect(cancelled.values.sorted() == [1, 3] && invariant(of: memos) == nil)
    // One that fails ends the wait for the others, also if it has failed before.
    for _ in 0..<2 {
      await #expect(throws: Refused.self) { try await memos.values(for: [0, 4, 0]) }
      await #expect(throws: Refused.self) { try await memos.values(for: [4, 0]) }
    }
    #expect(invariant(of: memos) == nil)
    gate.open()
    #expect(try await other.value == 2)
    #expect(memos.store.table.withLock { $0.base.slots.index.count } == 2)
  }

  @Test(
    "a computation that is cancelled leaves the keys that it waits for, and a key that needs itself"
  )
  func chain() async throws {
    let loads = Loads()
    let holder = Locked<Table?>(nil)
    let memos = Table(cancelsUnobservedSteps: true) { key in
      guard key > 0, let memos = holder.withLock({ $0 }) else { return await loads.load(key) }
      return try await memos.value(for: key == 3 ? 3 : key - 1)
    }
    holder.withLock { $0 = memos }
    await #expect(throws: CyclicEvaluationError.self) { try await memos.value(for: 3) }
    let caller = await waiting(for: 2, of: memos)
    await loads.begun.waitForCount(1)
    await leave(caller)
    await loads.cancelled.waitForCount(1)
    for gate in loads.gates { gate.open() }
    await loads.ended.waitForCount(1)
    #expect(
      memos.store.table.withLock { $0.base.slots.index.count == 0 } && invariant(of: memos) == nil)
    #expect(try await memos.value(for: 2) == 1)
    #expect(memos.statistics.failures == 1)
    holder.withLock { $0 = nil }
  }

  @Test("a batch is cancelled when no key of it has a caller left, and its keys are sent again")
  func batch() async throws {
    let loads = Loads()
    let memos = Table(batchSize: 10, cancelsUnobservedSteps: true) { keys in
      let number = await loads.load(keys.sorted())
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, number) })
    }
    let both = Task { try await memos.values(for: [1, 2]).count }
    await loads.begun.waitForCount(2)
    let second = await waiting(for: 2, of: memos)
    await leave(both)
    #expect(loads.cancelled.count == 0)
    // The key that nobody waits for is sent again.
    await leave(second)
    await loads.cancelled.waitForCount(1)
    let again = await waiting(for: 1, of: memos)
    await loads.begun.waitForCount(3)
    loads.gates[0].open()
    await loads.ended.waitForCount(1)
    for gate in loads.gates { gate.open() }
    _ = try await again.value
    #expect(memos.peek(1) != nil && memos.peek(2) == nil && memos.statistics.failures == 0)
    #expect(loads.begun.values == [1, 2, 1] && invariant(of: memos) == nil)
  }

  @Test("a batch whose callers have left while it was collected is not sent")
  func collected() {
    let (scheduler, batches) = (VirtualScheduler(), Probe<[Int]>())
    let memos = Table(batchSize: 10, cancelsUnobservedSteps: true, clock: scheduler.clock) { keys in
      batches.record(keys.sorted())
      try await scheduler.clock.sleep(for: .milliseconds(100))
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) })
    }
    let answers = Probe<Int>()
    func ask(_ key: Int) -> Task<Void, Never> {
      defer { scheduler.advance(by: .zero) }
      return scheduler.schedule { () async in
        answers.record((try? await memos.value(for: key)) ?? -1)
      }
    }
    _ = ask(0)
    for task in [ask(1), ask(2)] {
      task.cancel()
      scheduler.advance(by: .zero)
    }
    #expect(answers.values == [-1, -1])
    scheduler.advance(by: .milliseconds(100))
    _ = ask(3)
    scheduler.run()
    #expect(answers.values == [-1, -1, 0, 3])
    #expect(batches.values == [[0], [3]] && memos.statistics.failures == 0)
  }

  @Test("a key of a batch that goes on for others is dropped when its own caller has left")
  func keyOfBatch() async throws {
    let loads = Loads()
    let memos = Table(batchSize: 10, cancelsUnobservedSteps: true) { keys in
      let number = await loads.load(keys.sorted())
      // The value of another key comes with them.
      return Dictionary(uniqueKeysWithValues: (keys + [7]).map { ($0, number) })
    }
    let both = Task { try await memos.values(for: [1, 2]).count }
    await loads.begun.waitForCount(2)
    let second = await waiting(for: 2, of: memos)
    await leave(both)
    loads.gates[0].open()
    #expect(try await second.value == 0)
    #expect(memos.peek(1) == nil && memos.peek(2) == 0 && loads.cancelled.count == 0)
    loads.gates[1].open()
    #expect(try await memos.value(for: 3) == 1)
    #expect(memos.peek(7) == 0 && invariant(of: memos) == nil)
  }

  @Test(
    "one caller leaves, another comes, in many orders: who stays gets the value, and nothing else",
    arguments: [false, true])
  func everyOrder(_ isBatched: Bool) async throws {
    let options = ExplorationOptions(
      runs: Size.usual(500, full: 10_000), preemptions: Size.usual(3, full: 4),
      randomRuns: Size.usual(200, full: 3_000))
    let summary = try await explore(options) { run in
      let begun = Counter()
      let load: @Sendable (Int) async throws -> Int = { key in
        begun.increment()
        await Task.yield()
        try Task.checkCancellation()
        return key
      }
      let memos =
        isBatched
        ? Table(batchSize: 3, retryingFailures: false, cancelsUnobservedSteps: true) { keys in
          let value = try await load(1)
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, value) })
        } : Table(retryingFailures: false, cancelsUnobservedSteps: true, load)
      let leaver = run.spawn(name: "leaver") { try await memos.value(for: 1) }
      let reader = run.spawn(name: "reader") { try await memos.value(for: 1) }
      run.spawn(name: "canceller") { leaver.cancel() }
      try run.require(try await reader.value == 1)
      if case .failure(let error) = await leaver.result {
        try run.require(error is CancellationError, "\(error)")
      }
      // Again only if the leaver was alone when it left.
      try run.require((1...2).contains(begun.value), "\(begun.value) computations")
      try run.require(memos.statistics.failures == 0 && memos.peek(1) == 1)
      try run.require(invariant(of: memos) == nil)
    }
    #expect(summary.jobsFromOutside == 0)
  }
}
