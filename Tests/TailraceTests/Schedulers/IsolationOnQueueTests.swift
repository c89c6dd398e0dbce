import Dispatch
import Tailrace
import TailraceTesting
import Testing

@Suite("QueueScheduler as an executor: actors, tasks, the main actor", .hangLimit, .inTurn)
struct IsolationOnQueueTests {
  private actor Account {
    let scheduler: QueueScheduler
    var balance = 0
    init(_ scheduler: QueueScheduler) { self.scheduler = scheduler }
    nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }
    func add(_ amount: Int) { balance += amount }
    func note(_ number: Int, in probe: Probe<Int>) { probe.record(number) }
    /// Gives way between reading and writing, as only other members of the actor may.
    func addSlowly(_ amount: Int) async {
      let old = balance
      balance = old + amount
      await Task.yield()
    }
  }

  /// Counts without synchronisation of its own.
  private final class Plain: @unchecked Sendable {
    // Guard: the scheduler under test. May touch it: work on that scheduler.
    var count = 0
  }

  @Test("assumeIsolated works from all code on the queue, whoever brought it there")
  func assumeIsolated() async {
    let scheduler = QueueScheduler(name: "account")
    let account = Account(scheduler)
    @Sendable func add() { account.assumeIsolated { $0.balance += 1 } }
    await scheduler.schedule(add).value
    await scheduler.run { add() }
    await scheduler.run {
      await Task.yield()
      add()
    }
    scheduler.queue.sync(execute: add)
    DispatchQueue(label: "targeting", target: scheduler.queue).sync(execute: add)
    await QueueScheduler(name: "upon", target: scheduler.queue).run { add() }
    await scheduler.schedule(after: .milliseconds(1), add).value
    #expect(await account.balance == 7)
    #expect(scheduler.isIsolatingCurrentContext() == false)
    #expect(await scheduler.run { scheduler.isIsolatingCurrentContext() } == true)
  }

  @Test("assumeIsolated elsewhere traps with words")
  func elsewhere() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      QueueScheduler(name: "account").checkIsolated()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("QueueScheduler \"account\"") && words.contains("queue.async"))
  }

  @Test("a queue that has outlived its scheduler is never taken for another scheduler's")
  func outlived() {
    // A label that takes no block of the size that the schedulers have left behind.
    let name = "a name that is quite a bit longer than those of other queues"
    let orphans = (0..<100).map { _ in
      DispatchQueue(label: name, target: QueueScheduler(name: name).queue)
    }
    let others = (0..<300).map { _ in QueueScheduler(name: name) }
    for orphan in orphans {
      orphan.sync {
        #expect(others.count { $0.isIsolatingCurrentContext() == true } == 0)
        #expect(currentScheduler == nil)
      }
    }
  }

  @Test("actors, closures and tasks on one scheduler exclude one another")
  func exclusion() async {
    let scheduler = QueueScheduler(name: "shared", target: .global())
    let (account, other) = (Account(scheduler), Account(scheduler))
    let plain = Plain()
    await withTaskGroup { group in
      for _ in 0..<200 {
        group.addTask { await account.add(1) }
        group.addTask { await other.addSlowly(1) }
        group.addTask { await scheduler.schedule { plain.count += 1 }.value }
        group.addTask { await scheduler.run { plain.count += 1 } }
        group.addTask { scheduler.queue.sync { plain.count += 1 } }
        group.addTask { await scheduler.schedule { plain.count += 1 }.value }
      }
    }
    #expect(await account.balance == 200)
    #expect(await other.balance == 200)
    #expect(await scheduler.run { plain.count } == 800)
  }

  @Test("work on main and the main actor exclude each other")
  @MainActor
  func main() async {
    let plain = Plain()
    await QueueScheduler.main.schedule { MainActor.assumeIsolated { plain.count += 1 } }.value
    await QueueScheduler.main.run { plain.count += 1 }
    await withTaskGroup { group in
      for _ in 0..<200 {
        group.addTask { @MainActor in plain.count += 1 }
        group.addTask { await QueueScheduler.main.schedule { plain.count += 1 }.value }
      }
    }
    #expect(plain.count == 402)
    let account = Account(.main)
    await account.add(1)
    await QueueScheduler.main.schedule { account.assumeIsolated { $0.balance += 1 } }.value
    #expect(await account.balance == 2)
  }

  @Test("jobs and closures stand in one line")
  func line() async {
    let scheduler = QueueScheduler(name: "line")
    let account = Account(scheduler)
    let probe = Probe<Int>()
    await scheduler.run {
      for number in 0..<100 {
        switch number % 3 {
        case 0: scheduler.schedule { probe.record(number) }
        case 1: Task(executorPreference: scheduler) { probe.record(number) }
        default: Task.immediate { await account.note(number, in: probe) }
        }
      }
      #expect(probe.count == 0)
    }
    await probe.waitForCount(100)
    #expect(probe.values == Array(0..<100))
  }

  @Test("others on the same target have their turn between two batches")
  func fairness() async {
    let target = DispatchQueue(label: "target")
    let (busy, other) = (
      QueueScheduler(name: "busy", target: target), QueueScheduler(name: "other", target: target)
    )
    let count = Plain()
    // The target holds what comes until all of it is there.
    target.suspend()
    for _ in 0..<10_000 { busy.schedule { count.count += 1 } }
    let work = other.schedule { #expect(count.count == 64) }
    target.resume()
    await work.value
    await busy.schedule {}.value
    #expect(target.sync { count.count } == 10_000)
  }

  @Test("run returns and throws what its closure does, in the caller's isolation")
  @MainActor
  func running() async {
    struct Failure: Error, Equatable {}
    // Not Sendable: it is sent.
    final class Box { var value = 7 }
    let scheduler = QueueScheduler(name: "run")
    let box = await scheduler.run { Box() }
    MainActor.preconditionIsolated()
    #expect(box.value == 7)
    do throws(Failure) {
      try await scheduler.run { () throws(Failure) in throw Failure() }
      Issue.record("did not throw")
    } catch {
      #expect(error == Failure())
    }
    MainActor.preconditionIsolated()
  }

  @Test("run in a cancelled task runs, and can see that it is cancelled")
  func runCancelled() async {
    let scheduler = QueueScheduler(name: "run")
    let gate = Gate()
    let task = Task {
      await gate.wait()
      return await scheduler.run { Task.isCancelled }
    }
    task.cancel()
    gate.open()
    #expect(await task.value)
  }
}
