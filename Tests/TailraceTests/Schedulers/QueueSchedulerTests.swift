import Dispatch
import Tailrace
import TailraceTesting
import Testing

@Suite("QueueScheduler: one line, one at a time", .hangLimit, .inTurn)
struct QueueSchedulerTests {
  @Test("closures run in order, after the call that schedules them")
  func order() async {
    let scheduler = QueueScheduler(name: "test")
    let probe = Probe<Int>()
    await scheduler.run {
      for number in 0..<1000 { scheduler.schedule { probe.record(number) } }
      #expect(probe.count == 0)
    }
    await scheduler.schedule {}.value
    #expect(probe.values == Array(0..<1000))
  }

  @Test("work that is cancelled before its turn never runs, and lets go of its closure at once")
  func cancelling() async {
    let scheduler = QueueScheduler(name: "test")
    let instances = InstanceCounter()
    let probe = Probe<String>()
    await scheduler.run {
      let member = instances.member()
      let first = scheduler.schedule { _ = probe.pass("first \(member)") }
      scheduler.schedule { probe.record("second") }
      first.cancel()
      #expect(first.isOver && first.isCancelled)
    }
    await scheduler.schedule {}.value
    #expect(probe.values == ["second"])
    #expect(instances.alive == 0)
  }
}
