import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// Random schedules in virtual time: 64 tasks ask for 1000 keys, each of which takes its time.
@Suite("Memos: each key once per lifetime, in any schedule", .tags(.long), .inTurn)
struct MemosScheduleTests {
  /// When each computation of a key began and ended.
  struct Span: Sendable {
    let began: Duration
    var ended: Duration?
    var failed = false
  }

  struct Plan {
    var generator: SeededGenerator
    let tasks = 64
    let keys = 1_000
    let demands: Int
    let lifetime: Duration?
    let isRetrying: Bool
    /// Some computations fail; some keys are plain.
    let failing: Int

    init(seed: UInt64) {
      generator = SeededGenerator(seed: seed)
      demands = Int.random(in: 2...12, using: &generator)
      lifetime =
        Bool.random(using: &generator)
        ? .milliseconds(Int.random(in: 1...200, using: &generator)) : nil
      isRetrying = Bool.random(using: &generator)
      failing = [Int.max, 7, 3].randomElement(using: &generator) ?? .max
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
      Int.random(in: range, using: &generator)
    }
    /// Small keys more often than large ones.
    mutating func key() -> Int {
      let bound = number(1...keys)
      return number(1...bound) - 1
    }
  }

  @Test("each key is computed once per lifetime; everybody gets the right value")
  func once() {
    for schedule in 0..<RandomCases.count("TAILRACE_SCHEDULES", debug: 50, optimised: 10_000) {
      let seed = RandomCases.firstSeed &+ UInt64(schedule)
      Self.run(seed: seed)
    }
  }

  static func run(seed: UInt64) {
    var plan = Plan(seed: seed)
    let scheduler = VirtualScheduler()
    let spans = Locked<[Int: [Span]]>([:])
    let (failing, start) = (plan.failing, scheduler.now)
    let memos = Memos<Int, Int, any Error>(
      lifetime: plan.lifetime.map { .fixed($0) } ?? .forever, retryingFailures: plan.isRetrying,
      clock: scheduler.clock
    ) { (key: Int) async throws in
      let now = start.duration(to: scheduler.now)
      let (isFirst, number) = spans.withLock { spans in
        let isFirst = spans[key]?.last.map { $0.ended != nil } ?? true
        spans[key, default: []].append(Span(began: now))
        return (isFirst, spans[key]?.count ?? 0)
      }
      #expect(isFirst, "seed \(seed): key \(key) is computed twice at once")
      // Not the task of any demand: that would be cancelled with it.
      if key % 5 > 0 { try await scheduler.clock.sleep(for: .milliseconds(key % 20)) }
      let ended = start.duration(to: scheduler.now)
      let failed = (key + number) % failing == 0
      spans.withLock { spans in
        guard var all = spans[key], let last = all.indices.last else { return }
        all[last].ended = ended
        all[last].failed = failed
        spans[key] = all
      }
      if failed { throw Refused() }
      return key
    }
    let (answers, demanded) = (Counter(), plan.tasks * plan.demands)
    for _ in 0..<plan.tasks {
      let steps = (0..<plan.demands).map { _ in (key: plan.key(), pause: plan.number(0...30)) }
      let cancelledAt = plan.number(1...4) == 1 ? plan.number(0...200) : nil
      let task = scheduler.schedule {
        for (key, pause) in steps {
          try? await scheduler.clock.sleep(for: .milliseconds(pause))
          do {
            #expect(try await memos.value(for: key) == key, "seed \(seed)")
          } catch is Refused {
          } catch {
            #expect(error is CancellationError && Task.isCancelled, "seed \(seed): \(error)")
          }
          answers.increment()
        }
      }
      if let cancelledAt {
        scheduler.schedule(after: .milliseconds(cancelledAt)) { task.cancel() }
      }
    }
    scheduler.run()
    // Nobody hangs, and what nobody waits for any more has come to its end.
    #expect(answers.value == demanded, "seed \(seed)")
    let all = spans.withLock { $0 }
    #expect(memos.statistics.loads == all.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
    for (key, spans) in all {
      for (one, next) in zip(spans, spans.dropFirst()) {
        guard let ended = one.ended else {
          Issue.record("seed \(seed): key \(key) has not ended")
          continue
        }
        if one.failed, plan.isRetrying { continue }
        let age = next.began - ended
        #expect(plan.lifetime.map { age >= $0 } == true, "seed \(seed): key \(key), after \(age)")
      }
    }
  }

  @Test(
    "forgotten, refreshed, evicted, on all threads: the right value, and nothing is left behind")
  func chaos() async {
    let instances = InstanceCounter()
    #if DEBUG
      let (tasks, demands) = (32, 300)
    #else
      let (tasks, demands) = (64, 5_000)
    #endif
    do {
      let memos = Memos<Int, InstanceCounter.Member, any Error>(
        capacity: .count(50), lifetime: .fixed(.milliseconds(2)), refreshingAfter: .milliseconds(1),
        retryingFailures: true
      ) { (key: Int) async throws in
        if key % 3 > 0 { await Task.yield() }
        if key % 17 == 0 { throw Refused() }
        return instances.member(key)
      }
      await withTaskGroup { group in
        for number in 0..<tasks {
          group.addTask {
            var generator = SeededGenerator(seed: RandomCases.firstSeed &+ UInt64(number))
            for _ in 0..<demands {
              let key = Int.random(in: 0..<200, using: &generator)
              switch Int.random(in: 0..<40, using: &generator) {
              case 0: memos.forget(key)
              case 1: memos.refresh(key)
              case 2: if key == 0 { memos.forgetAll() }
              default:
                do {
                  let value = try await memos.value(for: key)
                  #expect(value.number == key)
                } catch {
                  #expect(error is Refused && key % 17 == 0)
                }
              }
            }
          }
        }
      }
      #expect(memos.count <= 50)
    }
    await instances.waitUntilEmpty()
  }
}
