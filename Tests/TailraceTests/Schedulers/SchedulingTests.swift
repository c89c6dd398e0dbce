import Dispatch
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("Recursion, repetition, ticks and immediate schedulers", .tags(.long), .hangLimit, .inTurn)
struct SchedulingTests {
  private static let turns = Size.usual(200_000, full: 1_000_000)

  @Test("very many turns, on a queue and in place, in constant memory")
  func manyTurns() async {
    let queue = QueueScheduler(name: "recursion")
    for scheduler in [queue as any Scheduler, ImmediateScheduler.shared] {
      let instances = InstanceCounter()
      let count = Counter()
      // Scheduled on a queue: in place all turns are one, and the pool has other tests to run.
      let work = await queue.run {
        scheduler.scheduleRecursively { again in
          let member = instances.member()
          if count.increment() < Self.turns { again() }
          _ = member
        }
      }
      await work.value
      #expect(count.value == Self.turns)
      #expect(instances.greatest == 1)
    }
  }

  @Test("k calls are k turns, also in one turn")
  func calls() async {
    let scheduler = VirtualScheduler()
    let probe = Probe<Int>()
    let work = scheduler.scheduleRecursively { again in
      probe.record(probe.count)
      if probe.count == 1 { for _ in 0..<5 { again() } }
    }
    scheduler.run()
    await work.value
    #expect(probe.count == 6)
  }

  @Test("other work has its turn between two turns")
  func interleaving() {
    let scheduler = VirtualScheduler()
    let probe = Probe<String>()
    scheduler.scheduleRecursively { again in
      probe.record("turn")
      if probe.count < 5 { again() }
    }
    scheduler.schedule { probe.record("other") }
    scheduler.step()
    scheduler.step()
    #expect(probe.values == ["turn", "other"])
    scheduler.run()
    #expect(probe.values == ["turn", "other", "turn", "turn", "turn"])
  }

  @Test("a call that is made later, from elsewhere, is one more turn")
  func later() async {
    let scheduler = QueueScheduler(name: "recursion")
    let probe = Probe<@Sendable () -> Void>()
    let turns = Counter()
    let work = scheduler.scheduleRecursively { again in
      if turns.increment() == 1 { probe.record(again) }
    }
    await probe.waitForCount(1)
    await scheduler.run {}
    #expect(turns.value == 1)
    #expect(!work.isOver)
    await Task.detached { for again in probe.values { again() } }.value
    await scheduler.run {}
    #expect(turns.value == 2)
    work.cancel()
    #expect(work.isOver)
    for again in probe.values { again() }
    await scheduler.run {}
    #expect(turns.value == 2)
  }

  @Test("recursion that keeps its own calls keeps its scheduler; cancelled, it leaks nothing")
  func keptByItsCalls() async throws {
    let (instances, turns) = (InstanceCounter(), Counter())
    weak var gone: QueueScheduler?
    let make = {
      let scheduler = QueueScheduler(name: "recursion")
      gone = scheduler
      // The work's closure holds the probe, and the probe holds the calls: nothing else does.
      let (probe, member) = (Probe<@Sendable () -> Void>(), instances.member())
      let work = scheduler.scheduleRecursively { [member] again in
        turns.increment(by: 1 + member.number)
        probe.record(again)
      }
      return (work, { [weak probe] in probe }, scheduler.queue)
    }
    let (work, probe, queue) = make()
    await probe()?.waitForCount(1)
    // A block behind the drain: the queue has let go of the turn, and of the scheduler.
    await queue.turn()
    try #require(gone != nil)
    for again in probe()?.values ?? [] { again() }
    await probe()?.waitForCount(2)
    await queue.turn()
    #expect(turns.value == 2)
    #expect(gone != nil && instances.alive == 1)
    work.cancel()
    #expect(gone == nil && instances.alive == 0)
  }

  @Test("cancelled in a turn, it leaks nothing when the turn is over")
  func keptByItsCallsInATurn() async {
    let instances = InstanceCounter()
    let (inside, outside) = (Gate(), DispatchSemaphore(value: 0))
    weak var gone: QueueScheduler?
    let make = {
      let scheduler = QueueScheduler(name: "recursion")
      gone = scheduler
      let (calls, member) = (Probe<@Sendable () -> Void>(), instances.member())
      let work = scheduler.scheduleRecursively { [member] again in
        for _ in 0...member.number { calls.record(again) }
        Task.immediate { await inside.wait() }
        outside.wait()
      }
      return (work, scheduler.queue)
    }
    let (work, queue) = make()
    await inside.waitForArrivals(1)
    work.cancel()
    #expect(gone != nil && instances.alive == 1)
    outside.signal()
    await queue.turn()
    #expect(gone == nil && instances.alive == 0)
    inside.open()
  }

  @Test("cancelling inside stops the recursion, and lets go of its closure")
  func cancelledInside() async {
    let scheduler = VirtualScheduler()
    let instances = InstanceCounter()
    let handle = Probe<ScheduledWork>()
    let turns = Counter()
    let work = {
      let member = instances.member()
      return scheduler.scheduleRecursively { [member] again in
        turns.increment(by: 1 + member.number)
        if turns.value == 3 { for work in handle.values { work.cancel() } }
        again()
      }
    }()
    handle.record(work)
    scheduler.run()
    await work.value
    #expect(turns.value == 3)
    #expect(instances.alive == 0)
    #expect(work.isCancelled)
  }

  @Test("cancelling repeated work stops it at once, from inside and outside")
  func repeatedCancelled() async {
    let scheduler = VirtualScheduler()
    let instances = InstanceCounter()
    let handle = Probe<ScheduledWork>()
    let ticks = Counter()
    let make = {
      let member = instances.member(1)
      return scheduler.schedule(every: .seconds(1)) { [member] in
        if ticks.increment(by: member.number) == 3 { for work in handle.values { work.cancel() } }
      }
    }
    handle.record(make())
    scheduler.advance(by: .seconds(10))
    #expect(ticks.value == 3)
    #expect(instances.alive == 0)
    let outside = make()
    outside.cancel()
    #expect(instances.alive == 0)
    await outside.value
    #expect(scheduler.pendingCount == 0)
  }

  @Test("ticks of a slow reader coalesce into one, and the grid stays")
  func ticks() async {
    let scheduler = VirtualScheduler()
    let probe = Probe<Int64>()
    let reading = scheduler.schedule {
      for await instant in scheduler.ticks(every: .seconds(10)).prefix(5) {
        probe.record(instant.offset.components.seconds)
        if probe.count == 2 { try? await scheduler.sleep(for: .seconds(35)) }
      }
    }
    scheduler.run()
    await reading.value
    // 30, 40 and 50 are missed, and made up by one.
    #expect(probe.values == [10, 20, 55, 60, 70])
  }

  @Test("ticks end in a cancelled task, and an iterator that is left leaves nothing")
  func ticksCancelled() async {
    let scheduler = VirtualScheduler()
    let reading = Task(executorPreference: scheduler) {
      var count = 0
      for await _ in scheduler.ticks(every: .seconds(1)) { count += 1 }
      return count
    }
    scheduler.advance(by: .seconds(3))
    reading.cancel()
    scheduler.advance(by: .zero)
    #expect(await reading.value == 3)
    let leaving = Task(executorPreference: scheduler) {
      for await _ in scheduler.ticks(every: .seconds(1)) { break }
    }
    scheduler.run()
    await leaving.value
    #expect(scheduler.pendingCount == 0)
  }

  @Test("ticks end where the clock's range does")
  func ticksAtTheEnd() async {
    let scheduler = VirtualScheduler()
    let reading = Task(executorPreference: scheduler) {
      var count = 0
      for await _ in scheduler.ticks(every: .seconds(1 << 59)).prefix(10) { count += 1 }
      return count
    }
    scheduler.run()
    #expect(await reading.value == 2)
  }

  @Test("an interval that is none traps with words", arguments: ["every", "ticks"])
  func noInterval(_ call: String) async {
    let result =
      if call == "every" {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          QueueScheduler(name: "none").schedule(every: .zero) {}
        }
      } else {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
          _ = QueueScheduler(name: "none").ticks(every: .seconds(-1))
        }
      }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("QueueScheduler") && words.contains(call) && words.contains("> 0"))
  }

  @Test("work in place runs before the call returns; later work does not wait")
  func immediate() async {
    let scheduler = ImmediateScheduler.shared
    let probe = Probe<Int>()
    let work = scheduler.schedule {
      scheduler.schedule { probe.record(1) }
      probe.record(2)
    }
    #expect(work.isOver)
    scheduler.schedule(after: .seconds(-1)) { probe.record(3) }
    #expect(probe.values == [1, 2, 3])
    let never = scheduler.schedule(after: .seconds(1000)) { probe.record(0) }
    #expect(!never.isOver)
    never.cancel()
    await scheduler.schedule(after: .milliseconds(1)) { probe.record(4) }.value
    #expect(probe.values == [1, 2, 3, 4])
    let task = scheduler.schedule {
      probe.record(5)
      await Task.yield()
      probe.record(6)
    }
    #expect(probe.values.contains(5))
    await task.value
    #expect(await scheduler.run { probe.count } == 6)
    let repeated = scheduler.schedule(every: .nanoseconds(1), after: .zero) { probe.record(6) }
    await probe.waitForCount(1000)
    repeated.cancel()
    await repeated.value
  }

  /// Its clock is moved by the work that it runs.
  private final class HandClock: Scheduler {
    private struct State {
      var now = VirtualScheduler.Instant.start
      var line: [ScheduledWork] = []
    }
    private let state = Locked(State())

    var now: VirtualScheduler.Instant { state.withLock { $0.now } }

    func pass(_ duration: Duration) { state.withLock { $0.now = $0.now + duration } }

    func enqueue(_ work: ScheduledWork) { state.withLock { $0.line.append(work) } }

    func enqueue(_ work: ScheduledWork, at date: VirtualScheduler.Instant, tolerance: Duration?) {
      state.withLock { state in
        state.now = max(state.now, date)
        state.line.append(work)
      }
    }

    func enqueue(_ job: consuming ExecutorJob) { globalConcurrentExecutor.enqueue(job) }

    func runNext() {
      let work = state.withLock { $0.line.isEmpty ? nil : $0.line.removeFirst() }
      if let work { perform(work) }
    }
  }

  @Test("a closure that is slower than its interval has missed turns made up by one")
  func slow() {
    let scheduler = HandClock()
    let probe = Probe<Int64>()
    // How long each turn takes, in seconds.
    let durations = [1, 25, 1, 10, 45, 5]
    let work = scheduler.schedule(every: .seconds(10)) {
      probe.record(scheduler.now.offset.components.seconds)
      scheduler.pass(.seconds(durations[probe.count - 1]))
    }
    for _ in durations { scheduler.runNext() }
    work.cancel()
    scheduler.runNext()
    // 30 and 40 are made up at 45; 60 falls due as the turn before it ends; 70 to 105 at 105.
    #expect(probe.values == [10, 20, 45, 50, 60, 105])
  }

  @Test("dropped handles let the work go on; pending work keeps its scheduler")
  func dropped() async {
    let probe = Probe<Int>()
    weak var gone: QueueScheduler?
    do {
      let scheduler = QueueScheduler(name: "dropped")
      gone = scheduler
      scheduler.schedule { probe.record(1) }
      scheduler.schedule(after: .milliseconds(1)) { probe.record(2) }
      let last = scheduler.schedule(after: .milliseconds(2)) { probe.record(3) }
      await last.value
    }
    #expect(probe.values == [1, 2, 3])
    // The timers let go of the scheduler on its queue.
    if let queue = gone?.queue {
      await withCheckedContinuation { done in queue.async { done.resume() } }
    }
    _ = gone
  }
}

extension DispatchQueue {
  /// Waits until the queue has run, and let go of, the blocks that it has now.
  func turn() async { await withCheckedContinuation { done in async { done.resume() } } }
}
