import Dispatch
import Tailrace
import TailraceTesting
import Testing

@Suite("currentScheduler: where this code runs", .hangLimit, .inTurn)
struct CurrentSchedulerTests {
  private let outer = QueueScheduler(name: "outer")
  private let inner = QueueScheduler(name: "inner")

  private actor Resident {
    let scheduler: QueueScheduler
    init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }
    nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }

    func visit(_ other: Resident?) async throws {
      #expect(currentScheduler === scheduler)
      try await other?.visit(nil)
      #expect(currentScheduler === scheduler)
      await Task.yield()
      #expect(currentScheduler === scheduler)
      if other == nil { throw CancellationError() }
    }
  }

  /// An actor without an executor of its own.
  private actor Stranger {
    func here() -> Bool { currentScheduler == nil }
    func isOn(_ scheduler: QueueScheduler) -> Bool { currentScheduler === scheduler }
  }

  @Test("nil outside")
  func outside() async {
    #expect(currentScheduler == nil)
    #expect(await Task.detached { currentScheduler == nil }.value)
    await outer.run {}
    #expect(currentScheduler == nil)
    #expect(await Stranger().here())
  }

  @Test("right in nested schedulers, after awaits and after a throw")
  func nested() async {
    await outer.run {
      #expect(currentScheduler === outer)
      await inner.run {
        #expect(currentScheduler === inner)
        await Task.yield()
        #expect(currentScheduler === inner)
      }
      #expect(currentScheduler === outer)
      do {
        try await inner.run { throw CancellationError() }
      } catch {
        #expect(currentScheduler === outer)
      }
      #expect(await Task.detached { currentScheduler == nil }.value)
      try? await outer.sleep(for: .milliseconds(1))
      #expect(currentScheduler === outer)
      ImmediateScheduler.shared.schedule { #expect(currentScheduler === outer) }
      await withTaskGroup { group in
        for _ in 0..<3 { group.addTask { #expect(currentScheduler === outer) } }
      }
    }
  }

  @Test("right in work of every kind")
  func kinds() async {
    await outer.schedule { #expect(currentScheduler === outer) }.value
    await outer.schedule(after: .milliseconds(1)) { #expect(currentScheduler === outer) }.value
    await outer.scheduleRecursively { _ in #expect(currentScheduler === outer) }.value
    await outer.schedule {
      await Task.yield()
      #expect(currentScheduler === outer)
    }.value
    let ticked = Gate()
    let work = outer.schedule(every: .milliseconds(1)) {
      #expect(currentScheduler === outer)
      Task.immediate { await ticked.wait() }
    }
    await ticked.waitForArrivals(3)
    ticked.open()
    work.cancel()
    await work.value
    await QueueScheduler.main.schedule { #expect(currentScheduler === QueueScheduler.main) }.value
    #expect(await MainActor.run { currentScheduler === QueueScheduler.main })
  }

  @Test("right in actors that live on schedulers, whoever calls them")
  func actors() async throws {
    let (first, second) = (Resident(outer), Resident(inner))
    await #expect(throws: CancellationError.self) { try await first.visit(second) }
    await #expect(throws: CancellationError.self) { try await second.visit(nil) }
    await outer.run {
      await #expect(throws: CancellationError.self) { try await second.visit(first) }
      #expect(currentScheduler === outer)
    }
  }

  @Test("an actor without an executor runs on the calling task's scheduler, any other one does not")
  func otherActors() async {
    await outer.run {
      #expect(await Stranger().isOn(outer))
      #expect(await MainActor.run { currentScheduler === QueueScheduler.main })
      #expect(currentScheduler === outer)
    }
  }

  @Test("right where Dispatch brings the code, and on schedulers that target it")
  func dispatch() async {
    let upon = QueueScheduler(name: "upon", target: outer.queue)
    let targeting = DispatchQueue(label: "targeting", target: outer.queue)
    for queue in [outer.queue, targeting] {
      await withCheckedContinuation { continuation in
        queue.async {
          #expect(currentScheduler === outer)
          continuation.resume()
        }
      }
    }
    outer.queue.sync { #expect(currentScheduler === outer) }
    await upon.run { #expect(currentScheduler === upon) }
  }

  @Test("right in a scheduler that is not one of ours")
  func custom() async {
    let scheduler = DoorScheduler()
    await scheduler.schedule { #expect(currentScheduler === scheduler) }.value
    await scheduler.schedule {
      #expect(currentScheduler === scheduler)
      await Task.yield()
      #expect(currentScheduler === scheduler)
      await outer.run { #expect(currentScheduler === outer) }
      #expect(currentScheduler === scheduler)
    }.value
    #expect(currentScheduler == nil)
  }

  @Test("not kept alive by being asked for")
  func lifetime() async {
    weak var gone: DoorScheduler?
    for _ in 0..<100 {
      let scheduler = DoorScheduler()
      gone = scheduler
      await scheduler.schedule { #expect(currentScheduler === scheduler) }.value
      await scheduler.closes()
    }
    #expect(gone == nil)
  }
}

/// A scheduler as a user would write one, with two methods.
final class DoorScheduler: Scheduler {
  private let queue = DispatchQueue(label: "door")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { self.perform(job) }
  }

  func enqueue(_ work: ScheduledWork) { queue.async { self.perform(work) } }

  /// Waits until the queue has let go of what it was given.
  func closes() async { await withCheckedContinuation { done in queue.async { done.resume() } } }
}

/// A scheduler that performs work where it is enqueued. It records how deep the calls nest.
private final class InPlaceScheduler: Scheduler {
  private static let depth = TaskLocal(wrappedValue: 0)
  let depths = Probe<Int>()

  func enqueue(_ job: consuming ExecutorJob) { perform(UnownedJob(job)) }

  func enqueue(_ work: ScheduledWork) {
    Self.depth.withValue(Self.depth.get() + 1) {
      depths.record(Self.depth.get())
      perform(work)
    }
  }
}

@Suite("Schedulers of a user's own: two methods are enough", .hangLimit, .inTurn)
struct CustomSchedulerTests {
  @Test("everything works on top of them")
  func everything() async throws {
    let scheduler = DoorScheduler()
    let probe = Probe<Int>()
    await scheduler.schedule { probe.record(1) }.value
    await scheduler.schedule(after: .milliseconds(1)) { probe.record(2) }.value
    await scheduler.schedule(at: .now) { probe.record(3) }.value
    await scheduler.scheduleRecursively { again in
      probe.record(4)
      if probe.count < 5 { again() }
    }.value
    #expect(await scheduler.run { probe.count } == 5)
    var ticks = 0
    for await _ in scheduler.ticks(every: .milliseconds(1)).prefix(3) { ticks += 1 }
    #expect(ticks == 3)
    let work = scheduler.schedule(every: .milliseconds(1)) { probe.record(5) }
    await probe.waitForCount(8)
    work.cancel()
    await work.value
    #expect(probe.values.prefix(8) == [1, 2, 3, 4, 4, 5, 5, 5])
    let existential: any Scheduler = scheduler
    await existential.schedule(after: .zero) { probe.record(6) }.value
    #expect(probe.values.last == 6)
  }

  @Test("a repetition that is always late begins on no stack of the turn before")
  func lateRepetition() async {
    let scheduler = InPlaceScheduler()
    let work = scheduler.schedule(every: .nanoseconds(1)) {}
    await scheduler.depths.waitForCount(100)
    work.cancel()
    await work.value
    #expect(Set(scheduler.depths.values) == [1])
  }
}
