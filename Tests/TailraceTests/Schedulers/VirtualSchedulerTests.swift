import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("VirtualScheduler: time passes when a test says so", .hangLimit, .inTurn)
struct VirtualSchedulerTests {
  private let scheduler = VirtualScheduler()
  private let probe = Probe<String>()

  private func seconds(_ instant: VirtualScheduler.Instant) -> Int64 {
    instant.offset.components.seconds
  }

  private func note(_ text: String) { probe.record("\(text) at \(seconds(scheduler.now))") }

  @Test("nothing runs by itself, and now is each action's date")
  func dates() {
    scheduler.schedule(after: .seconds(3)) { note("c") }
    scheduler.schedule(after: .seconds(1)) { note("a") }
    scheduler.schedule(at: .start + .seconds(2)) { note("b") }
    scheduler.schedule { note("now") }
    #expect(probe.count == 0)
    scheduler.advance(by: .zero)
    #expect(probe.values == ["now at 0"])
    scheduler.advance(by: .seconds(2))
    #expect(probe.values == ["now at 0", "a at 1", "b at 2"])
    #expect(seconds(scheduler.now) == 2)
    scheduler.advance(to: .start + .seconds(10))
    #expect(probe.values.last == "c at 3")
    #expect(seconds(scheduler.now) == 10)
  }

  @Test("equal dates run in the order in which they came")
  func equalDates() {
    for number in 0..<100 { scheduler.schedule(at: .start + .seconds(1)) { note("\(number)") } }
    scheduler.run()
    #expect(probe.values == (0..<100).map { "\($0) at 1" })
  }

  @Test("work that is scheduled by work takes its place by date, then by arrival")
  func nested() {
    scheduler.schedule(after: .seconds(1)) {
      note("a")
      scheduler.schedule { note("behind b") }
      scheduler.schedule(after: .seconds(1)) { note("d") }
      scheduler.schedule(after: .seconds(-5)) { note("past is now") }
    }
    scheduler.schedule(after: .seconds(1)) { note("b") }
    scheduler.schedule(after: .seconds(2)) { note("c") }
    scheduler.advance(by: .seconds(2))
    #expect(
      probe.values == ["a at 1", "b at 1", "behind b at 1", "past is now at 1", "c at 2", "d at 2"])
  }

  @Test(
    "repeated work runs exactly as often as its interval fits",
    arguments: [0, 1, 9, 10, 11, 99, 1000])
  func repeating(_ seconds: Int) {
    let work = scheduler.schedule(every: .seconds(10)) { note("tick") }
    scheduler.advance(by: .seconds(seconds))
    #expect(probe.values == stride(from: 10, through: seconds, by: 10).map { "tick at \($0)" })
    work.cancel()
    scheduler.advance(by: .seconds(1000))
    #expect(probe.count == seconds / 10)
  }

  @Test("many small steps and one large step are the same")
  func steps() {
    scheduler.schedule(every: .milliseconds(7), after: .zero) { note("tick") }
    for _ in 0..<1000 { scheduler.advance(by: .milliseconds(1)) }
    #expect(probe.count == 1 + 1000 / 7)
  }

  @Test("cancelled work consumes nothing: no turn, no time, no memory")
  func cancelled() {
    let instances = InstanceCounter()
    for number in 0..<10_000 {
      let member = instances.member(number)
      scheduler.schedule(after: .seconds(number)) { _ = member }.cancel()
      #expect(instances.alive == 1)
    }
    #expect(instances.alive == 0)
    #expect(scheduler.pendingCount == 0)
    scheduler.run()
    #expect(scheduler.now == .start)
    #expect(!scheduler.step())
  }

  @Test("work that cancels itself and others stops at once")
  func cancelsInside() async {
    let victim = scheduler.schedule(after: .seconds(2)) { note("victim") }
    scheduler.schedule(after: .seconds(1)) {
      note("killer")
      victim.cancel()
    }
    scheduler.run()
    await victim.value
    #expect(probe.values == ["killer at 1"])
    #expect(seconds(scheduler.now) == 1)
  }

  @Test("releasing it runs nothing, lets go of all, and ends the waiting")
  func releasing() async {
    let instances = InstanceCounter()
    let probe = Probe<Int>()
    weak var gone: VirtualScheduler?
    let works: [ScheduledWork] = {
      let scheduler = VirtualScheduler()
      gone = scheduler
      let member = instances.member()
      scheduler.schedule(after: .seconds(1)) { [member] in probe.record(member.number) }
      return [
        scheduler.schedule { [member] in probe.record(member.number) },
        scheduler.schedule(every: .seconds(1)) { [member] in probe.record(member.number) },
        scheduler.scheduleRecursively { [member] again in
          probe.record(member.number)
          again()
        },
      ]
    }()
    #expect(gone == nil)
    #expect(instances.alive == 0)
    for work in works { await work.value }
    #expect(probe.count == 0)
  }

  @Test("real awaits of tasks on it go on in the same call")
  func tasks() async {
    let gate = Gate()
    let task = scheduler.schedule {
      note("began")
      try? await scheduler.clock.sleep(for: .seconds(5))
      note("slept")
      await gate.wait()
      note("passed")
      await scheduler.schedule { note("closure") }.value
      for await _ in scheduler.ticks(every: .seconds(1)).prefix(2) { note("tick") }
    }
    #expect(probe.count == 0)
    scheduler.advance(by: .seconds(4))
    #expect(probe.values == ["began at 0"])
    scheduler.advance(by: .seconds(2))
    #expect(probe.values == ["began at 0", "slept at 5"])
    scheduler.schedule { gate.open() }
    scheduler.advance(by: .zero)
    #expect(probe.values.suffix(2) == ["passed at 6", "closure at 6"])
    scheduler.run()
    await task.value
    #expect(probe.values.suffix(2) == ["tick at 7", "tick at 8"])
  }

  @Test("the order of many tasks that await one another is the same each time")
  func deterministic() async {
    func trace() async -> [String] {
      let scheduler = VirtualScheduler()
      let probe = Probe<String>()
      let tasks = (0..<20).map { number in
        scheduler.schedule {
          for round in 0..<5 {
            try? await scheduler.sleep(for: .milliseconds((number * 7 + round * 3) % 11))
            probe.record("\(number).\(round)")
            await Task.yield()
          }
        }
      }
      scheduler.run()
      for task in tasks { await task.value }
      return probe.values
    }
    let first = await trace()
    #expect(first.count == 100)
    for _ in 0..<10 { #expect(await trace() == first) }
  }

  @Test("the task that advances a scheduler stays the current task")
  func caller() async {
    scheduler.schedule { await Task.yield() }
    let before = withUnsafeCurrentTask { $0?.hashValue }
    scheduler.run()
    #expect(withUnsafeCurrentTask { $0?.hashValue } == before)
    #expect(currentScheduler == nil)
  }

  @Test("an actor can live on it")
  func actors() async {
    actor Counter {
      let scheduler: VirtualScheduler
      var count = 0
      init(_ scheduler: VirtualScheduler) { self.scheduler = scheduler }
      nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }
      func count(_ number: Int) {
        preconditionIsolated()
        #expect(currentScheduler === scheduler)
        count += number
      }
    }
    let counter = Counter(scheduler)
    let task = scheduler.schedule {
      await counter.count(1)
      await counter.count(2)
    }
    scheduler.schedule { counter.assumeIsolated { #expect($0.count == 0) } }
    scheduler.run()
    await task.value
    scheduler.schedule { counter.assumeIsolated { #expect($0.count == 3) } }
    scheduler.run()
  }

  @Test("a test waits until others sleep, wherever they run: tasks, timers, and delayed work")
  func sleepers() async {
    let asleep = Probe<Int>()
    for count in [3, 2, 2] {
      Task { [scheduler] in
        await scheduler.waitForSleepers(count)
        asleep.record(count)
      }
    }
    await scheduler.waitForSleepers(0)
    let early = scheduler.schedule(after: .seconds(1)) {}
    scheduler.schedule {}
    early.cancel()
    let tasks = (1...2).map { number in
      Task { [scheduler] in try await scheduler.clock.sleep(for: .seconds(number)) }
    }
    await scheduler.waitForSleepers(2)
    await asleep.waitForCount(2)
    #expect(asleep.values == [2, 2], "cancelled work, and work that is due now, does not count")
    let timer = scheduler.schedule(every: .seconds(10)) {}
    await asleep.waitForCount(3)
    await scheduler.waitForSleepers(3)
    scheduler.advance(by: .seconds(2))
    for task in tasks { #expect(await task.result.isSuccess) }
    timer.cancel()
    #expect(scheduler.pendingCount == 0)
  }

  @Test("a test waits until something sleeps until a time, however much else sleeps")
  func sleeperDue() async {
    let (asleep, second) = (Probe<Int>(), VirtualScheduler.Instant.start + .seconds(1))
    let deadline = scheduler.schedule(after: .seconds(60)) {}
    let dead = scheduler.schedule(at: second) {}
    dead.cancel()
    let watching = VirtualScheduler()
    for number in 1...2 {
      watching.schedule { [scheduler] in
        await scheduler.waitForSleeper(due: second)
        asleep.record(number)
      }
    }
    watching.run()
    scheduler.schedule(at: second + .seconds(1)) {}
    watching.run()
    #expect(asleep.count == 0, "none of these is meant")
    #expect(scheduler.nextDate == second + .seconds(1))
    let sleeping = Task { [scheduler] in try await scheduler.clock.sleep(until: second) }
    await scheduler.waitForSleeper(due: second)
    watching.run()
    #expect(asleep.count == 2)
    #expect(scheduler.nextDate == second)
    scheduler.advance(to: second)
    #expect(await sleeping.result.isSuccess)
    deadline.cancel()
    scheduler.run()
    #expect(scheduler.nextDate == nil)
  }

  @Test("who waits for a sleeper whose time has come, or comes, does not wait for ever")
  func sleeperMissed() async {
    scheduler.advance(by: .seconds(1))
    await scheduler.waitForSleeper(due: scheduler.now)
    let waiting = Probe<Void>()
    let watcher = scheduler.schedule { [scheduler] () async in
      await scheduler.waitForSleeper(due: .start + .seconds(2))
      waiting.record(())
    }
    scheduler.run()
    #expect(waiting.count == 0)
    scheduler.advance(by: .seconds(1))
    await watcher.value
    #expect(waiting.count == 1)
  }

  /// The times that work has seen.
  private final class Times: Sendable {
    private let scheduler: VirtualScheduler
    private let state = Locked((last: VirtualScheduler.Instant.start, back: 0, isOver: false))

    init(_ scheduler: VirtualScheduler) { self.scheduler = scheduler }

    func look() {
      let now = scheduler.now
      state.withLock { state in
        if now < state.last { state.back += 1 }
        state.last = max(state.last, now)
      }
    }

    func end() { state.withLock { $0.isOver = true } }

    /// How often time ran back.
    var back: Int { state.withLock { $0.back } }
    var isOver: Bool { state.withLock { $0.isOver } }
  }

  @Test("time never runs back, although other threads schedule during an advance")
  func otherThreads() async {
    let scheduler = VirtualScheduler()
    let times = Times(scheduler)
    let other = Task.detached {
      var generator = SeededGenerator(seed: RandomCases.firstSeed)
      // Little work at a time, so that advances are short, and much is added as they end.
      while !times.isOver {
        guard scheduler.pendingCount < 4 else { continue }
        let delay = Int.random(in: 1...9_000, using: &generator)
        scheduler.schedule(after: .milliseconds(delay)) { times.look() }
      }
    }
    let count = RandomCases.count("TAILRACE_VIRTUAL_TIME_CASES", debug: 30_000, optimised: 300_000)
    for _ in 0..<count {
      scheduler.advance(by: .seconds(10))
      // The advance has ended at its time, which no later work may precede.
      times.look()
    }
    times.end()
    await other.value
    #expect(times.back == 0)
  }

  @Test("a sleep until a time that has come returns at once", arguments: [-5, -1, 0])
  func pastSleep(_ seconds: Int) async throws {
    let scheduler = VirtualScheduler()
    scheduler.advance(by: .seconds(10))
    let deadline = scheduler.now + .seconds(seconds)
    // Nobody advances the scheduler: a sleep that waited for a turn of it would never end.
    try await scheduler.clock.sleep(until: deadline)
    try await scheduler.sleep(for: .seconds(seconds))
    try await QueueScheduler(name: "past").sleep(for: .seconds(seconds))
    #expect(scheduler.now.offset == .seconds(10) && scheduler.pendingCount == 0)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await scheduler.clock.sleep(until: deadline)
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test("a cancelled sleep ends at once and leaves nothing behind")
  func cancelledSleep() async {
    let task = Task(executorPreference: scheduler) {
      do {
        try await scheduler.sleep(for: .seconds(100))
        return "slept"
      } catch {
        return "\(type(of: error))"
      }
    }
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.pendingCount == 1)
    task.cancel()
    scheduler.advance(by: .zero)
    #expect(await task.value == "CancellationError")
    #expect(scheduler.pendingCount == 0)
  }

  @Test(
    "enormous, zero and negative delays",
    arguments: [
      Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .seconds(-1),
      Duration(attoseconds: .max), Duration(attoseconds: .min),
    ])
  func extremes(_ delay: Duration) {
    scheduler.advance(by: .seconds(1))
    let work = scheduler.schedule(after: delay) { note("ran") }
    scheduler.advance(by: .seconds(1_000_000))
    #expect(probe.values == (delay > .zero ? [] : ["ran at 1"]))
    #expect(work.isOver == (delay <= .zero))
    scheduler.advance(by: Duration(attoseconds: .max))
    #expect(work.isOver)
    scheduler.advance(by: Duration(attoseconds: .max))
  }

  @Test("advancing from its own work says what to do instead")
  func reentrant() async {
    await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let scheduler = VirtualScheduler()
      scheduler.schedule { scheduler.advance(by: .zero) }
      scheduler.run()
    }
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
