import Dispatch
import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting

/// A scheduler of a user's own: two methods.
private final class OwnScheduler: Scheduler {
  let queue = DispatchQueue(label: "own")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { self.perform(job) }
  }

  func enqueue(_ work: ScheduledWork) { queue.async { self.perform(work) } }
}

extension Example {
  /// The scheduler of a subscription: the caller's, or one in the background.
  private static var subscription: any Scheduler {
    currentScheduler.map { _ in ImmediateScheduler.shared } ?? QueueScheduler.background()
  }

  /// What `currentScheduler` is in closures, each of which schedules the next one.
  private static func current(on schedulers: [any Scheduler]) async -> [ObjectIdentifier?] {
    let seen = Probe<ObjectIdentifier?>()
    @Sendable func next(_ rest: ArraySlice<any Scheduler>) {
      guard let scheduler = rest.first else { return }
      scheduler.schedule {
        seen.record(currentScheduler.map(ObjectIdentifier.init))
        next(rest.dropFirst())
      }
    }
    next(schedulers[...])
    await seen.waitForCount(schedulers.count)
    return seen.values
  }

  private static func cancelling(_ scheduler: any Scheduler) async -> Bool {
    let ran = Probe<Int>()
    await scheduler.schedule {
      let first: ScheduledWork = scheduler.schedule { ran.record(1) }
      scheduler.schedule { ran.record(2) }
      first.cancel()
    }.value
    await ran.waitForCount(1)
    return ran.values == [2]
  }

  private static func cancellingLater(_ scheduler: any Scheduler) async -> Bool {
    let ran = Probe<Int>()
    let date = Date(timeIntervalSinceNow: 0.01)
    let first = scheduler.schedule(atWallClock: date) { ran.record(1) }
    let second = scheduler.schedule(atWallClock: date) { ran.record(2) }
    first.cancel()
    await second.value
    return ran.values == [2] && first.isOver
  }

  private static func later(_ scheduler: any Scheduler) async -> Bool {
    let ran = Probe<Int>()
    await scheduler.schedule(atWallClock: Date(timeIntervalSinceNow: 0.01)) { ran.record(1) }.value
    return ran.count == 1
  }

  private static func recurring(_ scheduler: any Scheduler) async -> Bool {
    let ran = Probe<Void>()
    let work = scheduler.schedule(every: .milliseconds(1), after: .zero) { ran.record(()) }
    await ran.waitForCount(3)
    work.cancel()
    await work.value
    // The work is over: no further turn can come.
    return work.isOver && ran.count >= 3
  }

  /// Recursive work of three turns. Whether no turn began within another.
  private static func recursive(_ scheduler: any Scheduler) async -> Bool {
    let (turns, isRight) = (Counter(), Probe<Bool>())
    await scheduler.scheduleRecursively { again in
      let turn = turns.increment()
      guard turn < 3 else { return }
      again()
      isRight.record(turns.value == turn)
    }.value
    return turns.value == 3 && isRight.values == [true, true]
  }

  static let schedulers: [Example] = [
    Example(.scheduler, "knows the current scheduler") {
      let background = QueueScheduler.background()
      let (here, main) = (ObjectIdentifier(background), ObjectIdentifier(QueueScheduler.main))
      let inPlace = await current(on: [background, ImmediateScheduler.shared])
      let there = await current(on: [QueueScheduler.main, background, QueueScheduler.main])
      let back = await current(on: [background, QueueScheduler.main, background])
      return inPlace == [here, here] && there == [main, here, main] && back == [here, main, here]
    },
    Example(.scheduler, "main: a cancelled block does not run") {
      await cancelling(QueueScheduler.main)
    },
    Example(.scheduler, "main: a block at a date") { await later(QueueScheduler.main) },
    Example(.scheduler, "main: a block at a date, cancelled") {
      await cancellingLater(QueueScheduler.main)
    },
    Example(
      .scheduler, "main: a recurring block", .better("late turns coalesce, and there is no drift")
    ) {
      await recurring(QueueScheduler.main)
    },
    Example(.scheduler, "background: a cancelled block does not run") {
      await cancelling(QueueScheduler.background())
    },
    Example(.scheduler, "background: a block at a date") {
      await later(QueueScheduler.background())
    },
    Example(.scheduler, "background: a block at a date, cancelled") {
      await cancellingLater(QueueScheduler.background())
    },
    Example(
      .scheduler, "background: a recurring block",
      .better("late turns coalesce, and there is no drift")
    ) {
      await recurring(QueueScheduler.background())
    },
    Example(.scheduler, "subscription: on the main queue it is main's") {
      let seen = Probe<Bool>()
      DispatchQueue.main.async {
        subscription.schedule { seen.record(currentScheduler === QueueScheduler.main) }
      }
      await seen.waitForCount(1)
      return seen.values == [true]
    },
    Example(.scheduler, "subscription: on an unknown queue it is one in the background") {
      let seen = Probe<Bool>()
      DispatchQueue.global().async {
        subscription.schedule {
          seen.record(currentScheduler != nil && currentScheduler !== QueueScheduler.main)
        }
      }
      await seen.waitForCount(1)
      return seen.values == [true]
    },
    Example(.scheduler, "subscription: on a background scheduler it is that") {
      let (background, seen) = (QueueScheduler.background(), Probe<Bool>())
      background.schedule {
        subscription.schedule { seen.record(currentScheduler === background) }
      }
      await seen.waitForCount(1)
      return seen.values == [true]
    },
    Example(.scheduler, "subscription: in place, on a scheduler") {
      let seen = Probe<String>()
      await QueueScheduler.background().schedule {
        subscription.schedule { seen.record("in place") }
        seen.record("after")
      }.value
      return seen.values == ["in place", "after"]
    },
    Example(
      .scheduler, "immediate: runs in place",
      .different("it gives work that is over, where the spec gives nil")
    ) {
      let ran = Probe<Void>()
      let work: ScheduledWork = ImmediateScheduler.shared.schedule { ran.record(()) }
      return ran.count == 1 && work.isOver
    },
    Example(
      .scheduler, "immediate: blocks for a block at a date",
      .different("nothing blocks a thread: it runs later, and the caller may await it")
    ) {
      await later(ImmediateScheduler.shared)
    },
    Example(.scheduler, "recursive, in place: once, if it does not ask again") {
      let turns = Counter()
      ImmediateScheduler.shared.scheduleRecursively { _ in turns.increment() }
      return turns.value == 1
    },
    Example(.scheduler, "recursive, in place: again when the caller is done") {
      await recursive(ImmediateScheduler.shared)
    },
    Example(.scheduler, "recursive, in place: 100 000 turns on one stack") {
      let turns = Counter()
      ImmediateScheduler.shared.scheduleRecursively { again in
        if turns.increment() < 100_000 { again() }
      }
      return turns.value == 100_000
    },
    Example(.scheduler, "recursive, on a queue: once, if it does not ask again") {
      let turns = Counter()
      await QueueScheduler.main.scheduleRecursively { _ in turns.increment() }.value
      return turns.value == 1
    },
    Example(.scheduler, "recursive, on a queue: again when the caller is done") {
      await recursive(QueueScheduler.main)
    },
    Example(.scheduler, "recursive, on a queue: asked from elsewhere") {
      let (turns, background) = (Counter(), QueueScheduler.background())
      await QueueScheduler.main.scheduleRecursively { again in
        if turns.increment() < 3 { background.schedule(after: .milliseconds(1)) { again() } }
      }.value
      return turns.value == 3
    },
    Example(.scheduler, "recursive, on a queue: not again when it is cancelled") {
      let (turns, handle) = (Counter(), Probe<ScheduledWork>())
      let scheduler = QueueScheduler.background()
      await scheduler.schedule {
        handle.record(
          scheduler.scheduleRecursively { again in
            turns.increment()
            handle.values.first?.cancel()
            again()
          })
      }.value
      await handle.values.first?.value
      return turns.value == 1
    },
    Example(.scheduler, "a subclass runs a block") {
      let ran = Probe<Void>()
      await OwnScheduler().schedule { ran.record(()) }.value
      return ran.count == 1
    },
    Example(.scheduler, "a subclass runs a block at a date") { await later(OwnScheduler()) },
    Example(.scheduler, "a subclass is the current scheduler") {
      let (own, seen) = (OwnScheduler(), Probe<Bool>())
      await own.schedule { seen.record(currentScheduler === own) }.value
      return seen.values == [true]
    },
    Example(.targetQueue, "is the current scheduler") {
      let (scheduler, seen) = (
        QueueScheduler(name: "test", target: DispatchQueue(label: "target")), Probe<Bool>()
      )
      await scheduler.schedule { seen.record(currentScheduler === scheduler) }.value
      return seen.values == [true]
    },
    Example(.targetQueue, "is serial on a concurrent queue") {
      let queue = DispatchQueue(label: "target", attributes: .concurrent)
      let scheduler = QueueScheduler(name: "test", target: queue)
      let (seen, release) = (Probe<String>(), DispatchSemaphore(value: 0))
      let first: ScheduledWork = scheduler.schedule {
        seen.record("first begins")
        release.wait()
        seen.record("first ends")
      }
      let second: ScheduledWork = scheduler.schedule { seen.record("second") }
      await seen.waitForCount(1)
      release.signal()
      await first.value
      await second.value
      return seen.values == ["first begins", "first ends", "second"]
    },
  ]

  static let testSchedulers: [Example] = [
    Example(.testScheduler, "does nothing without work") {
      let scheduler = VirtualScheduler()
      let stepped = scheduler.step()
      scheduler.run()
      return !stepped
    },
    Example(.testScheduler, "a step runs the earliest block") {
      let (scheduler, ran) = (VirtualScheduler(), Probe<Int>())
      for number in 1...2 { scheduler.schedule { ran.record(number) } }
      guard ran.values.isEmpty, scheduler.step(), ran.values == [1] else { return false }
      return scheduler.step() && ran.values == [1, 2]
    },
    Example(.testScheduler, "steps several times") {
      let (scheduler, ran) = (VirtualScheduler(), Probe<Int>())
      for number in 1...3 { scheduler.schedule { ran.record(number) } }
      for _ in 1...2 { scheduler.step() }
      guard ran.values == [1, 2] else { return false }
      return scheduler.step() && ran.values == [1, 2, 3]
    },
    Example(.testScheduler, "runs everything") {
      let (scheduler, ran) = (VirtualScheduler(), Probe<Int>())
      for number in 1...10 { scheduler.schedule { ran.record(number) } }
      guard ran.values.isEmpty else { return false }
      scheduler.run()
      return ran.values == Array(1...10)
    },
    Example(
      .testScheduler, "blocks at dates, in their order",
      .better("the clock says the date of each; and time can be advanced by a duration")
    ) {
      let (scheduler, ran) = (VirtualScheduler(), Probe<String>())
      scheduler.schedule(at: .start + .seconds(1_000_000)) { ran.record("later") }
      scheduler.schedule(at: .start + .seconds(20)) { ran.record("earlier") }
      guard scheduler.step(), ran.values == ["earlier"] else { return false }
      return scheduler.step() && ran.values == ["earlier", "later"]
    },
    Example(.testScheduler, "blocks after delays, in their order") {
      let (scheduler, ran) = (VirtualScheduler(), Probe<String>())
      scheduler.schedule(after: .seconds(100)) { ran.record("later") }
      scheduler.schedule(after: .seconds(50)) { ran.record("earlier") }
      guard scheduler.step(), ran.values == ["earlier"] else { return false }
      return scheduler.step() && ran.values == ["earlier", "later"]
    },
    Example(.testScheduler, "repeated blocks, in the order of their dates") {
      let (scheduler, ran) = (VirtualScheduler(), Probe<String>())
      let first = scheduler.schedule(every: .seconds(5), after: .seconds(20)) { ran.record("5") }
      let second = scheduler.schedule(every: .seconds(10), after: .seconds(22)) {
        ran.record("10")
      }
      for _ in 1...5 { scheduler.step() }
      first.cancel()
      second.cancel()
      return ran.values == ["5", "10", "5", "5", "10"]
    },
  ]
}
