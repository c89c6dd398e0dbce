import Dispatch
import Synchronization
import Tailrace
import TailraceTesting
import Testing

/// A scheduler, as the law of isolation sees it. A new one adds a row.
struct Place: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let make: @Sendable () -> any Scheduler
  /// Whether work that was given to a scheduler is where it belongs.
  let isRight: @Sendable (any Scheduler) -> Bool
  /// Its work never overlaps.
  var isSerial = true

  static let all = [
    Place("QueueScheduler") { QueueScheduler(name: "law") },
    Place("QueueScheduler on a concurrent target") {
      QueueScheduler(name: "law", target: .global())
    },
    Place("QueueScheduler.main") { QueueScheduler.main },
    Place("VirtualScheduler") { VirtualScheduler() },
    Place("a scheduler of a user's own") { DoorScheduler() },
    Place("ImmediateScheduler", isSerial: false, isRight: { _ in currentScheduler == nil }) {
      ImmediateScheduler.shared
    },
  ]

  init(
    _ name: String, isSerial: Bool = true,
    isRight: @escaping @Sendable (any Scheduler) -> Bool = { currentScheduler === $0 },
    make: @escaping @Sendable () -> any Scheduler
  ) {
    testDescription = name
    self.make = make
    self.isRight = isRight
    self.isSerial = isSerial
  }

  /// Lets time pass where it does not pass by itself.
  static func pass(on scheduler: any Scheduler) {
    (scheduler as? VirtualScheduler)?.advance(by: .milliseconds(10))
  }
}

/// The ways to bring code to a scheduler.
enum Entry: CaseIterable, Sendable {
  case plain, delayed, repeated, recursive, asynchronous, asynchronousDelayed, run

  /// Begins, and gives what waits for the end.
  func begin(
    on scheduler: some Scheduler, _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () async -> Void {
    switch self {
    case .plain: return Self.end(of: scheduler.schedule(body))
    case .delayed: return Self.end(of: scheduler.schedule(after: .milliseconds(1), body))
    case .repeated:
      let handle = Probe<ScheduledWork>()
      handle.record(
        scheduler.schedule(every: .milliseconds(1)) {
          body()
          for work in handle.values { work.cancel() }
        })
      return Self.end(of: handle.values[0])
    case .recursive: return Self.end(of: scheduler.scheduleRecursively { _ in body() })
    case .asynchronous:
      let task = scheduler.schedule { () async in body() }
      return { await task.value }
    case .asynchronousDelayed:
      let task = scheduler.schedule(after: .milliseconds(1)) { () async in body() }
      return { await task.value }
    case .run:
      let task = Task.immediate { await scheduler.run { body() } }
      return { await task.value }
    }
  }

  private static func end(of work: ScheduledWork) -> @Sendable () async -> Void {
    { await work.value }
  }
}

@Suite("The law of isolation, for every scheduler", .hangLimit, .inTurn)
struct SchedulerLawTests {
  @Test("code runs where its scheduler says", arguments: Place.all, Entry.allCases)
  func place(_ place: Place, _ entry: Entry) async {
    let scheduler = place.make()
    let probe = Probe<Bool>()
    let end = entry.begin(on: scheduler) { probe.record(place.isRight(scheduler)) }
    Place.pass(on: scheduler)
    await end()
    #expect(probe.values.first == true)
    #expect(!probe.values.contains(false))
  }

  @Test("two pieces of work never overlap", arguments: Place.all.filter(\.isSerial))
  func exclusion(_ place: Place) async {
    let scheduler = place.make()
    let (isInside, overlaps, ran) = (Flag(), Counter(), Counter())
    let ends = Probe<@Sendable () async -> Void>()
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for entry in Entry.allCases {
            for _ in 0..<10 {
              ends.record(
                entry.begin(on: scheduler) {
                  if !isInside.raise() { overlaps.increment() }
                  ran.increment()
                  isInside.lower()
                })
            }
          }
        }
      }
    }
    Place.pass(on: scheduler)
    for end in ends.values { await end() }
    #expect(overlaps.value == 0)
    #expect(ran.value >= ends.count)
  }

  /// Runs a closure when it is released.
  private final class Echo: Sendable {
    private let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
  }

  /// Everything that can be asked of a scheduler, as code does that is called by it. A lock that is
  /// held meanwhile is one that this code waits for, for ever.
  private static func reenter(_ scheduler: some Scheduler) {
    scheduler.schedule {}
    scheduler.schedule(after: .seconds(1000)) {}.cancel()
    let repeated = scheduler.schedule(every: .seconds(1000)) {}
    repeated.onEnd {}
    repeated.cancel()
    scheduler.scheduleRecursively { _ in }.cancel()
    scheduler.performAsCurrent {}
    _ = scheduler.now
    _ = currentScheduler
    (scheduler as? VirtualScheduler).map { _ = $0.pendingCount }
  }

  @Test("no lock is held while a user's code runs, ends, or is released", arguments: Place.all)
  func reentrancy(_ place: Place) async {
    let scheduler = place.make()
    let probe = Probe<String>()
    for entry in Entry.allCases {
      let make = {
        let echo = Echo {
          Self.reenter(scheduler)
          probe.record("\(entry) is released")
        }
        return entry.begin(on: scheduler) {
          withExtendedLifetime(echo) { Self.reenter(scheduler) }
          probe.record("\(entry)")
        }
      }
      let end = make()
      Place.pass(on: scheduler)
      await end()
    }
    // The last of the releases may be on its way.
    await probe.waitForCount(Entry.allCases.count * 2)
    for entry in Entry.allCases {
      #expect(probe.values.contains("\(entry)"))
      #expect(probe.values.count { $0 == "\(entry) is released" } == 1)
    }
  }

  @Test("no lock is held while work is cancelled and who waits hears of it", arguments: Place.all)
  func reentrantEnd(_ place: Place) async {
    let scheduler = place.make()
    let probe = Probe<String>()
    let make = {
      let echo = Echo {
        Self.reenter(scheduler)
        probe.record("released")
      }
      return [
        scheduler.schedule(after: .seconds(1000)) { [echo] in _ = echo },
        scheduler.schedule(every: .seconds(1000)) { [echo] in _ = echo },
      ]
    }
    let works = make()
    for work in works {
      work.onEnd {
        Self.reenter(scheduler)
        work.cancel()
        work.onEnd { probe.record("ended") }
        if work.isOver && work.isCancelled { probe.record("over") }
      }
      work.cancel()
    }
    // Both hold what is released: the second one lets go of it, then tells of its end.
    #expect(probe.values == ["ended", "over", "released", "ended", "over"])
    for work in works { await work.value }
  }

  @Test("waiting takes no thread", arguments: Place.all)
  func waiting(_ place: Place) async {
    let scheduler = place.make()
    let work = scheduler.schedule(after: .seconds(1000)) {}
    // More than any pool has threads. Each waits by the time the next one starts.
    let tasks = (0..<300).map { number in
      Task.immediate {
        switch number % 3 {
        case 0: await work.value
        case 1: try? await scheduler.sleep(for: .seconds(1000))
        default: await Self.firstTick(of: scheduler)
        }
      }
    }
    await Task.detached {}.value
    let turn = scheduler.schedule {}
    Place.pass(on: scheduler)
    await turn.value
    work.cancel()
    for task in tasks {
      task.cancel()
      await task.value
    }
  }

  private static func firstTick(of scheduler: some Scheduler) async {
    for await _ in scheduler.ticks(every: .seconds(1000)) { break }
  }
}

/// Raised by one at a time.
private final class Flag: Sendable {
  private let isRaised = Atomic(false)

  func raise() -> Bool { !isRaised.exchange(true, ordering: .relaxed) }
  func lower() { isRaised.store(false, ordering: .relaxed) }
}
