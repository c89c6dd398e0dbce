import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceMemos

/// Random programs over memos, on virtual time, beside a model of what may be served.
///
/// Sources change, and the program says so, by `forget` or `refresh`. A key is the sum of others, in a
/// small ring of numbers, so that many changes come out equal. The model knows all values that each
/// source has had, and since when each of them may not be served any more.
@Suite("Memos: random programs, beside a model", .tags(.long), .hangLimit, .inTurn)
struct MemosProgramTests {
  /// A value of a key. That it is the right one is seen by its number; that it is released, by its
  /// member.
  struct Held: Sendable, Equatable {
    let number: Int
    let member: InstanceCounter.Member

    static func == (one: Held, other: Held) -> Bool { one.number == other.number }
  }

  typealias Table = Memos<Int, Held, any Error>

  static let ring = 3

  /// What a program consists of.
  enum Way: Sendable { case value, refreshed, peek }

  struct Plan: Sendable {
    var random: SeededGenerator
    let sources: Int
    /// Which keys each key asks for, in turn.
    let asks: [[Int]]
    /// How each of these is asked: a source may be refreshed, or only looked for.
    let ways: [[Way]]
    let isBatched: Bool
    /// Computations that nobody waits for are cancelled. Then a key may be computed alone, too.
    let cancelsUnobserved: Bool
    let isSingle: Bool
    let remembersFailures: Bool
    let refreshing: Duration?
    let lifetime: Duration?
    let serving: Duration?
    let capacity: Int?
    let failing: Int
    let delays: [Int]

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      isBatched = Int.random(in: 0..<5, using: &random) == 0
      sources = Int.random(in: 1...4, using: &random)
      let derived = isBatched ? 0 : Int.random(in: 1...6, using: &random)
      var asks = Array(repeating: [Int](), count: sources)
      for key in sources..<(sources + derived) {
        let count = Int.random(in: 1...3, using: &random)
        asks.append((0..<count).map { _ in Int.random(in: 0..<key, using: &random) })
      }
      self.asks = asks
      ways = asks.map { keys in
        keys.map { key in
          switch Int.random(in: 0..<12, using: &random) {
          case 0 where key < 2: .refreshed
          case 1: .peek
          default: .value
          }
        }
      }
      remembersFailures = Int.random(in: 0..<3, using: &random) == 0
      let isTimed = Int.random(in: 0..<3, using: &random) == 0
      lifetime = isTimed ? .milliseconds(Int.random(in: 20...120, using: &random)) : nil
      serving =
        isTimed && isBatched && Bool.random(using: &random)
        ? .milliseconds(Int.random(in: 1...100, using: &random)) : nil
      refreshing =
        Int.random(in: 0..<3, using: &random) == 0
        ? .milliseconds(Int.random(in: 5...60, using: &random)) : nil
      capacity =
        Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 1...5, using: &random) : nil
      failing = [Int.max, .max, 9, 4].randomElement(using: &random) ?? .max
      // Of their own, so that all else is as without them.
      var others = SeededGenerator(seed: ~seed)
      cancelsUnobserved = isBatched && Int.random(in: 0..<3, using: &others) > 0
      isSingle = cancelsUnobserved && Bool.random(using: &others)
      delays = asks.map { _ in max(0, Int.random(in: -6...8, using: &random)) }
      self.random = random
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  }

  /// What the world does, and what the memos may know of it.
  struct Model: Sendable {
    struct Version: Sendable {
      let number: Int
      let time: Duration
    }

    /// All values of each source, and the first of them that may be served.
    var versions: [[Version]]
    var floors: [Int]
    /// How often each closure was run, and all together.
    var calls = 0
    var cancelled = 0
    var fails = true
    /// When the last run of each closure ended, and how often it has begun again at once since.
    private var ended: [Duration?]
    private var restarts: [Int]

    init(sources: Int, keys: Int) {
      versions = (0..<sources).map { _ in [Version(number: 0, time: .zero)] }
      floors = Array(repeating: 0, count: sources)
      (ended, restarts) = (Array(repeating: nil, count: keys), Array(repeating: 0, count: keys))
    }

    mutating func begins(_ key: Int, at time: Duration) {
      calls += 1
      restarts[key] = ended[key] == time ? restarts[key] + 1 : 0
    }

    mutating func ends(_ key: Int, at time: Duration) { ended[key] = time }

    /// Whether a key, or one that it asks for, began again as often as it may. Such a result is given to all who
    /// wait, late.
    func isLate(_ key: Int, _ plan: Plan) -> Bool {
      restarts[key] >= Int(DependencyGraph.usualRestarts)
        || plan.asks[key].contains { isLate($0, plan) }
    }

    /// The first version of a source that may be served, if values live that long.
    func floor(_ source: Int, at time: Duration, living: Duration?) -> Int {
      guard let living else { return floors[source] }
      let latest = versions[source].lastIndex { $0.time <= time - living } ?? 0
      return max(floors[source], latest)
    }

    /// The numbers that a key may have, if each source has a version since its floor.
    func numbers(of key: Int, _ floors: [Int], _ plan: Plan) -> Set<Int> {
      if key < versions.count { return Set(versions[key][floors[key]...].map(\.number)) }
      var sums: Set<Int> = [key % MemosProgramTests.ring]
      for (other, way) in zip(plan.asks[key], plan.ways[key]) {
        var numbers = numbers(of: other, floors, plan)
        if way == .peek { numbers.insert(0) }
        sums = Set(sums.flatMap { sum in numbers.map { (sum + $0) % MemosProgramTests.ring } })
      }
      return sums
    }
  }

  @Test(
    "every value served is one that the model allows, every computation is counted, nothing leaks")
  func programs() {
    let cancelled = Counter()
    defer { #expect(cancelled.value > 0, "no program has cancelled a computation") }
    for round in 0..<RandomCases.count("TAILRACE_PROGRAMS", debug: 300, optimised: 5_000) {
      let problems = Self.run(seed: RandomCases.firstSeed &+ UInt64(round), cancelled)
      guard problems.isEmpty else {
        let seed = RandomCases.firstSeed &+ UInt64(round)
        Issue.record("TAILRACE_SEED=\(seed): \(problems.joined(separator: "\n"))")
        return
      }
    }
  }

  @Test("a key is forgotten below a result that was out of date when it was there")
  func forgottenBelowAnExpiredResult() { #expect(Self.run(seed: 646_328_850) == []) }

  @Test("a computation asks twice for a key whose first answer was out of date when it was given")
  func askedTwice() { #expect(Self.run(seed: 4_279_481_141) == []) }

  @Test("a result that has begun again too often is given late")
  func late() { #expect(Self.run(seed: 1_650_237_611) == []) }

  @Test("what saw no value, and an input of the missing one is forgotten")
  func forgottenBelowAnAbsence() { #expect(Self.run(seed: 700_994) == []) }

  /// - Parameter cancelled: counts the computations that saw their cancellation, of memos that cancel what
  ///   nobody waits for.
  static func run(seed: UInt64, _ cancelled: Counter? = nil) -> [String] {
    var plan = Plan(seed: seed)
    let (scheduler, instances, problems) = (VirtualScheduler(), InstanceCounter(), Probe<String>())
    let trace = Probe<String>()
    do {
      let world = World(plan, scheduler, instances, trace)
      let memos = world.makeMemos()
      let answers = Counter()
      var asked = 0
      for _ in 0..<plan.number(5...40) {
        let key = plan.number(0...plan.asks.count - 1)
        switch plan.number(0...11) {
        case 0, 1: world.change(plan.number(0...plan.sources - 1), in: memos, by: .forget)
        case 2:
          world.change(
            plan.number(0...plan.sources - 1), in: memos,
            by: plan.number(0...1) == 0 ? .set : .refresh)
        case 3:
          world.trace.record("\(world.now): forget \(key)")
          memos.forget(key)
        case 4 where plan.number(0...3) == 0: world.forgetAll(memos)
        case 5: world.change(0, in: memos, by: .forgetWhere)
        case 6:
          world.trace.record("\(world.now): refresh \(key)")
          scheduler.schedule { () async in memos.refresh(key) }
        case 7: scheduler.advance(by: .milliseconds(plan.number(0...60)))
        case 8: scheduler.advance(by: .milliseconds(plan.number(0...5)))
        default:
          asked += 1
          let task = world.ask(key, of: memos, answers, problems)
          if plan.number(0...4) == 0 {
            scheduler.schedule(after: .milliseconds(plan.number(0...6))) { task.cancel() }
          }
        }
        if plan.number(0...1) == 0 { scheduler.advance(by: .zero) }
      }
      scheduler.run()
      if answers.value != asked {
        problems.record("\(asked) asked, \(answers.value) were answered")
      }
      world.finish(memos, problems)
      if plan.cancelsUnobserved { cancelled?.increment(by: world.model.withLock { $0.cancelled }) }
    }
    if instances.alive != 0 { problems.record("\(instances.alive) values were left behind") }
    return problems.count == 0 ? [] : problems.values + ["\(plan)"] + trace.values
  }

  /// The sources, the closure, and the model.
  final class World: Sendable {
    let plan: Plan
    let scheduler: VirtualScheduler
    let instances: InstanceCounter
    let model: Locked<Model>
    let start: VirtualScheduler.Instant
    let trace: Probe<String>

    init(
      _ plan: Plan, _ scheduler: VirtualScheduler, _ instances: InstanceCounter,
      _ trace: Probe<String>
    ) {
      (self.plan, self.scheduler, self.instances, self.trace) = (
        plan, scheduler, instances, trace
      )
      model = Locked(Model(sources: plan.sources, keys: plan.asks.count))
      start = scheduler.now
    }

    var now: Duration { start.duration(to: scheduler.now) }
    /// How long a value may be served: those that were computed from it are a little later.
    var living: Duration? {
      let slack = Duration.milliseconds(plan.delays.reduce(20) { $0 + 4 * $1 })
      return plan.lifetime.map { $0 + (plan.serving ?? .zero) + slack }
    }

    func makeMemos() -> Table {
      let capacity: Table.Capacity = plan.capacity.map { .count($0) } ?? .unbounded
      if plan.isSingle {
        return Table(
          capacity: capacity, lifetime: plan.lifetime.map { .fixed($0) } ?? .forever,
          refreshingAfter: plan.refreshing, servingStaleFor: plan.serving,
          retryingFailures: !plan.remembersFailures, cancelsUnobservedSteps: true,
          clock: scheduler.clock
        ) { [self] key in
          model.withLock { $0.calls += 1 }
          try await load()
          return try read(key)
        }
      }
      if plan.isBatched {
        return Table(
          batchSize: 2, capacity: capacity, lifetime: plan.lifetime.map { .fixed($0) } ?? .forever,
          refreshingAfter: plan.refreshing, servingStaleFor: plan.serving,
          retryingFailures: !plan.remembersFailures,
          cancelsUnobservedSteps: plan.cancelsUnobserved, clock: scheduler.clock
        ) { [self] keys in
          var values: [Int: Held] = [:]
          for key in keys { model.withLock { $0.calls += 1 }; _ = key }
          try await load()
          for key in keys { values[key] = try read(key) }
          return values
        }
      }
      return .recursive(
        capacity: capacity, lifetime: plan.lifetime.map { .fixed($0) } ?? .forever,
        refreshingAfter: plan.refreshing, retryingFailures: !plan.remembersFailures,
        clock: scheduler.clock
      ) { [self] memos, key in
        model.withLock { $0.begins(key, at: now) }
        defer { model.withLock { $0.ends(key, at: now) } }
        trace.record("\(now): \(key) begins")
        if plan.delays[key] > 0 {
          try await scheduler.clock.sleep(for: .milliseconds(plan.delays[key]))
        }
        if key < plan.sources { return try read(key) }
        var sum = key
        for (other, way) in zip(plan.asks[key], plan.ways[key]) {
          switch way {
          case .value: sum += try await memos.value(for: other).number
          case .refreshed: sum += try await memos.refreshedValue(for: other).number
          case .peek: sum += memos.peek(other)?.number ?? 0
          }
        }
        trace.record("\(now): \(key) computed as \(sum % ring)")
        return Held(number: sum % ring, member: instances.member())
      }
    }

    /// Takes its time. It may be cancelled, and it may ignore that.
    private func load() async throws {
      do { try await scheduler.clock.sleep(for: .milliseconds(3)) } catch {
        let ignores = model.withLock { model in
          model.cancelled += 1
          return model.cancelled % 2 == 0
        }
        trace.record("\(now): cancelled, which is ignored: \(ignores)")
        if !ignores { throw error }
      }
    }

    /// Reads a source now. This is at the same time as its computation ends.
    private func read(_ source: Int) throws -> Held {
      let number = try model.withLock { model -> Result<Int, Refused> in
        if model.fails, model.calls % plan.failing == 0 { return .failure(Refused()) }
        return .success(model.versions[source].last?.number ?? 0)
      }.get()
      trace.record("\(now): \(source) read as \(number)")
      return Held(number: number, member: instances.member())
    }

    enum Telling { case forget, forgetWhere, refresh, set }

    /// A source changes, and the memos are told.
    func change(_ source: Int, in memos: Table, by wanted: Telling) {
      // A batch has read its sources before its keys have their values.
      let way = plan.isBatched ? Telling.forget : wanted
      let now = now
      let floor = model.withLock { model in
        let number = ((model.versions[source].last?.number ?? 0) + model.calls % 3) % ring
        model.versions[source].append(Model.Version(number: number, time: now))
        if way != .refresh { model.floors[source] = model.versions[source].count - 1 }
        return model.versions[source].count - 1
      }
      trace.record(
        "\(now): \(way) \(source), now \(model.withLock { $0.versions[source].last?.number ?? 0 })")
      switch way {
      case .forget: memos.forget(source)
      case .forgetWhere: memos.forget { $0 == source }
      case .set:
        let number = model.withLock { $0.versions[source].last?.number ?? 0 }
        memos.set(Held(number: number, member: instances.member()), for: source)
      case .refresh:
        scheduler.schedule { [self] () async in
          // It may join a computation that has begun before; that, too, reads the source at its end.
          guard (try? await memos.refreshedValue(for: source)) != nil else { return }
          trace.record("\(now): refreshed \(source)")
          guard plan.serving == nil else { return }
          model.withLock { $0.floors[source] = max($0.floors[source], floor) }
        }
      }
    }

    func forgetAll(_ memos: Table) {
      trace.record("\(now): forget all")
      memos.forgetAll()
      model.withLock { model in
        for source in model.floors.indices {
          model.floors[source] = model.versions[source].count - 1
        }
      }
    }

    func ask(_ key: Int, of memos: Table, _ answers: Counter, _ problems: Probe<String>) -> Task<
      Void, Never
    > {
      scheduler.schedule { [self] () async in
        let (began, living) = (now, living)
        let floors = model.withLock { model in
          model.floors.indices.map { model.floor($0, at: began, living: living) }
        }
        do {
          let number = try await memos.value(for: key).number
          trace.record("\(now): \(key) asked at \(began), answered \(number)")
          let allowed = model.withLock { model in
            model.numbers(
              of: key, model.isLate(key, plan) ? floors.map { _ in 0 } : floors, plan)
          }
          if !allowed.contains(number) {
            problems.record("key \(key) is \(number) at \(began), not one of \(allowed.sorted())")
          }
        } catch is Refused {
          if plan.failing == .max { problems.record("nothing fails") }
        } catch {
          if !Task.isCancelled { problems.record("\(error)") }
        }
        answers.increment()
      }
    }

    /// At rest, every key has the value that it would have without memos; and all calls were counted.
    func finish(_ memos: Table, _ problems: Probe<String>) {
      model.withLock { $0.fails = false }
      if let living, !plan.remembersFailures {
        scheduler.advance(by: living)
      } else {
        // Refreshments that have failed are made up for.
        for source in 0..<plan.sources { memos.forget(source) }
      }
      for key in plan.asks.indices {
        scheduler.schedule { [self] () async in
          let number = (try? await memos.value(for: key))?.number
          let exact = model.withLock { model in
            model.numbers(of: key, model.versions.map { $0.count - 1 }, plan)
          }
          if number.map(exact.contains) != true {
            problems.record("at rest, key \(key) is \(number ?? -1), not \(exact)")
          }
        }
        scheduler.run()
      }
      checkLooks(memos, problems)
      let calls = model.withLock { $0.calls }
      let loads = memos.statistics.loads
      // A batch whose keys were forgotten before it has left is not sent.
      if plan.isBatched ? loads < calls : loads != calls {
        problems.record("\(calls) calls, and \(loads) loads are counted")
      }
      if let broken = memos.store.table.withLock({ $0.brokenInvariant }) { problems.record(broken) }
    }

    /// What has only looked at others has seen what they are.
    private func checkLooks(_ memos: Table, _ problems: Probe<String>) {
      guard plan.capacity == nil, !plan.isBatched else { return }
      for (key, ways) in plan.ways.enumerated() where ways.contains(.peek) {
        guard let number = memos.peek(key)?.number, !ways.contains(.refreshed) else { continue }
        let sum = zip(plan.asks[key], ways).reduce(key) { sum, ask in
          sum + (memos.peek(ask.0)?.number ?? 0)
        }
        let others = zip(plan.asks[key], ways).filter { $0.1 == .value }.map(\.0)
        // To see nothing and then to wait for the same key is one dependency, on its value.
        let looks = zip(plan.asks[key], ways).filter { $0.1 == .peek }.map(\.0)
        guard Set(others).isDisjoint(with: looks) else { continue }
        if others.allSatisfy({ memos.peek($0) != nil }), sum % ring != number {
          problems.record("at rest, key \(key) is \(number), and what it sees is \(sum % ring)")
        }
      }
    }
  }
}
