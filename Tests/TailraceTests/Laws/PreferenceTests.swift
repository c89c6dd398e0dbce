import Tailrace
import TailraceTesting
import Testing

/// After a suspension, a step goes on where the task that started its list prefers to run.
@Suite("Context: the executor that the starter prefers", .inTurn)
struct PreferenceTests {
  /// One way to have something computed that takes a second.
  struct Work: Sendable, CustomTestStringConvertible {
    typealias Wait = @Sendable () async -> Void

    let testDescription: String
    /// How many seconds it takes until the answer is there.
    let seconds: Int
    let run: @Sendable (@escaping Wait) async -> Void

    init(
      _ name: String, _ seconds: Int, _ run: @escaping @Sendable (@escaping Wait) async -> Void
    ) {
      testDescription = name
      self.seconds = seconds
      self.run = run
    }

    static let all = [
      Work("steps", 3) { wait in
        _ = await Steps<Int, Never>(3) { position in
          await wait()
          return position
        }.memoized().count()
      },
      Work("a map", 3) { wait in
        for await _ in LazyList(1...3).mapAsync({ (_: Int) async in await wait() }) {}
      },
      Work("plain layers over a map", 3) { wait in
        let list = LazyList(1...3).mapAsync { (_: Int) async in await wait() }
        _ = await list.map { 1 }.filter { $0 > 0 }.array()
      },
      Work("asynchronous layers", 6) { wait in
        let list = LazyList(1...3).mapAsync { (_: Int) async in await wait() }
        _ = await list.mapAsync { await wait() }.count()
      },
      Work("a memo", 1) { wait in
        _ = await Memo<Int, Never> { () async -> Int in
          await wait()
          return 1
        }.value()
      },
      Work("concurrentMap(limit: 3)", 1) { wait in
        _ = await LazyList(1...3).concurrentMap(limit: 3) { (_: Int) async in await wait() }.count()
      },
      Work("prefetching(2)", 3) { wait in
        _ = await LazyList(1...3).mapAsync { (_: Int) async in await wait() }.prefetching(2).count()
      },
      Work("children of a step", 1) { wait in
        _ = await Steps<Int, Never>(1) { _ in
          async let first: Void = wait()
          async let second: Void = wait()
          _ = await (first, second)
          return 1
        }.memoized().count()
      },
      Work("foldRight", 3) { wait in
        let list = LazyList(1...3).mapAsync { (number: Int) async -> Int in
          await wait()
          return number
        }
        _ = await list.foldRight(0) { first, rest in first + (await rest.value()) }
      },
    ]
  }

  @Test("virtual time passes in lists", .timeLimit(.minutes(15)), arguments: Work.all)
  func virtualTime(_ work: Work) {
    let (scheduler, ended) = (VirtualScheduler(), Probe<VirtualScheduler.Instant>())
    let task = Task(executorPreference: scheduler) {
      await work.run { try? await scheduler.clock.sleep(for: .seconds(1)) }
      ended.record(scheduler.now)
    }
    scheduler.advance(by: .seconds(work.seconds - 1))
    #expect(ended.count == 0)
    scheduler.advance(by: .seconds(10))
    #expect(ended.values == [.start + .seconds(work.seconds)])
    task.cancel()
  }

  @Test("steps go on on the queue", .timeLimit(.minutes(15)), arguments: Work.all)
  func queue(_ work: Work) async {
    let (queue, seen) = (QueueScheduler(), Probe<Bool>())
    await Task(executorPreference: queue) {
      await work.run {
        await Task.yield()
        seen.record(queue.isIsolatingCurrentContext() == true)
        await ContextTests.outside()
        seen.record(queue.isIsolatingCurrentContext() == true)
      }
    }.value
    #expect(seen.count > 0)
    #expect(seen.values.allSatisfy { $0 })
  }

  /// Runs jobs on the global executor, and records their priorities.
  private final class Recording: TaskExecutor {
    let priorities = Probe<UInt8>()

    func enqueue(_ job: consuming ExecutorJob) {
      priorities.record(job.priority.rawValue)
      let job = UnownedJob(job)
      Task.detached { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test("a step goes on with its reader's priority", .timeLimit(.minutes(15)))
  func priority() async {
    let (executor, gate) = (Recording(), Gate())
    let list = Steps<Int, Never>(1) { position in
      await gate.wait()
      return position
    }.memoized()
    let reader = Task(executorPreference: executor, priority: .high) { await list.array() }
    await gate.waitForArrivals(1)
    Task.detached(priority: .background) { gate.open() }
    #expect(await reader.value == [0])
    #expect(executor.priorities.values.allSatisfy { $0 == TaskPriority.high.rawValue })
  }

  @Test(
    "a task that only reads a list that another one started does not move it",
    .timeLimit(.minutes(15)))
  func starter() async {
    let (queue, seen, gate) = (QueueScheduler(), Probe<Bool>(), Gate())
    let list = Steps<Int, Never>(4) { position in
      await gate.wait()
      seen.record(queue.isIsolatingCurrentContext() == true)
      return position
    }.memoized()
    let first = Task { await list.head() }
    await gate.waitForArrivals(1)
    let second = Task(executorPreference: queue) { await list.array() }
    gate.open()
    #expect(await first.value == 0)
    #expect(await second.value == [0, 1, 2, 3])
    #expect(seen.values.first == false)
  }
}

extension ContextTests {
  /// A suspension that ends on a thread of nobody's.
  static func outside() async {
    let gate = Gate()
    Task.detached { gate.open() }
    await gate.wait()
  }
}
