import Dispatch
import Tailrace
import TailraceTesting
import Testing

@Suite("Cancellation ends a reader, never the list, and makes no answer wrong", .inTurn)
struct CancellationTests {
  /// A list whose every step waits at a gate.
  static func gated(_ gate: Gate, _ pulls: Probe<Int> = Probe()) -> LazyList<Int, Never> {
    LazyList(state: 0) { state async in
      pulls.record(state)
      await gate.wait()
      state += 1
      return state
    }
  }

  static func failing(_ gate: Gate) -> LazyList<Int, any Error> {
    LazyList(state: 0) { state async throws in
      await gate.wait()
      state += 1
      return state
    }
  }

  @Test("an iteration that waits stops at once; the step goes on for the others")
  func iteration() async {
    let (gate, pulls) = (Gate(), Probe<Int>())
    let list = Self.gated(gate, pulls)
    let leaver = Task { () -> Int? in
      for await element in list { return element }
      return nil
    }
    await gate.waitForArrivals(1)
    let stayer = Task { await list.head() }
    leaver.cancel()
    #expect(await leaver.value == nil)
    gate.open()
    #expect(await stayer.value == 1)
    #expect(pulls.values == [0])
  }

  @Test("where it can, it throws CancellationError: in next, in every question, in a memo")
  func throwing() async {
    let gate = Gate()
    let list = Self.failing(gate)
    let memo = Memo<Int, any Error> { () async throws -> Int in
      await gate.wait()
      return 1
    }
    let shared = list.makeSharedIterator()
    let readers: [@Sendable () async throws -> Void] = [
      { for try await _ in list { return } },
      { _ = try await list.head() },
      { _ = try await list.uncons() },
      { _ = try await list.isEmpty() },
      { _ = try await list.count() },
      { _ = try await list.array() },
      { _ = try await list.last() },
      { _ = try await list.element(at: 3) },
      { _ = try await list.reduce(0, +) },
      { _ = try await list.first { $0 > 1 } },
      { _ = try await list.contains(7) },
      { _ = try await list.allSatisfy { $0 > 0 } },
      { _ = try await list.min() },
      { _ = try await list.foldRight(0) { first, rest in first + (try await rest.value()) } },
      { _ = try await list.map { $0 + 1 }.array() },
      { _ = try await list.map { (number: Int) async throws in number }.array() },
      { _ = try await memo.value() },
      { _ = try await shared.next() },
    ]
    for reader in readers {
      let task = Task { try await reader() }
      await gate.waitForArrivals(1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    gate.open()
    #expect(try! await list.head() == 1)
    #expect(try! await memo.value() == 1)
    #expect(try! await shared.next() == 1)
  }

  struct Question: Sendable, CustomTestStringConvertible {
    /// Asks a list that nobody holds: a temporary is not pinned.
    typealias Ask =
      @Sendable (_ list: @Sendable () -> LazyList<Int, any Error>) async throws -> Void

    let testDescription: String
    let ask: Ask

    init(_ name: String, _ ask: @escaping Ask) {
      testDescription = name
      self.ask = ask
    }

    static let all = [
      Question("array") { _ = try await $0().array() },
      Question("eager") { _ = try await $0().eager() },
      Question("count") { _ = try await $0().count() },
      Question("last") { _ = try await $0().last() },
      Question("reduce") { _ = try await $0().reduce(0) { $0 + $1 } },
      Question("forEach") { try await $0().forEach { (_: Int) in } },
      Question("first(where:)") { _ = try await $0().first { $0 < 0 } },
    ]
  }

  @Test(
    "a task that is cancelled in the middle of a plain pass soon stops, also if nobody else reads",
    arguments: Question.all)
  func endless(_ question: Question) async {
    let pulls = Counter()
    let task = Task {
      try await question.ask {
        LazyList(state: 0) { (number: inout Int) throws -> Int? in
          pulls.increment()
          number += 1
          if number == 10 { withUnsafeCurrentTask { $0?.cancel() } }
          return number <= 1000 ? number : nil
        }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(pulls.value < 100)
  }

  /// How a whole-list call comes to run the steps of an asynchronous list.
  enum Driving: CaseIterable {
    /// It drives them from the first step on.
    case drives
    /// A step has suspended, and the call goes on with it when it comes back.
    case goesOn
    /// The asynchronous list is below many plain ones.
    case drivesBelow
  }

  @Test(
    "a cancelled whole-list call takes no step after the one in flight",
    arguments: Driving.allCases, [false, true])
  func noFurtherStep(_ driving: Driving, _ answers: Bool) async {
    let (gate, isKnown, calls) = (Gate(), Gate(), Counter())
    let reader = Probe<Task<Int?, Never>>()
    var list = LazyList(0..<1_000).map { (number: Int) async -> Int in
      if number == 300, driving == .goesOn { await gate.wait() }
      if number == 305 { reader.values.first?.cancel() }
      calls.increment()
      return number
    }
    var held = [list]
    for _ in 0..<(driving == .drivesBelow ? 100 : 0) {
      list = list.map { $0 }
      held.append(list)
    }
    let task = Task.detached { [list] in
      await isKnown.wait()
      return answers ? await list.count() : try? await list.throwingCancellation.count()
    }
    reader.record(task)
    isKnown.open()
    if driving == .goesOn { await gate.waitForArrivals(1) }
    gate.open()
    #expect(await task.value == (answers ? 1_000 : nil))
    #expect(calls.value == (answers ? 1_000 : 306))
  }

  @Test("where it cannot, a question waits for the true answer")
  func questions() async {
    let gate = Gate()
    let list = Self.gated(gate).prefix(3)
    let memo = Memo<Int, Never> { () async -> Int in
      await gate.wait()
      return 7
    }
    let sum = Task { await list.reduce(0, +) }
    let count = Task { await list.count() }
    let value = Task { await memo.value() }
    for task in [sum, count, value] { task.cancel() }
    await gate.waitForArrivals(1)
    gate.open()
    #expect(await sum.value == 6)
    #expect(await count.value == 3)
    #expect(await value.value == 7)
  }

  @Test("folds with asynchronous closures are the list's own, and give the true answer")
  func asynchronousFolds() async {
    let answers = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      func list() -> LazyList<Int, Never> { LazyList(1...100) }
      func turn<T: Sendable>(_ value: T) async -> T {
        await Task.yield()
        return value
      }
      let sum = await list().reduce(0) { await turn($0 + $1) }
      let all = await list().reduce(into: []) { $0.append(await turn($1)) }
      let first = await list().first { await turn($0 == 50) }
      let found = await list().contains { await turn($0 == 99) }
      let satisfied = await list().allSatisfy { await turn($0 < 100) }
      let least = try? await list().min { await turn($0 > $1) }
      let greatest = try? await list().max { await turn($0 < $1) }
      return [sum, all.count, first, found ? 1 : 0, satisfied ? 1 : 0, least, greatest]
    }
    #expect(await answers.value == [5050, 100, 50, 1, 0, 100, 100])
  }

  @Test("a cancelled task reads what is evaluated, and no further")
  func evaluated() async {
    let pulls = Probe<Int>()
    let list = LazyList(state: 0) { state in
      state += 1
      return pulls.pass(state)
    }
    #expect(await list.prefix(3).count() == 3)
    let reader = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var seen: [Int] = []
      for await element in list { seen.append(element) }
      return seen
    }
    #expect(await reader.value == [1, 2, 3])
    #expect(pulls.count == 3)
  }

  @Test("cancellation is never remembered")
  func notRemembered() async throws {
    let gate = Gate()
    let list = Self.failing(gate)
    let reader = Task { try await list.map { $0 * 2 }.head() }
    await gate.waitForArrivals(1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    gate.open()
    #expect(try await list.prefix(2).array() == [1, 2])
    #expect(list.evaluatedCount == 2)
  }

  @Test("the last reference to the rest cancels the step in flight", arguments: [0, 1, 2])
  func abandoned(_ stages: Int) async {
    let (started, cancelled) = (Gate(), Gate())
    started.open()
    do {
      var list = LazyList<Int, Never>(state: 0) { state async in
        await started.wait()
        await withTaskCancellationHandler {
          await cancelled.wait()
        } onCancel: {
          cancelled.open()
        }
        return state
      }
      for _ in 0..<stages { list = list.map { $0 + 1 } }
      let reader = Task { [list] in for await _ in list { return } }
      await started.waitForArrivals(1)
      reader.cancel()
      await reader.value
      #expect(list.evaluatedCount == 0)
    }
    // Would wait for ever if the step were not cancelled.
    await cancelled.waitForArrivals(1)
    await cancelled.wait()
  }

  @Test("a search that nobody waits for any more ends, though its closure never looks")
  func abandonedSearch() async {
    let (started, instances) = (Gate(), InstanceCounter())
    started.open()
    do {
      let token = instances.member()
      let list = LazyList(1...).filter { (number: Int) async -> Bool in
        await started.wait()
        await Task.yield()
        return token.number > 0
      }
      let reader = Task { [list] in for await _ in list { return } }
      await started.waitForArrivals(1)
      reader.cancel()
      await reader.value
    }
    await instances.waitUntilEmpty()
  }

  @Test("a reader that leaves by break leaves nothing behind")
  func leaving() async {
    let instances = InstanceCounter()
    do {
      let token = instances.member()
      let list = LazyList<Int, Never>(state: 0) { state async in
        await Task.yield()
        state += 1 + token.number
        return state
      }
      for await element in list where element == 3 { break }
      #expect(list.evaluatedCount == 3)
    }
    await instances.waitUntilEmpty()
  }

  @Test("a waiter that is cancelled behind a long plain step does not wait for it")
  func behindPlainStep() async {
    let (inside, leave) = (Probe<Int>(), DispatchSemaphore(value: 0))
    let list = LazyList<Int, Never>(state: 0) { state in
      inside.record(state)
      // A plain step that takes as long as the test wants.
      leave.wait()
      state += 1
      return state
    }
    // On a thread of its own: the pool may have no other for the tasks that this one waits for.
    let thread = QueueScheduler(name: "long step")
    let worker = Task(executorPreference: thread) { await list.head() }
    await inside.waitForCount(1)
    let leaver = Task.detached { () -> Int? in
      for await element in list { return element }
      return nil
    }
    leaver.cancel()
    #expect(await leaver.value == nil)
    leave.signal()
    #expect(await worker.value == 1)
  }

  @Test("a shared iterator loses nothing to a task that is cancelled while it waits")
  func sharedIterator() async {
    let gate = Gate()
    let iterator = Self.gated(gate).prefix(4).makeSharedIterator()
    let leaver = Task { await iterator.next() }
    await gate.waitForArrivals(1)
    leaver.cancel()
    #expect(await leaver.value == nil)
    gate.open()
    var dealt: [Int] = []
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await iterator.next() } }
      for await element in group { if let element { dealt.append(element) } }
    }
    #expect(dealt.sorted() == [1, 2, 3, 4])
  }
}
