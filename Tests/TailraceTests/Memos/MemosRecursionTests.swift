import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("Memos whose closure asks for other keys", .tags(.long), .hangLimit, .inTurn)
struct MemosRecursionTests {
  typealias Numbers = Memos<Int, Int, any Error>

  static func fibs(_ calls: Counter) -> Memos<Int, Int, Never> {
    .recursive { fibs, number async in
      calls.increment()
      if number < 2 { return number }
      return await fibs.value(for: number - 1) &+ fibs.value(for: number - 2)
    }
  }

  @Test("each key is computed once, whoever asks for it, and from however many tasks")
  func once() async {
    let calls = Counter()
    let fibs = Self.fibs(calls)
    #expect(await fibs.value(for: 50) == 12_586_269_025 && calls.value == 51)
    let sums = await withTaskGroup(of: Int.self) { group in
      for number in 0..<40 { group.addTask { await fibs.value(for: 40 + number) } }
      return await group.reduce(0, &+)
    }
    #expect(sums > 0 && calls.value == 80 && fibs.statistics.loads == 80)
  }

  /// A key that counts how often it is described.
  struct Described: Hashable, CustomDebugStringConvertible {
    static let descriptions = Counter()
    let number: Int

    var debugDescription: String {
      Self.descriptions.increment()
      return "number \(number)"
    }
  }

  @Test("a key is described for an error, not when somebody waits for it")
  func descriptions() async throws {
    let memos = Memos<Described, Int, any Error>.recursive { memos, key async throws in
      switch key.number {
      case 0: return 0
      case -1: return try await memos.value(for: key)
      default: return try await memos.value(for: Described(number: key.number - 1)) + 1
      }
    }
    #expect(try await memos.value(for: Described(number: 100)) == 100)
    #expect(Described.descriptions.value == 0)
    do {
      _ = try await memos.value(for: Described(number: -1))
      Issue.record("a value that needs itself")
    } catch {
      #expect("\(error)".contains("number -1"))
    }
  }

  @Test("a closure of each kind")
  func kinds() async throws {
    let plain = Memos<Int, Int, Never>.recursive { memos, key in (memos.peek(key - 1) ?? 0) + 1 }
    let throwing = Numbers.recursive { memos, key in
      if key == 3 { throw Refused() }
      return (memos.peek(key - 1) ?? 0) + 1
    }
    let async = Memos<Int, Int, Never>.recursive { memos, key async in
      key == 0 ? 1 : await memos.value(for: key - 1) + 1
    }
    let asyncThrowing = Memos<Int, Int, Refused>.recursive {
      (memos, key) async throws(Refused) in
      if key == 3 { throw Refused() }
      return key == 0 ? 1 : try await memos.value(for: key - 1) + 1
    }
    for key in 0..<3 {
      #expect(await plain.value(for: key) == key + 1)
      #expect(try await throwing.value(for: key) == key + 1)
      #expect(await async.value(for: key) == key + 1)
      #expect(try await asyncThrowing.value(for: key) == key + 1)
    }
    for key in 3..<5 {
      await #expect(throws: Refused()) { try await asyncThrowing.value(for: key) }
    }
    await #expect(throws: Refused()) { try await throwing.value(for: 3) }
  }

  @Test("bounds, ages and retrying are those of other memos")
  func parameters() async throws {
    let (clock, calls) = (VirtualScheduler(), Counter())
    let memos = Numbers.recursive(
      capacity: .count(3), lifetime: .seconds(10), retryingFailures: true, clock: clock.clock
    ) { memos, key in
      if calls.increment() == 1 { throw Refused() }
      return key == 0 ? 0 : try await memos.value(for: key - 1) + 1
    }
    await #expect(throws: Refused()) { try await memos.value(for: 10) }
    #expect(try await memos.value(for: 10) == 10)
    #expect(memos.count == 3 && memos.peek(10) == 10)
    clock.advance(by: .seconds(11))
    #expect(memos.peek(10) == nil)
  }

  // MARK: Release

  @Test("no cycle of references: the closure is released with the last copy")
  func release() async throws {
    let instances = InstanceCounter()
    do {
      let member = instances.member()
      var memos: Numbers? = .recursive { [member] memos, key in
        key == 0 ? member.number : try await memos.value(for: key - 1)
      }
      let copy = memos
      #expect(try await memos?.value(for: 100) == 0)
      memos = nil
      #expect(instances.alive == 1 && copy?.peek(50) == 0)
    }
    #expect(instances.alive == 0)
  }

  @Test("a computation without waiters is cancelled with the last copy, at whichever key it is")
  func cancelled() async {
    let (instances, scheduler, ends) = (InstanceCounter(), VirtualScheduler(), Probe<Int>())
    do {
      let member = instances.member()
      let memos = Numbers.recursive { [member] memos, key in
        defer { ends.record(key) }
        if key == 0 { try await scheduler.clock.sleep(for: .seconds(1_000_000)) }
        return key == 0 ? member.number : try await memos.value(for: key - 1)
      }
      let reader = Task { try await memos.value(for: 20) }
      await scheduler.waitForSleepers(1)
      reader.cancel()
      #expect(await reader.result.isFailure)
      #expect(ends.count == 0, "the computation goes on while the memos exist")
    }
    await ends.waitForCount(21)
    await instances.waitUntilEmpty()
  }

  @Test(
    "a waiting task gets its value, also when the memos are released meanwhile", arguments: [3, 30])
  func waiting(_ key: Int) async throws {
    let (instances, gate, ends) = (InstanceCounter(), Gate(), Counter())
    let reader: Task<Int, any Error>
    do {
      let member = instances.member(7)
      let memos = Numbers.recursive { [member] memos, key in
        defer { ends.increment() }
        if key == 0 { await gate.wait() }
        return key == 0 ? member.number : try await memos.value(for: key - 1)
      }
      reader = Task { [memos] in try await memos.value(for: key) }
      await gate.waitForArrivals(1)
    }
    gate.open()
    #expect(try await reader.value == 7 && ends.value == key + 1)
    await instances.waitUntilEmpty()
  }

  @Test("memos that cannot fail compute what they have begun to its end, each key once")
  func never() async {
    let (instances, gate, calls) = (InstanceCounter(), Gate(), Probe<Int>())
    do {
      let member = instances.member()
      let fibs = Memos<Int, Int, Never>.recursive { [member] fibs, key async in
        calls.record(key)
        if key < 2 {
          await gate.wait()
          return key + member.number
        }
        return await fibs.value(for: key - 1) &+ fibs.value(for: key - 2)
      }
      fibs.refresh(40)
      await gate.waitForArrivals(1)
    }
    #expect(instances.alive == 1)
    gate.open()
    await instances.waitUntilEmpty()
    #expect(calls.values.sorted() == Array(0...40))
  }

  // MARK: Cycles

  @Test("a key that needs itself is an error in words for keys", arguments: 1...3)
  func cycle(_ length: Int) async {
    for start in 0..<length {
      let memos = Numbers.recursive { memos, key in
        try await memos.value(for: (key + 1) % length) + 1
      }
      do {
        _ = try await memos.value(for: start)
        Issue.record("a cycle must be an error")
      } catch let error as CyclicEvaluationError {
        #expect(Set(error.lists) == Set((0..<length).map { "Memos[\($0)]" }))
        let path = (error.lists + error.lists.prefix(1)).joined(separator: " → ")
        let words = "the value of \(error.lists[0]) needs itself: \(path); give one of these keys"
        #expect(error.description.hasPrefix(words), "\(error)")
        #expect(error.description.hasSuffix("and follow them outside, with a set of the keys seen"))
        #expect(!error.description.contains("element") && !error.description.contains("LazyList"))
      } catch {
        Issue.record("not a cycle: \(error)")
      }
    }
  }

  @Test("from all sides at once", arguments: 2...4)
  func cycles(_ length: Int) async {
    for _ in 0..<50 {
      let memos = Numbers.recursive { memos, key in
        await Task.yield()
        return try await memos.value(for: (key + 1) % length) + 1
      }
      let tasks = (0..<length).map { key in Task { try await memos.value(for: key) } }
      for task in tasks {
        await #expect(throws: CyclicEvaluationError.self) { try await task.value }
      }
    }
  }

  enum Way: CaseIterable { case child, group, concurrentMap, list }

  @Test("by way of a child, a closure of concurrentMap, or a list", arguments: Way.allCases)
  func ways(_ way: Way) async {
    let memos = Memos<String, Int, any Error>.recursive { memos, key in
      let next = key == "a" ? "b" : "a"
      switch way {
      case .child:
        async let value = memos.value(for: next)
        return try await value
      case .group:
        return try await withThrowingTaskGroup(of: Int.self) { group in
          group.addTask { try await memos.value(for: next) }
          return try await group.reduce(0, +)
        }
      case .concurrentMap:
        return try await LazyList([next]).concurrentMap(limit: 2) { try await memos.value(for: $0) }
          .reduce(0, +)
      case .list:
        return try await LazyList([next]).map { try await memos.value(for: $0) }.named("list")
          .reduce(0, +)
      }
    }
    do {
      _ = try await memos.value(for: "a")
      Issue.record("a cycle must be an error")
    } catch let error as CyclicEvaluationError {
      #expect(
        error.lists.contains(#"Memos["a"]"#) || error.lists.contains(#"Memos["b"]"#), "\(error)")
    } catch {
      Issue.record("not a cycle: \(error)")
    }
  }

  @Test("memos that cannot fail trap, with the same words")
  func trap() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let memos = Memos<Int, Int, Never>.recursive { memos, key async in
        await memos.value(for: 1 - key)
      }
      _ = await memos.value(for: 1)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      said.contains("the value of Memos[") && said.contains("give one of these keys"), "\(said)")
  }

  @Test("random keys that need others: keys that need themselves fail, the others have a value")
  func random() {
    for schedule in 0..<RandomCases.count("TAILRACE_SCHEDULES", debug: 200, optimised: 10_000) {
      let seed = RandomCases.firstSeed &+ UInt64(schedule)
      var random = SeededGenerator(seed: seed)
      let keys = Int.random(in: 2...9, using: &random)
      var needs: [Int: [Int]] = [:]
      for key in 0..<keys {
        let count = Int.random(in: 0...2, using: &random)
        needs[key] = (0..<count).map { _ in Int.random(in: 0..<keys, using: &random) }
      }
      let delays = (0..<keys).map { _ in Int.random(in: 0...3, using: &random) }
      let (graph, scheduler) = (needs, VirtualScheduler())
      let doomed = MemosCycleTests.Graph(needs).doomed
      let memos = Numbers.recursive { memos, key in
        if delays[key] > 0 { try await scheduler.clock.sleep(for: .milliseconds(delays[key])) }
        var sum = 1
        for other in graph[key] ?? [] { sum += try await memos.value(for: other) }
        return sum
      }
      let answers = Probe<Bool>()
      let tasks = Int.random(in: 1...8, using: &random)
      for _ in 0..<tasks {
        let key = Int.random(in: 0..<keys, using: &random)
        let delay = Int.random(in: 0...10, using: &random)
        scheduler.schedule(after: .milliseconds(delay)) { () async in
          do {
            let value = try await memos.value(for: key)
            answers.record(!doomed.contains(key) && value > 0)
          } catch {
            answers.record(error is CyclicEvaluationError && doomed.contains(key))
          }
        }
      }
      scheduler.run()
      #expect(answers.values == Array(repeating: true, count: tasks), "seed \(seed)")
    }
  }

  // MARK: Depth

  #if DEBUG
    static let depth = 20_000
  #else
    static let depth = 100_000
  #endif

  @Test(
    "keys that need one another, 100 000 deep, whether they wait or not", arguments: [false, true])
  func deep(_ isWaiting: Bool) async throws {
    let memos = Numbers.recursive { memos, key in
      if isWaiting { await Task.yield() }
      return key == 0 ? 0 : try await memos.value(for: key - 1) + 1
    }
    #expect(try await memos.value(for: Self.depth) == Self.depth)
    #expect(memos.statistics.loads == Self.depth + 1)
  }
}

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
