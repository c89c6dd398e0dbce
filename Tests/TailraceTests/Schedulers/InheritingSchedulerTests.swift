import Tailrace
import TailraceTesting
import Testing

@Suite("InheritingScheduler: the caller's scheduler, and its clock", .hangLimit, .inTurn)
struct InheritingSchedulerTests {
  private let inheriting = InheritingScheduler.shared

  @Test("it is the caller's scheduler, or one in the background")
  func place() async {
    let scheduler = QueueScheduler(name: "here")
    await scheduler.run {
      let work = inheriting.schedule { #expect(currentScheduler === scheduler) }
      #expect(work.isOver)
      let past = inheriting.schedule(after: .seconds(-1)) {
        #expect(currentScheduler === scheduler)
      }
      #expect(past.isOver, "without a delay, it runs in place")
      await inheriting.schedule(after: .milliseconds(1)) {
        #expect(currentScheduler === scheduler)
      }.value
    }
    await inheriting.schedule { #expect(currentScheduler is QueueScheduler) }.value
  }

  @Test("delays, intervals, sleeps and ticks count on the clock of the caller's scheduler, exactly")
  func clock() async {
    let virtual = VirtualScheduler()
    let (delayed, awaited, repeated) = (Probe<Duration>(), Probe<Duration>(), Probe<Duration>())
    let (slept, ticked) = (Probe<Duration>(), Probe<Duration>())
    let handle = Probe<ScheduledWork>()
    virtual.schedule(after: .seconds(1)) {
      inheriting.schedule(after: .seconds(10)) { delayed.record(virtual.now.offset) }
      inheriting.schedule(after: .seconds(10)) { () async in awaited.record(virtual.now.offset) }
      handle.record(
        inheriting.schedule(every: .seconds(10)) { repeated.record(virtual.now.offset) })
    }
    let reader = virtual.schedule { () async in
      try? await inheriting.sleep(for: .seconds(10))
      slept.record(virtual.now.offset)
      for await _ in inheriting.ticks(every: .seconds(10)).prefix(3) {
        ticked.record(virtual.now.offset)
      }
    }
    virtual.advance(by: .seconds(45))
    #expect(delayed.values == [.seconds(11)])
    #expect(awaited.values == [.seconds(11)])
    #expect(repeated.values == [11, 21, 31, 41].map { .seconds($0) })
    #expect(slept.values == [.seconds(10)])
    #expect(ticked.values == [20, 30, 40].map { .seconds($0) })
    for work in handle.values { work.cancel() }
    #expect(virtual.pendingCount == 0)
    // Otherwise it waits for a time that does not come.
    reader.cancel()
    virtual.run()
    await reader.value
  }

  @Test("made the current scheduler, it is not its own place")
  func ofItself() async {
    let places = Probe<Bool>()
    let note: @Sendable () -> Void = { places.record(currentScheduler is QueueScheduler) }
    let works: [ScheduledWork] = inheriting.performAsCurrent {
      [inheriting.schedule(note), inheriting.schedule(after: .milliseconds(1), note)]
    }
    let task: Task<Void, Never> = inheriting.performAsCurrent {
      inheriting.schedule { () async in note() }
    }
    for work in works { await work.value }
    await task.value
    #expect(places.values == [true, true, true])
  }
}
