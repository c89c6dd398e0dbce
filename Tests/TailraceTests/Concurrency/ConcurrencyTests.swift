import Tailrace
import TailraceTesting
import Testing

@Suite("Several steps of a list at a time", .inTurn)
struct ConcurrencyTests {
  /// Waits until its task is cancelled.
  static func cancellation() async {
    let gate = Gate()
    await withTaskCancellationHandler {
      await gate.wait()
    } onCancel: {
      gate.open()
    }
  }

  // MARK: concurrentMap

  @Test("the head starts as many as may run, and no more", arguments: [1, 2, 4])
  func limit(_ limit: Int) async {
    let gate = Gate()
    let pulls = Probe<Int>()
    let list = LazyList(1...9).map { pulls.pass($0) }.concurrentMap(limit: limit) { number in
      await gate.wait()
      return number * 10
    }
    #expect(pulls.count == 0)
    async let head = list.head()
    await gate.waitForArrivals(limit)
    #expect(pulls.count == limit)
    #expect(list.evaluatedCount == 0)
    gate.open()
    #expect(await head == 10)
    #expect(gate.arrived == limit, "nothing starts but for a demand")
    #expect(await list.array() == (1...9).map { $0 * 10 })
    #expect(gate.arrived == 9)
  }

  @Test("results come in the order of the elements, whichever is ready first")
  func order() async {
    let gates = (0..<4).map { _ in Gate() }
    let list = LazyList(0..<4).concurrentMap(limit: 4) { number in
      await gates[number].wait()
      if number > 0 { gates[number - 1].open() }
      return number
    }
    gates[3].open()
    #expect(await list.array() == [0, 1, 2, 3])
  }

  @Test("never more at once than the limit", arguments: [1, 3, 16])
  func running(_ limit: Int) async {
    let running = InstanceCounter()
    let list = LazyList(0..<2_000).concurrentMap(limit: limit) { number in
      let member = running.member()
      for _ in 0..<number % 3 { await Task.yield() }
      return number + member.number
    }
    #expect(await list.array() == Array(0..<2_000))
    #expect(running.greatest <= limit)
  }

  @Test("many readers, one run of each closure")
  func once() async {
    let runs = Counter()
    let list = LazyList(0..<1_000).concurrentMap(limit: 8) { number in
      await Task.yield()
      runs.increment()
      return number
    }
    await withTaskGroup { group in
      for _ in 0..<64 { group.addTask { #expect(await list.count() == 1_000) } }
    }
    #expect(runs.value == 1_000)
  }

  @Test("a result does not wait for a source that is slow")
  func slowSource() async {
    let gate = Gate()
    let source = LazyList(state: 0) { state async in
      if state == 1 { await gate.wait() }
      state += 1
      return state <= 2 ? state : nil
    }
    let list = source.concurrentMap(limit: 2) { $0 }
    #expect(await list.head() == 1)
    await gate.waitForArrivals(1)
    gate.open()
    #expect(await list.array() == [1, 2])
  }

  @Test("a failure surfaces at its position, and cancels what runs ahead at once")
  func failure() async throws {
    let first = Gate()
    let fails = Gate()
    let cancelled = Gate()
    let list = LazyList(0..<9).concurrentMap(limit: 4) { number in
      switch number {
      case 0: await first.wait()
      case 1:
        await fails.wait()
        throw Mishap(position: 1)
      default:
        await Self.cancellation()
        await cancelled.wait()
      }
      return number
    }
    async let head = list.head()
    await first.waitForArrivals(1)
    await fails.waitForArrivals(1)
    fails.open()
    // Both are told, although nobody has come to the failure yet.
    await cancelled.waitForArrivals(2)
    cancelled.open()
    first.open()
    #expect(try await head == 0)
    for _ in 1...2 {
      await #expect(throws: Mishap(position: 1)) { try await list.array() }
    }
    #expect(list.evaluatedPrefix == [0])
  }

  @Test("a closure that fails at once is never taken for the end")
  func failsAtOnce() async throws {
    for _ in 0..<500 {
      let list = LazyList(0..<9).concurrentMap(limit: 4) { number in
        if number == 3 { throw Mishap(position: 3) }
        return number
      }
      await #expect(throws: Mishap(position: 3)) { try await list.count() }
      #expect(list.evaluatedPrefix == [0, 1, 2])
    }
  }

  @Test("a failure of the source surfaces at its position", arguments: SourceKind.allCases)
  func sourceFailure(_ kind: SourceKind) async throws {
    let list = kind.make(Probe(), failingAt: 3).concurrentMap(limit: 8) { $0 * 10 }
    #expect(try await list.prefix(2).array() == [10, 20])
    await #expect(throws: Mishap(position: 2)) { try await list.array() }
  }

  @Test("a source that is retried is not, before its element is demanded")
  func retries() async throws {
    let attempts = Counter()
    let source = LazyList(state: 0, retryingFailures: true) { state throws -> Int? in
      if state == 1, attempts.increment() < 3 { throw Mishap(position: 1) }
      state += 1
      return state <= 3 ? state : nil
    }
    let list = source.concurrentMap(limit: 2) { $0 }
    #expect(try await list.head() == 1)
    // The first failure is that of the step ahead, which a demand hears of only if it waits for it.
    var failures = 0
    var elements: [Int]?
    while elements == nil {
      do { elements = try await list.array() } catch { failures += 1 }
    }
    #expect(elements == [1, 2, 3])
    #expect(attempts.value == 3)
    #expect((1...2) ~= failures)
  }

  @Test("releasing the list cancels everything that runs")
  func released() async {
    let instances = InstanceCounter()
    let started = Gate()
    started.open()
    var list: LazyList<Int, any Error>? = LazyList(0..<9).concurrentMap(limit: 4) { number in
      let member = instances.member()
      await started.wait()
      if number > 0 { await Self.cancellation() }
      return number + member.number
    }
    #expect(try! await list?.head() == 0)
    await started.waitForArrivals(4)
    #expect(instances.alive > 0)
    list = nil
    await instances.waitUntilEmpty()
  }

  @Test("released while a reader waits: cancelled readers leave, then everything is cancelled")
  func releasedInFlight() async {
    let instances = InstanceCounter()
    let started = Gate()
    started.open()
    let list: LazyList<Int, any Error> = LazyList(0..<9).concurrentMap(limit: 4) { number in
      let member = instances.member()
      await started.wait()
      await Self.cancellation()
      return number + member.number
    }
    let reader = Task { [list] in try await list.head() }
    await started.waitForArrivals(4)
    reader.cancel()
    _ = consume list
    await #expect(throws: CancellationError.self) { try await reader.value }
    await instances.waitUntilEmpty()
  }

  @Test("a reader that is cancelled cancels no step")
  func cancelledReader() async throws {
    let gate = Gate()
    let list = LazyList(0..<4).concurrentMap(limit: 2) { number async throws in
      await gate.wait()
      try Task.checkCancellation()
      return number
    }
    let reader = Task { try await list.array() }
    await gate.waitForArrivals(2)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect(try await list.array() == [0, 1, 2, 3])
  }

  @TaskLocal static var label = "none"

  @Test("closures have the task-locals and the priority of the demand")
  func context() async {
    let seen = Probe<String>()
    let list = LazyList(0..<3).concurrentMap(limit: 2) { number in
      seen.record("\(Self.label), \(Task.currentPriority == .high)")
      return number
    }
    await Task(priority: .high) {
      await Self.$label.withValue("demand") { #expect(await list.count() == 3) }
    }.value
    #expect(seen.values == Array(repeating: "demand, true", count: 3))
  }

  @Test("an element that needs itself is found", arguments: [1, 3])
  func cycle(_ limit: Int) async {
    let list = LazyList<Int, any Error>.recursive { list in
      list.concurrentMap(limit: limit) { $0 + 1 }.prefetching(limit)
    }
    await #expect(throws: CyclicEvaluationError.self) { try await list.head() }
    let powers = LazyList<Int, Never>.recursive { list in
      [1] + list.concurrentMap(limit: limit) { $0 * 2 }
    }
    #expect(await powers.prefix(5).array() == [1, 2, 4, 8, 16])
  }

  // MARK: prefetching

  @Test("it stays so many ahead of the furthest reader", arguments: SourceKind.allCases)
  func ahead(_ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let list = kind.make(upTo: 100, pulls).prefetching(3)
    #expect(pulls.count == 0)
    #expect(try await list.head() == 1)
    await pulls.waitForCount(4)
    #expect(try await list.head() == 1)
    #expect(pulls.count == 4)
    #expect(try await list.element(at: 5) == 6)
    await pulls.waitForCount(9)
    #expect(try await list.element(at: 2) == 3, "a reader further back asks for nothing")
    #expect(pulls.values == Array(1...9))
    #expect(try await list.array() == Array(1...100))
  }

  @Test("a reader that is slow finds the next ones ready, without another task")
  func ready() async throws {
    let pulls = Probe<Int>()
    let list = SourceKind.asynchronous.make(upTo: 3, pulls).prefetching(2)
    #expect(try await list.head() == 1)
    await pulls.waitForCount(3)
    #expect(try await list.array() == [1, 2, 3])
  }

  @Test("it stops when nobody can read")
  func stops() async {
    let instances = InstanceCounter()
    let ahead = Gate()
    ahead.open()
    do {
      let source = LazyList(state: instances.member()) { member async in
        if ahead.arrived > 0 {
          await ahead.wait()
          await Self.cancellation()
        } else {
          await ahead.wait()
        }
        return member.number
      }
      let list = source.prefetching(5)
      #expect(await list.head() == 0)
      await ahead.waitForArrivals(2)
    }
    await instances.waitUntilEmpty()
  }

  @Test("elements that have been read are not kept", arguments: [1, 16])
  func space(_ distance: Int) async {
    let instances = InstanceCounter()
    let list = LazyList(0..<5_000).map { instances.member($0) }.prefetching(distance)
      .concurrentMap(limit: distance) { $0 }
    var sum = 0
    for await member in consume list { sum += member.number }
    #expect(sum == 5_000 * 4_999 / 2)
    // Segments of members, and those that lie ahead.
    #expect(instances.greatest < 600)
    await instances.waitUntilEmpty()
  }

  @Test("a failure ahead surfaces when a reader gets there", arguments: SourceKind.allCases)
  func prefetchedFailure(_ kind: SourceKind) async throws {
    let list = kind.make(Probe(), failingAt: 3).prefetching(5)
    #expect(try await list.prefix(2).array() == [1, 2])
    for _ in 1...2 { await #expect(throws: Mishap(position: 2)) { try await list.array() } }
  }
}
