import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite(
  "Memos: a key that needs itself is an error that names the keys", .timeLimit(.minutes(15)),
  .inTurn)
struct MemosCycleTests {
  typealias List = LazyList<Int, any Error>

  /// Keys, each of which needs others, after some time.
  final class Graph: Sendable {
    let needs: [Int: [Int]]
    let scheduler: VirtualScheduler?
    let delays: [Int: Int]
    private let current = Locked<Memos<Int, Int, any Error>?>(nil)

    init(_ needs: [Int: [Int]], _ scheduler: VirtualScheduler? = nil, delays: [Int: Int] = [:]) {
      (self.needs, self.scheduler, self.delays) = (needs, scheduler, delays)
    }

    func make() -> Memos<Int, Int, any Error> {
      let memos = Memos<Int, Int, any Error> { (key: Int) async throws in
        await self.pause(key)
        var sum = key
        for other in self.needs[key] ?? [] { sum += try await self.value(for: other) }
        return sum
      }
      current.withLock { $0 = memos }
      return memos
    }

    private nonisolated(nonsending) func value(for key: Int) async throws -> Int {
      guard let memos = current.withLock({ $0 }) else { fatalError("the memos are gone") }
      return try await memos.value(for: key)
    }

    func clear() { current.withLock { $0 = nil } }

    private func pause(_ key: Int) async {
      guard let scheduler else { return await Task.yield() }
      guard let delay = delays[key], delay > 0 else { return }
      try? await scheduler.clock.sleep(for: .milliseconds(delay))
    }

    /// The keys that need themselves, or one that does.
    var doomed: Set<Int> {
      Set(
        needs.keys.filter { key in
          var (seen, pile) = (Set<Int>(), [key])
          while let next = pile.popLast() {
            for other in needs[next] ?? [] where seen.insert(other).inserted { pile.append(other) }
          }
          return seen.union([key]).contains { reaches(from: $0, $0) }
        })
    }

    private func reaches(from start: Int, _ end: Int) -> Bool {
      var (seen, pile) = (Set<Int>(), [start])
      while let next = pile.popLast() {
        for other in needs[next] ?? [] {
          if other == end { return true }
          if seen.insert(other).inserted { pile.append(other) }
        }
      }
      return false
    }
  }

  private func expectCycle(_ names: [String], _ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("a cycle must be an error")
    } catch let error as CyclicEvaluationError {
      for name in names { #expect(error.lists.contains(name), "\(error)") }
    } catch {
      Issue.record("not a cycle: \(error)")
    }
  }

  @Test("one, two and three keys, from each side, in one task", arguments: 1...3)
  func one(_ length: Int) async {
    for start in 0..<length {
      let graph = Graph(
        Dictionary(uniqueKeysWithValues: (0..<length).map { ($0, [($0 + 1) % length]) }))
      let memos = graph.make()
      let names = (0..<length).map { "Memos[\($0)]" }
      await expectCycle(names) { _ = try await memos.value(for: start) }
      graph.clear()
    }
  }

  @Test("two and three keys, from all sides at once", arguments: 2...3)
  func all(_ length: Int) async {
    for _ in 0..<100 {
      let graph = Graph(
        Dictionary(uniqueKeysWithValues: (0..<length).map { ($0, [($0 + 1) % length]) }))
      let memos = graph.make()
      let names = (0..<length).map { "Memos[\($0)]" }
      let tasks = (0..<length).map { key in Task { try await memos.value(for: key) } }
      for task in tasks { await expectCycle(names) { _ = try await task.value } }
      graph.clear()
    }
  }

  @Test("between memos and a list, plain and asynchronous", arguments: [false, true])
  func list(isPlain: Bool) async {
    let lists = Locked<List>(.empty)
    let memos = Memos<String, Int, any Error> { (key: String) async throws in
      try await lists.withLock { $0 }.head() ?? 0
    }
    var list = List(state: 0) { _ async throws in try await memos.value(for: "key") }.named("list")
    if isPlain { list = list.map { $0 + 1 } }
    lists.withLock { [list] in $0 = list }
    await expectCycle(["list", #"Memos["key"]"#]) { _ = try await memos.value(for: "key") }
    await expectCycle(["list", #"Memos["key"]"#]) { _ = try await list.head() }
    lists.withLock { $0 = .empty }
  }

  @Test("between two memos")
  func two() async {
    let other = Locked<Memos<Int, Int, any Error>?>(nil)
    let first = Memos<Int, Int, any Error> { (key: Int) async throws in
      try await other.withLock { $0 }?.value(for: key + 1) ?? 0
    }
    let second = Memos<Int, Int, any Error> { (key: Int) async throws in
      try await first.value(for: key - 1)
    }
    other.withLock { $0 = second }
    await expectCycle(["Memos[1]", "Memos[2]"]) { _ = try await first.value(for: 1) }
    other.withLock { $0 = nil }
  }

  /// A place for memos that need themselves.
  final class Shelf: Sendable {
    private let current = Locked<Memos<Int, Int, any Error>?>(nil)

    var memos: Memos<Int, Int, any Error>? {
      get { current.withLock { $0 } }
      set { current.withLock { $0 = newValue } }
    }
  }

  @Test("a key that waits for itself by way of a child of its computation")
  func child() async {
    let shelf = Shelf()
    let memos = Memos<Int, Int, any Error> { (key: Int) async throws in
      async let value = shelf.memos?.value(for: key)
      return try await value ?? 0
    }
    shelf.memos = memos
    await expectCycle(["Memos[5]"]) { _ = try await memos.value(for: 5) }
    shelf.memos = nil
  }

  @Test("no false alarm: a key that needs its own old value while it is refreshed")
  func refreshed() async throws {
    let memos = Locked<Memos<Int, Int, any Error>?>(nil)
    let counting = Memos<Int, Int, any Error> { (key: Int) async throws in
      guard let old = memos.withLock({ $0 }) else { return 1 }
      return try await old.value(for: key) + 1
    }
    #expect(try await counting.value(for: 1) == 1)
    memos.withLock { $0 = counting }
    counting.refresh(1)
    #expect(counting.peek(1) == 2)
    memos.withLock { $0 = nil }
  }

  @Test("memos that cannot fail trap, with words")
  func trap() async {
    await #expect(processExitsWith: .failure) {
      let box = Locked<Memos<Int, Int, Never>?>(nil)
      let memos = Memos<Int, Int, Never> { (key: Int) async in
        await box.withLock { $0 }?.value(for: key) ?? 0
      }
      box.withLock { $0 = memos }
      _ = await memos.value(for: 1)
    }
  }

  @Test("a chain of keys that need one another, as deep as one likes")
  func deep() async throws {
    let length = 300
    let graph = Graph(
      Dictionary(uniqueKeysWithValues: (1..<length).map { ($0, [$0 - 1]) }))
    let memos = graph.make()
    #expect(try await memos.value(for: length - 1) == length * (length - 1) / 2)
    graph.clear()
  }

  @Test(
    "random keys that need others: keys that need themselves fail, the others do not, nobody hangs")
  func random() {
    for schedule in 0..<RandomCases.count("TAILRACE_SCHEDULES", debug: 200, optimised: 10_000) {
      let seed = RandomCases.firstSeed &+ UInt64(schedule)
      var generator = SeededGenerator(seed: seed)
      let keys = Int.random(in: 2...8, using: &generator)
      var needs: [Int: [Int]] = [:]
      var delays: [Int: Int] = [:]
      for key in 0..<keys {
        let count = Int.random(in: 0...2, using: &generator)
        needs[key] = (0..<count).map { _ in Int.random(in: 0..<keys, using: &generator) }
        delays[key] = Int.random(in: 0...3, using: &generator)
      }
      let scheduler = VirtualScheduler()
      let graph = Graph(needs, scheduler, delays: delays)
      let (memos, doomed) = (graph.make(), graph.doomed)
      let answers = Probe<Bool>()
      let tasks = Int.random(in: 1...10, using: &generator)
      for _ in 0..<tasks {
        let key = Int.random(in: 0..<keys, using: &generator)
        let delay = Int.random(in: 0...10, using: &generator)
        scheduler.schedule {
          try? await scheduler.clock.sleep(for: .milliseconds(delay))
          do {
            _ = try await memos.value(for: key)
            answers.record(!doomed.contains(key))
          } catch {
            answers.record(error is CyclicEvaluationError && doomed.contains(key))
          }
        }
      }
      scheduler.run()
      graph.clear()
      #expect(answers.values == Array(repeating: true, count: tasks), "seed \(seed)")
    }
  }
}
