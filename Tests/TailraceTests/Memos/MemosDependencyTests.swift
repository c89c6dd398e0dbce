import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

@Suite("Memos that know what they were computed from", .tags(.long), .hangLimit, .inTurn)
struct MemosDependencyTests {
  typealias Numbers = Memos<Int, Int, any Error>

  /// Sources that change, and a record of what was computed.
  final class World: Sendable {
    let sources = Locked<[Int: Int]>([:])
    let computed = Probe<Int>()

    /// What was computed since the last time.
    func computedNow() -> [Int] {
      defer { seen.withLock { $0 = computed.values.count } }
      return Array(computed.values.dropFirst(seen.withLock { $0 }))
    }

    private let seen = Locked(0)

    func source(_ key: Int) -> Int { sources.withLock { $0[key] ?? 0 } }
    func set(_ key: Int, _ value: Int) { sources.withLock { $0[key] = value } }

    /// Keys below 10 are sources. Key 10 is the parity of 1, 11 is 10 and 2, 12 is 11 and 3.
    func memos(
      capacity: Numbers.Capacity = .unbounded, lifetime: Duration? = nil,
      clock: any Clock<Duration> = ContinuousClock()
    ) -> Numbers {
      .recursive(
        capacity: capacity, lifetime: lifetime.map { .fixed($0) } ?? .forever, clock: clock
      ) { [self] memos, key in
        computed.record(key)
        switch key {
        case 10: return try await memos.value(for: 1) % 2
        case 11...: return try await memos.value(for: key - 1) * 10 + memos.value(for: key - 9)
        default: return source(key)
        }
      }
    }
  }

  @Test("a forgotten key makes stale what was computed from it, and nothing else")
  func forget() async throws {
    let world = World()
    let memos = world.memos()
    #expect(try await memos.value(for: 12) == 0)
    #expect(world.computedNow() == [12, 11, 10, 1, 2, 3])
    world.set(2, 5)
    memos.forget(2)
    #expect(memos.peek(12) == nil && memos.peek(11) == nil && memos.peek(10) == 0)
    #expect(memos.peek(2) == nil && memos.peek(3) == 0 && memos.count == 3)
    #expect(try await memos.value(for: 12) == 50)
    #expect(world.computedNow() == [2, 11, 12])
    #expect(memos.statistics.outdated == 2 && memos.count == 6)
  }

  @Test("what comes out equal goes no further")
  func cutOff() async throws {
    let world = World()
    let memos = world.memos()
    _ = try await memos.value(for: 12)
    _ = world.computedNow()
    world.set(1, 2)
    memos.forget(1)
    #expect(memos.peek(12) == nil)
    #expect(try await memos.value(for: 12) == 0)
    #expect(world.computedNow() == [1, 10], "an even number again")
    world.set(1, 3)
    memos.forget { $0 == 1 }
    #expect(try await memos.value(for: 12) == 100)
    #expect(world.computedNow() == [1, 10, 11, 12])
    memos.forget(1)
    #expect(try await memos.value(for: 11) == 10)
    #expect(world.computedNow() == [1])
    #expect(try await memos.value(for: 12) == 100 && world.computedNow() == [])
  }

  @Test("a refreshed value that differs makes stale; an equal one does not", arguments: [0, 5])
  func refreshed(_ value: Int) async throws {
    let world = World()
    let memos = world.memos()
    _ = try await memos.value(for: 12)
    _ = world.computedNow()
    world.set(2, value)
    #expect(try await memos.refreshedValue(for: 2) == value)
    #expect((memos.peek(12) == nil) == (value != 0))
    #expect(try await memos.value(for: 12) == value * 10)
    #expect(world.computedNow() == (value == 0 ? [2] : [2, 11, 12]))
  }

  @Test("values that cannot be compared are all different")
  func incomparable() async throws {
    struct Opaque: Sendable { let number: Int }
    let calls = Probe<Int>()
    let memos = Memos<Int, Opaque, any Error>.recursive { memos, key in
      calls.record(key)
      return key == 0
        ? Opaque(number: 1) : Opaque(number: try await memos.value(for: key - 1).number)
    }
    _ = try await memos.value(for: 2)
    memos.forget(0)
    #expect(try await memos.value(for: 2).number == 1)
    #expect(calls.values == [2, 1, 0, 1, 0, 2])
  }

  @Test("an evicted input alone makes nothing stale; forgotten after that, it does")
  func evicted() async throws {
    let world = World()
    let memos = world.memos(capacity: .count(2))
    _ = try await memos.value(for: 12)
    _ = world.computedNow()
    #expect(memos.count == 2 && memos.peek(1) == nil)
    #expect(try await memos.value(for: 12) == 0 && world.computedNow() == [])
    world.set(1, 1)
    memos.forget(1)
    #expect(memos.peek(12) == nil)
    #expect(try await memos.value(for: 12) == 100)
    #expect(world.computedNow().contains(12))
  }

  @Test("an evicted input that is loaded again may differ: a refresh tells its dependents")
  func reloaded() async throws {
    let world = World()
    let memos = Numbers.recursive(capacity: .count(2)) { memos, key in
      key < 10 ? world.source(key) : try await memos.value(for: 1)
    }
    _ = try await memos.value(for: 10)
    // The latest two stay; 10 is used, so it stays longer.
    for key in 2...4 {
      _ = try await memos.value(for: 10)
      _ = try await memos.value(for: key)
    }
    try #require(memos.peek(10) == 0 && memos.peek(1) == nil)
    world.set(1, 7)
    #expect(try await memos.value(for: 1) == 7)
    #expect(try await memos.refreshedValue(for: 1) == 7)
    #expect(try await memos.value(for: 10) == 7)
  }

  @Test("an expired input: dependents are looked at, and computed anew if it differs")
  func expired() async throws {
    let (world, scheduler) = (World(), VirtualScheduler())
    let memos = world.memos(lifetime: .seconds(10), clock: scheduler.clock)
    _ = try await memos.value(for: 3)
    scheduler.advance(by: .seconds(4))
    _ = try await memos.value(for: 12)
    _ = world.computedNow()
    scheduler.advance(by: .seconds(5))
    #expect(memos.peek(12) == 0)
    scheduler.advance(by: .seconds(1))
    #expect(memos.peek(12) == nil && memos.peek(11) == 0)
    #expect(try await memos.value(for: 12) == 0 && world.computedNow() == [3])
    scheduler.advance(by: .seconds(4))
    // Everything but 3 has expired.
    world.set(1, 2)
    #expect(try await memos.value(for: 11) == 0)
    #expect(Set(world.computedNow()) == [11, 10, 1, 2])
  }

  @Test("forgotten under way: begun anew for those who wait, and never stored")
  func underWay() async throws {
    let (world, gate, calls) = (World(), Gate(), Counter())
    let memos = Numbers.recursive { memos, key in
      if key == 1 { return world.source(1) }
      let one = try await memos.value(for: 1)
      if calls.increment() == 1 { await gate.wait() }
      return one
    }
    let reader = Task { try await memos.value(for: 2) }
    await gate.waitForArrivals(1)
    world.set(1, 7)
    memos.forget(1)
    gate.open()
    #expect(try await reader.value == 7)
    #expect(calls.value == 2 && memos.peek(2) == 7 && memos.statistics.loads == 4)
  }

  @Test("longer than its inputs are fresh: begun again a few times, then given, and out of date")
  func restless() {
    let (scheduler, calls, answers) = (VirtualScheduler(), Counter(), Probe<Int>())
    let versions = Counter()
    let memos = Numbers.recursive(refreshingAfter: .seconds(2), clock: scheduler.clock) {
      memos, key in
      if key == 0 { return versions.increment() }
      calls.increment()
      let first = try await memos.value(for: 0)
      try await scheduler.clock.sleep(for: .seconds(3))
      // It is due, so it is refreshed, and differs from the first.
      let second = try await memos.value(for: 0)
      try await scheduler.clock.sleep(for: .seconds(1))
      return first * 100 + second
    }
    scheduler.schedule { () async in answers.record((try? await memos.value(for: 1)) ?? -1) }
    scheduler.advance(by: .seconds(1_000))
    #expect(calls.value == 9 && answers.count == 1 && versions.value == 10)
    // The next demand computes anew.
    #expect(memos.peek(1) == nil)
    scheduler.schedule { () async in answers.record((try? await memos.value(for: 1)) ?? -1) }
    scheduler.advance(by: .seconds(1_000))
    #expect(
      calls.value == 18 && answers.count == 2
        && memos.statistics.loads == calls.value + versions.value)
  }

  @Test("an input that is due: the old value at once, and the closure that got it runs once")
  func dueInput() {
    let (scheduler, answers) = (VirtualScheduler(), Probe<Int>())
    let (versions, calls) = (Counter(), Counter())
    let memos = Numbers.recursive(refreshingAfter: .seconds(2), clock: scheduler.clock) {
      memos, key in
      if key == 0 { return versions.increment() }
      calls.increment()
      return try await memos.value(for: 0)
    }
    func ask(_ key: Int) {
      scheduler.schedule { () async in answers.record((try? await memos.value(for: key)) ?? -1) }
      scheduler.run()
    }
    ask(0)
    scheduler.advance(by: .seconds(3))
    ask(1)
    #expect(answers.values == [1, 1] && calls.value == 1)
    // The new value is there, and another one.
    #expect(versions.value == 2 && memos.peek(1) == nil)
    ask(1)
    #expect(answers.values == [1, 1, 2] && calls.value == 2)
  }

  @Test("an input expires while a computation waits for another: given, and out of date")
  func expiredUnderWay() {
    let (scheduler, answers, calls) = (VirtualScheduler(), Probe<String>(), Probe<Int>())
    let memos = Numbers.recursive(lifetime: .seconds(10), clock: scheduler.clock) { memos, key in
      calls.record(key)
      switch key {
      case 0: return calls.values.count { $0 == 0 }
      case 1:
        try await scheduler.clock.sleep(for: .seconds(25))
        return 100
      default: return try await memos.value(for: 0) + memos.value(for: 1)
      }
    }
    func ask(_ key: Int) {
      scheduler.schedule { () async in
        answers.record("\(key): \((try? await memos.value(for: key)) ?? -1)")
      }
    }
    ask(2)
    scheduler.advance(by: .seconds(12))
    // 0 has expired. 2 and 1 are being computed.
    ask(0)
    ask(2)
    scheduler.advance(by: .seconds(12))
    ask(0)
    scheduler.advance(by: .seconds(100))
    #expect(answers.values.sorted() == ["0: 2", "0: 3", "2: 101", "2: 101"])
    #expect(memos.peek(2) == nil)
    ask(2)
    scheduler.advance(by: .seconds(100))
    #expect(answers.values.last == "2: 104" && calls.values.count { $0 == 2 } == 2)
  }

  @Test("an expired value is kept for the comparison, as long as there is something to confirm")
  func expiredAndCompared() async {
    let (scheduler, calls) = (VirtualScheduler(), Probe<Int>())
    let memos = Memos<Int, Int, Never>.recursive(
      lifetime: .each { key, _ in .seconds(key == 0 ? 1_000 : 10) }, clock: scheduler.clock
    ) { memos, key async in
      calls.record(key)
      return key == 0 ? await memos.value(for: 1) : 0
    }
    func ask(_ keys: Range<Int>) async {
      for key in keys { _ = await memos.value(for: key) }
    }
    await ask(0..<1)
    scheduler.advance(by: .seconds(11))
    // Each of these looks for two expired values.
    await ask(2..<10)
    await ask(0..<1)
    #expect(calls.values == Array(0..<10) + [1], "1 came out equal")
    memos.forget(0)
    scheduler.advance(by: .seconds(11))
    await ask(10..<50)
    #expect(memos.count == 40 && memos.store.table.withLock { $0.base.slots.index.count } == 40)
  }

  @Test("inputs that expire while a computation waits, in many orders: everybody is answered")
  func expiryInEveryOrder() async throws {
    let options = ExplorationOptions(
      runs: Size.usual(1_500, full: 30_000), preemptions: Size.usual(3, full: 4),
      randomRuns: Size.usual(500, full: 10_000), timeIsFree: true)
    let summary = try await explore(options) { run in
      let versions = Counter()
      let memos = Numbers.recursive(
        lifetime: .fixed(.milliseconds(10)), refreshingAfter: .milliseconds(6), clock: run.clock
      ) { memos, key in
        switch key {
        case 0: return versions.increment()
        case 1:
          try await run.clock.sleep(for: .milliseconds(8))
          return 0
        case 2: return try await memos.value(for: 0) + memos.value(for: 1)
        default: return try await memos.value(for: 2) + memos.value(for: 0) * 0
        }
      }
      let readers = [3, 2, 0].map { key in
        run.spawn(name: "reader of \(key)") {
          let first = try await memos.value(for: key)
          try await run.clock.sleep(for: .milliseconds(7))
          return try await (first, memos.value(for: key))
        }
      }
      run.spawn(name: "leaver") {
        try? await run.clock.sleep(for: .milliseconds(4))
        readers[1].cancel()
      }
      for (number, reader) in readers.enumerated() {
        switch await reader.result {
        case .success(let (first, second)):
          try run.require(0 < first && first <= second, "\(first), then \(second)")
        case .failure(let error):
          try run.require(number == 1 && error is CancellationError, "\(error)")
        }
      }
    }
    #expect(summary.jobsFromOutside == 0)
  }

  @Test("a computation that goes on after all was forgotten is no other key's")
  func forgottenAll() async throws {
    let (gate, calls) = (Gate(), Counter())
    let memos = Numbers.recursive { memos, key in
      if key == 1, calls.increment() == 1 { await gate.wait() }
      return key == 0 ? 0 : try await memos.value(for: key - 1)
    }
    let former = Task { try await memos.value(for: 1) }
    await gate.waitForArrivals(1)
    memos.forgetAll()
    // Its computation has the place of the former one.
    _ = try await memos.value(for: 0)
    gate.open()
    _ = try await former.value
    let inputs = memos.store.table.withLock { table in
      table.base.slots.place(of: 0).map { table.graph.inputs(of: $0).count }
    }
    #expect(inputs == 0)
  }

  @Test("a refreshment that was begun before its key was forgotten does not come back")
  func forgottenRefresh() async throws {
    let (gate, calls) = (Gate(), Counter())
    let memos = Memos<Int, Int, any Error> { _ in
      let call = calls.increment()
      if call == 2 { await gate.wait() }
      return call
    }
    _ = try await memos.value(for: 1)
    let refreshed = Task { try await memos.refreshedValue(for: 1) }
    await gate.waitForArrivals(1)
    memos.forget(where: { $0 == 1 })
    #expect(try await memos.value(for: 1) == 3)
    gate.open()
    #expect(try await refreshed.value == 2 && memos.peek(1) == 3)
  }

  @Test("a closure that only looks is outdated as soon as what it saw is")
  func looked() async {
    let calls = Counter()
    let memos = Memos<Int, Int, Never>.recursive { memos, key in
      calls.increment()
      return (memos.peek(key - 1) ?? 0) + 1
    }
    for key in 1...3 { _ = await memos.value(for: key) }
    memos.forget(1)
    #expect(memos.peek(2) == nil && memos.peek(3) == nil)
    #expect(await memos.value(for: 2) == 1 && memos.peek(3) == nil)
    #expect(await memos.value(for: 3) == 2 && calls.value == 5)
  }

  @Test("a failure of an input is no value of its dependents, and the next demand tries again")
  func failures() async throws {
    let world = World()
    let fails = Locked(false)
    let memos = Numbers.recursive { memos, key in
      if key == 1, fails.withLock({ $0 }) { throw Refused() }
      return key == 1 ? world.source(1) : try await memos.value(for: 1)
    }
    _ = try await memos.value(for: 2)
    fails.withLock { $0 = true }
    memos.forget(1)
    await #expect(throws: Refused.self) { try await memos.value(for: 2) }
    fails.withLock { $0 = false }
    #expect(try await memos.value(for: 2) == 0 && memos.count == 2)
  }

  @Test("a value that makes do without a failed input is looked at again at the next demand")
  func caughtFailure() async throws {
    let (calls, failures) = (Counter(), Counter())
    let memos = Numbers.recursive { memos, key in
      if key == 0 {
        if failures.increment() < 4 { throw Refused() }
        return 7
      }
      calls.increment()
      return (try? await memos.value(for: 0)) ?? -1
    }
    var values: [Int] = []
    for _ in 0..<4 { values.append(try await memos.value(for: 1)) }
    #expect(values == [-1, -1, 7, 7] && memos.count == 2)
  }

  @Test(
    "what is asked through a child, a list or an old copy counts; later than the call, it does not")
  func ways() async throws {
    let world = World()
    let leaked = Locked<Numbers?>(nil)
    let memos = Numbers.recursive { memos, key in
      world.computed.record(key)
      switch key {
      case 10:
        async let one = memos.value(for: 1)
        return try await one
      case 11: return try await LazyList([2]).map { try await memos.value(for: $0) }.reduce(0, +)
      case 12:
        leaked.withLock { $0 = memos }
        return 12
      default: return world.source(key)
      }
    }
    for key in 10...12 { _ = try await memos.value(for: key) }
    _ = try await leaked.withLock { $0 }?.value(for: 3)
    for key in 1...3 { memos.forget(key) }
    #expect(memos.peek(10) == nil && memos.peek(11) == nil && memos.peek(12) == 12)
    leaked.withLock { $0 = nil }
  }

  @Test("values and keys go when nobody needs them any more")
  func release() async throws {
    let instances = InstanceCounter()
    struct Held: Sendable, Equatable {
      let member: InstanceCounter.Member
      static func == (one: Held, other: Held) -> Bool { one.member.number == other.member.number }
    }
    let memos = Memos<Int, Held, any Error>.recursive(capacity: .count(10)) { memos, key in
      if key > 0 { _ = try await memos.value(for: key - 1) }
      return Held(member: instances.member(key))
    }
    _ = try await memos.value(for: 100)
    #expect(instances.alive == 10)
    memos.forget(50)
    _ = try await memos.value(for: 100)
    #expect(instances.alive <= 10)
    for key in (0...100).reversed() { memos.forget(key) }
    #expect(instances.alive == 0 && memos.store.table.withLock { $0.base.slots.index.count == 0 })
    #expect(memos.store.table.withLock { $0.brokenInvariant } == nil)
  }

  #if DEBUG
    static let depth = 5_000
  #else
    static let depth = 100_000
  #endif

  @Test("a chain of 100 000 keys is marked, looked at and computed anew without recursion")
  func deep() async throws {
    let source = Locked(0)
    let calls = Counter()
    let memos = Numbers.recursive { memos, key in
      calls.increment()
      return key == 0 ? source.withLock { $0 } : try await memos.value(for: key - 1)
    }
    _ = try await memos.value(for: Self.depth)
    memos.forget(0)
    #expect(memos.peek(Self.depth) == nil)
    #expect(try await memos.value(for: Self.depth) == 0 && calls.value == Self.depth + 2)
    source.withLock { $0 = 1 }
    memos.forget(0)
    #expect(try await memos.value(for: Self.depth) == 1 && calls.value == 2 * Self.depth + 3)
  }
}
