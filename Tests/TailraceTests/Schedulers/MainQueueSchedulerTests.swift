import Dispatch
import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@Suite("Closures of the main actor, instants of any scheduler, the wall clock, and descriptions")
struct MainQueueSchedulerTests {
  @MainActor final class Screen {
    var titles: [String] = []

    func show() async {
      let scheduler = QueueScheduler.main
      await scheduler.schedule { self.titles.append("at once") }.value
      await scheduler.schedule(after: .zero) { self.titles.append("after") }.value
      await scheduler.schedule(at: .now) { self.titles.append("at") }.value
      let turns = Probe<Void>()
      let work = scheduler.schedule(every: .nanoseconds(1), after: .zero) {
        self.titles.append("every")
        turns.record(())
      }
      await turns.waitForCount(1)
      work.cancel()
      await work.value
    }
  }

  @Test("plain closures on main are the main actor's, as they stand")
  @MainActor func plain() async {
    let screen = Screen()
    await screen.show()
    #expect(screen.titles.prefix(4) == ["at once", "after", "at", "every"])
  }

  @Test("asynchronous closures, and closures of other code, still run there")
  func others() async {
    let probe = Probe<Bool>()
    await QueueScheduler.main.schedule { probe.record(currentScheduler === QueueScheduler.main) }
      .value
    await QueueScheduler.main.schedule {
      await Task.yield()
      probe.record(currentScheduler === QueueScheduler.main)
    }.value
    let scheduler: any Scheduler = QueueScheduler.main
    await scheduler.schedule { probe.record(currentScheduler === scheduler) }.value
    #expect(probe.values == [true, true, true])
  }

  @Test("an instant of any scheduler", arguments: ["plain", "asynchronous", "sleep"])
  func anyScheduler(_ kind: String) async throws {
    let virtual = VirtualScheduler()
    let scheduler: any Scheduler = virtual
    let ran = Probe<Duration>()
    let start = virtual.now
    let later = scheduler.now.advanced(by: .seconds(3))
    switch kind {
    case "plain": scheduler.schedule(at: later) { ran.record(start.duration(to: virtual.now)) }
    case "asynchronous":
      scheduler.schedule(at: later) { () async in ran.record(start.duration(to: virtual.now)) }
    default:
      scheduler.schedule { () async in
        try? await scheduler.sleep(until: later)
        ran.record(start.duration(to: virtual.now))
      }
    }
    virtual.advance(by: .seconds(2))
    #expect(ran.values.isEmpty)
    virtual.advance(by: .seconds(2))
    #expect(ran.values == [.seconds(3)])
  }

  @Test("an instant of another clock traps, at the caller's line")
  func otherClock() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let scheduler: any Scheduler = VirtualScheduler()
      scheduler.schedule(at: ContinuousClock.now as any InstantProtocol<Duration>) {}
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("VirtualScheduler.schedule(at:)") && said.contains("of another clock"))
    #expect(said.contains("MainQueueSchedulerTests.swift"))
  }

  @Test("by the wall clock: a past date as soon as possible, a later one not before")
  func wallClock() async {
    let scheduler = QueueScheduler(name: "wall")
    let probe = Probe<Bool>()
    await scheduler.schedule(atWallClock: .distantPast) {
      probe.record(currentScheduler === scheduler)
    }.value
    let due = Date(timeIntervalSinceNow: 0.02)
    await scheduler.schedule(atWallClock: due) { probe.record(Date() >= due) }.value
    await scheduler.schedule(atWallClock: .now() + .milliseconds(1)) { probe.record(true) }.value
    #expect(probe.values == [true, true, true])
  }

  @Test(
    "by the wall clock: cancelled, it releases its closure at once, however late the date",
    arguments: [Date(timeIntervalSinceNow: 1_000), .distantFuture])
  func wallClockCancelled(_ date: Date) async {
    let instances = InstanceCounter()
    let scheduler = QueueScheduler(name: "wall")
    let work = scheduler.schedule(atWallClock: date) { [member = instances.member()] in
      _ = member
    }
    #expect(instances.alive == 1)
    work.cancel()
    #expect(instances.alive == 0 && work.isOver)
  }

  @Test("descriptions name the thing and its state, and begin nothing")
  func descriptions() async {
    let virtual = VirtualScheduler()
    #expect("\(QueueScheduler(name: "parsing"))" == "QueueScheduler(parsing)")
    #expect("\(ImmediateScheduler.shared)" == "ImmediateScheduler")
    let work: ScheduledWork = virtual.schedule {}
    #expect("\(work)" == "ScheduledWork(waiting)")
    let other: ScheduledWork = virtual.schedule {}
    other.cancel()
    virtual.run()
    #expect("\(work), \(other)" == "ScheduledWork(over), ScheduledWork(cancelled)")
    let begun = Probe<Void>()
    let signal = Signal<Int, Never> { _ in begun.record(()) }
    #expect("\(signal)" == "Signal<Int, Never>")
    #expect(
      "\(signal.deliver(on: ImmediateScheduler.shared))"
        == "Signal<Int, Never>(on ImmediateScheduler)")
    #expect(begun.count == 0)
    let (open, subscriber) = Signal<Int, Never>.makeSignal()
    #expect("\(subscriber)" == "Signal<Int, Never>.Subscriber(open)")
    subscriber.complete()
    #expect("\(subscriber)" == "Signal<Int, Never>.Subscriber(over)")
    withExtendedLifetime(open) {}
  }
}
