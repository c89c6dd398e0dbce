import Foundation
import Tailrace
import TailraceTesting
import Testing

@Suite("Stress: every piece runs once or is cancelled, in order per producer", .hangLimit, .inTurn)
struct SchedulerStressTests {
  #if DEBUG
    private static let pieces = 50_000
  #else
    private static let pieces = 1_000_000
  #endif
  private static let producers = 8

  /// The work that ran, in order. Not synchronised: that is the scheduler's promise.
  private final class Log: @unchecked Sendable {
    // Guard: the scheduler under test. May touch it: work on that scheduler.
    var ran: [[Int]] = Array(repeating: [], count: SchedulerStressTests.producers)
  }

  enum Target: String, CaseIterable { case none, serial, concurrent }

  @Test("eight producers, random cancels", arguments: Target.allCases)
  func producers(_ target: Target) async {
    let queue: DispatchQueue? =
      switch target {
      case .none: nil
      case .serial: DispatchQueue(label: "serial")
      case .concurrent: .global()
      }
    let scheduler = QueueScheduler(name: "stress", target: queue)
    let log = Log()
    let instances = InstanceCounter()
    let pieces = Self.pieces / Self.producers
    let seed = UInt64.random(in: 0..<1 << 32)
    let cancelled = await withTaskGroup(of: (Int, Set<Int>).self) { group in
      for producer in 0..<Self.producers {
        group.addTask {
          var generator = SeededGenerator(seed: seed &+ UInt64(producer))
          var held: [(Int, ScheduledWork)] = []
          var cancelled: [(Int, ScheduledWork)] = []
          for number in 0..<pieces {
            let member = number % 64 == 0 ? instances.member(number) : nil
            let work = scheduler.schedule {
              log.ran[producer].append(number)
              _ = member
            }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
              work.cancel()
              cancelled.append((number, work))
            case 1: held.append((number, work))
            case 2:
              if let (number, work) = held.randomElement(using: &generator) {
                work.cancel()
                cancelled.append((number, work))
              }
            case 3 where number % 1024 == 3: await work.value
            default: break
            }
          }
          await scheduler.schedule {}.value
          for (_, work) in held + cancelled { await work.value }
          return (producer, Set(cancelled.filter { $0.1.isCancelled }.map(\.0)))
        }
      }
      return await group.reduce(into: [Int: Set<Int>]()) { $0[$1.0] = $1.1 }
    }
    let ran = await scheduler.run { log.ran }
    for producer in 0..<Self.producers {
      let expected = (0..<pieces).filter { !(cancelled[producer]?.contains($0) ?? true) }
      // A piece that was cancelled while it ran has run, and says that it was cancelled.
      let both = Set(ran[producer]).intersection(cancelled[producer] ?? [])
      #expect(ran[producer].filter { !both.contains($0) } == expected, "seed \(seed)")
      #expect(both.count <= 1 + pieces / 100, "seed \(seed)")
      #expect(ran[producer] == ran[producer].sorted(), "seed \(seed)")
      #expect(Set(ran[producer]).count == ran[producer].count, "seed \(seed)")
    }
    #expect(instances.alive == 0)
  }

  @Test("closures, tasks, actors, timers and cancellations at once")
  func everything() async {
    actor Resident {
      let scheduler: QueueScheduler
      var count = 0
      init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }
      nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }
      func add() { count += 1 }
    }
    let (first, second) = (QueueScheduler(name: "first"), QueueScheduler(name: "second"))
    let (one, two) = (Resident(first), Resident(second))
    let rounds = Self.pieces / 500
    let recursive = Counter()
    await withTaskGroup { group in
      for task in 0..<Self.producers {
        group.addTask(executorPreference: task % 2 == 0 ? first : nil) {
          for round in 0..<rounds / Self.producers {
            await one.add()
            await two.add()
            await second.run { second.assumeCurrent() }
            if round % 16 == 0 {
              await first.schedule(after: .microseconds(round % 50)) { first.assumeCurrent() }.value
              let sleeper = Task { try await second.sleep(for: .seconds(1000)) }
              if round % 32 == 0 { await second.run {} }
              sleeper.cancel()
              await #expect(throws: CancellationError.self) { try await sleeper.value }
              await second.scheduleRecursively { again in
                if recursive.increment() % 5 != 0 { again() }
              }.value
            }
          }
        }
      }
    }
    let each = rounds / Self.producers * Self.producers
    #expect(await one.count == each)
    #expect(await two.count == each)
  }

  @Test("waiting, cancelling and running race, and everybody hears of the end")
  func races() async {
    let scheduler = QueueScheduler(name: "races")
    let (ran, released) = (Counter(), InstanceCounter())
    for round in 0..<Self.pieces / 500 {
      let work = {
        let member = released.member()
        return scheduler.schedule { [member] in ran.increment(by: 1 + member.number) }
      }()
      await withTaskGroup { group in
        for _ in 0..<3 { group.addTask { await work.value } }
        if round % 2 == 0 { group.addTask { work.cancel() } }
        group.addTask { work.onEnd { ran.increment(by: 0) } }
      }
      #expect(work.isOver)
    }
    await scheduler.run {}
    #expect(released.alive == 0)
    #expect(ran.value >= Self.pieces / 1000)
  }

  @Test("a timer that rings while it is still being set rings again")
  func earlyTimers() async {
    await withTaskGroup { group in
      for _ in 0..<16 {
        group.addTask {
          for _ in 0..<500 {
            let probe = Probe<Int>()
            let work = ImmediateScheduler.shared.schedule(every: .nanoseconds(1), after: .zero) {
              probe.record(1)
            }
            await probe.waitForCount(3)
            work.cancel()
            await work.value
          }
        }
      }
    }
  }
}

extension QueueScheduler {
  fileprivate func assumeCurrent() {
    if isIsolatingCurrentContext() != true { Issue.record("runs elsewhere") }
  }
}
