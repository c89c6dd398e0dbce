import Dispatch
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceSchedulers

/// The only suite that waits for real time. Its bounds are generous above, and exact below.
@Suite("Timers of Dispatch: never early, no drift", .hangLimit, .inTurn)
struct TimerTests {
  private let scheduler = QueueScheduler(name: "timers")

  @Test("a delay is at least what it says", arguments: [1, 5, 20])
  func delay(_ milliseconds: Int) async {
    let start = ContinuousClock.now
    let end = Probe<ContinuousClock.Instant>()
    await scheduler.schedule(after: .milliseconds(milliseconds)) { end.record(.now) }.value
    let elapsed = start.duration(to: end.values[0])
    #expect(elapsed >= .milliseconds(milliseconds))
    #expect(elapsed < .seconds(20))
  }

  @Test("delays of zero and less, and times in the past, are as soon as possible, in the line")
  func past() async {
    let probe = Probe<Int>()
    await scheduler.run {
      scheduler.schedule { probe.record(1) }
      scheduler.schedule(after: .zero) { probe.record(2) }
      scheduler.schedule(after: .seconds(-10)) { probe.record(3) }
      scheduler.schedule(at: .now - .seconds(10)) { probe.record(4) }
      scheduler.schedule(after: Duration(attoseconds: .min)) { probe.record(5) }
      scheduler.schedule(after: .nanoseconds(0), tolerance: .seconds(1)) { probe.record(6) }
      #expect(probe.count == 0)
    }
    await scheduler.run {}
    #expect(probe.values == [1, 2, 3, 4, 5, 6])
  }

  @Test(
    "enormous delays never come, and can be cancelled",
    arguments: [
      Duration.seconds(Int64.max), Duration(attoseconds: .max), .seconds(400 * 365 * 86_400),
    ])
  func enormous(_ delay: Duration) async {
    let instances = InstanceCounter()
    let work = {
      let member = instances.member()
      return scheduler.schedule(after: delay, tolerance: delay) { [member] in _ = member }
    }()
    await scheduler.schedule(after: .milliseconds(2)) {}.value
    #expect(!work.isOver)
    work.cancel()
    #expect(instances.alive == 0)
    await work.value
  }

  @Test("tick k is at or after k intervals, and the hundredth is no later for those before it")
  func drift() async {
    let start = ContinuousClock.now
    let ticks = Probe<ContinuousClock.Instant>()
    let work = scheduler.schedule(every: .milliseconds(1)) { ticks.record(.now) }
    await ticks.waitForCount(100)
    work.cancel()
    await work.value
    for (index, tick) in ticks.values.enumerated() {
      #expect(start.duration(to: tick) >= .milliseconds(index + 1))
    }
    // Each tick is on the grid: those that come late do not delay the others, and are not made up for.
    #expect(start.duration(to: ticks.values[99]) < .seconds(20))
  }

  @Test("a tick that is late comes at once, and the next one on the grid")
  func coalescing() async {
    let (ticks, gate) = (Probe<ContinuousClock.Instant>(), Gate())
    let start = ContinuousClock.now
    let work = scheduler.schedule(every: .milliseconds(20), after: .zero) { ticks.record(.now) }
    await ticks.waitForCount(1)
    // Something else occupies the queue for several intervals.
    let blocked = DispatchSemaphore(value: 0)
    scheduler.schedule {
      Task.immediate { await gate.wait() }
      blocked.wait()
    }
    await gate.waitForArrivals(1)
    await QueueScheduler(name: "other").schedule(at: start + .milliseconds(110)) {
      blocked.signal()
      gate.open()
    }.value
    await ticks.waitForCount(4)
    work.cancel()
    let late = ticks.values.filter { start.duration(to: $0) >= .milliseconds(110) }
    // One for all that was missed, then at least what is left of an interval.
    #expect(ticks.values.count - late.count <= 6)
    #expect(late.count >= 2)
    for (first, second) in zip(late.dropFirst(), late.dropFirst(2)) { #expect(first < second) }
  }

  @Test("a timer that was cancelled lets go of its closure at once, and of the scheduler soon")
  func releases() async {
    let instances = InstanceCounter()
    weak var gone: QueueScheduler?
    var queue: DispatchQueue?
    do {
      let scheduler = QueueScheduler(name: "released")
      gone = scheduler
      queue = scheduler.queue
      let works = (0..<100).map { number in
        let member = instances.member(number)
        return number % 2 == 0
          ? scheduler.schedule(after: .seconds(1000)) { [member] in _ = member }
          : scheduler.schedule(every: .seconds(1000)) { [member] in _ = member }
      }
      #expect(instances.alive == 100)
      for work in works { work.cancel() }
      #expect(instances.alive == 0)
    }
    // Dispatch lets go of a timer on the timer's queue, when its own thread has passed it on to there.
    for _ in 0..<10_000 where gone != nil {
      await withCheckedContinuation { done in queue?.async { done.resume() } }
    }
    #expect(gone == nil)
  }

  @Test("work that is over keeps no timer, though its handle is held", arguments: [true, false])
  func handles(_ isCancelled: Bool) async {
    // On the queue, where no timer can ring in between.
    let (works, alarms) = await scheduler.run {
      let works = (0..<100).map { number in
        number % 2 == 0
          ? scheduler.schedule(after: isCancelled ? .seconds(1000) : .milliseconds(1)) {}
          : scheduler.schedule(every: .seconds(1000)) {}
      }
      return (works, works.count { $0.cell.alarm != nil })
    }
    // Work that was late already when it was scheduled needs none.
    #expect(isCancelled ? alarms == 100 : alarms > 50)
    for (number, work) in works.enumerated() where isCancelled || number % 2 == 1 { work.cancel() }
    for work in works { await work.value }
    #expect(works.count { $0.cell.alarm != nil } == 0)
  }

  @Test("a sleep that is cancelled ends at once")
  func sleep() async {
    let gate = Gate()
    let task = Task {
      await gate.wait()
      try await scheduler.sleep(for: .seconds(1000))
    }
    await gate.waitForArrivals(1)
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("an asynchronous closure that is cancelled before its time does not run")
  func asynchronous() async {
    let probe = Probe<Int>()
    let never = scheduler.schedule(after: .seconds(1000)) {
      await Task.yield()
      probe.record(1)
    }
    never.cancel()
    await never.value
    await scheduler.schedule(after: .milliseconds(1)) {
      await Task.yield()
      probe.record(2)
    }.value
    #expect(probe.values == [2])
  }
}
