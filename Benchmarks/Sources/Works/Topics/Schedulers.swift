import Dispatch
import Synchronization
import Tailrace

extension Topic {
  public static let schedulers = Topic(
    "Schedulers", about: "work on Dispatch queues: closures, actors, turns, timers",
    works: [
      Work(
        "plain closures", floors: [.atLeast(4, fasterThan: "`DispatchQueue.async`")],
        contenders: [
          Contender("QueueScheduler") { count in
            let scheduler = QueueScheduler(name: "closures")
            let before = ran.load(ordering: .relaxed)
            for _ in 0..<count { scheduler.schedule { ran.add(1, ordering: .relaxed) } }
            await scheduler.schedule {}.value
            return Tally(count, ran.load(ordering: .relaxed) - before)
          },
          Contender("`DispatchQueue.async`") { count in
            let queue = DispatchQueue(label: "closures")
            let before = ran.load(ordering: .relaxed)
            for _ in 0..<count { queue.async { ran.add(1, ordering: .relaxed) } }
            await queue.end()
            return Tally(count, ran.load(ordering: .relaxed) - before)
          },
        ]),
      // Both threads count the references to what is captured: that is most of the cost.
      Work(
        "closures that capture an object",
        contenders: [
          Contender("QueueScheduler") { count in
            let (scheduler, sum) = (QueueScheduler(name: "closures"), Sum())
            for element in 0..<count { scheduler.schedule { sum.add(element) } }
            await scheduler.schedule {}.value
            return Tally(count, sum.value)
          },
          Contender("`DispatchQueue.async`") { count in
            let (queue, sum) = (DispatchQueue(label: "closures"), Sum())
            for element in 0..<count { queue.async { sum.add(element) } }
            await queue.end()
            return Tally(count, sum.value)
          },
        ]),
      Work(
        "plain closures, scheduled from the queue",
        contenders: [
          Contender("QueueScheduler") { count in
            let (scheduler, sum) = (QueueScheduler(name: "closures"), Sum())
            await scheduler.run {
              for element in 0..<count { scheduler.schedule { sum.add(element) } }
            }
            await scheduler.schedule {}.value
            return Tally(count, sum.value)
          },
          Contender("`DispatchQueue.async`") { count in
            let (queue, sum) = (DispatchQueue(label: "closures"), Sum())
            queue.async { for element in 0..<count { queue.async { sum.add(element) } } }
            await queue.end()
            await queue.end()
            return Tally(count, sum.value)
          },
        ]),
      Work(
        "calls of an actor",
        contenders: [
          Contender("on a QueueScheduler", sizes: Contender.fewer) { count in
            await hops(count, Tenant(QueueScheduler(name: "tenant")))
          },
          Contender("on a block per job", sizes: Contender.fewer) { count in
            await hops(count, Tenant(BlockPerJob()))
          },
          Contender("default actor", sizes: Contender.fewer) { count in
            let resident = Resident()
            for element in 0..<count { await resident.add(element) }
            return Tally(count, await resident.sum)
          },
        ]),
      Work(
        "a burst of tasks to one actor",
        contenders: [
          Contender("on a QueueScheduler", sizes: Contender.fewer) { count in
            await burst(count, Tenant(QueueScheduler(name: "tenant")))
          },
          Contender("on a block per job", sizes: Contender.fewer) { count in
            await burst(count, Tenant(BlockPerJob()))
          },
        ]),
      Work(
        "ping-pong between two",
        contenders: [
          Contender("QueueSchedulers", sizes: Contender.fewer) { count in
            await pingPong(
              count, Tenant(QueueScheduler(name: "one")), Tenant(QueueScheduler(name: "two")))
          },
          Contender("a block per job", sizes: Contender.fewer) { count in
            await pingPong(count, Tenant(BlockPerJob()), Tenant(BlockPerJob()))
          },
        ]),
      Work(
        "turns of recursion",
        contenders: [
          Contender("scheduleRecursively") { count in
            let sum = Sum()
            await QueueScheduler(name: "recursion").scheduleRecursively { again in
              if sum.add(1) < count { again() }
            }.value
            return Tally(count, sum.value)
          },
          Contender("`DispatchQueue.async`") { count in
            let (queue, sum) = (DispatchQueue(label: "recursion"), Sum())
            await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
              @Sendable func turn() {
                if sum.add(1) < count { queue.async(execute: turn) } else { done.resume() }
              }
              queue.async(execute: turn)
            }
            return Tally(count, sum.value)
          },
        ]),
    ],
    quantities: [1, 10, 100].flatMap { milliseconds in
      [("p50", 50), ("p99", 99)].map { name, percentile in
        Quantity(
          "lateness of a tick each \(milliseconds) ms, \(name)", who: "QueueScheduler", unit: "µs",
          size: max(20, 2000 / milliseconds)
        ) { count in
          await lateness(every: .milliseconds(milliseconds), count, percentile)
        }
      }
    })
}

/// A global, so that the closures that count here capture nothing.
private let ran = Atomic(0)

/// How late the ticks of a timer come, in microseconds: never less than 0.
private func lateness(every interval: Duration, _ count: Int, _ percentile: Int) async -> Double {
  let scheduler = QueueScheduler(name: "ticks", qos: .userInteractive)
  let lateness = Mutex([Duration]())
  let start = ContinuousClock.now
  await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
    scheduler.schedule(every: interval) {
      let elapsed = start.duration(to: .now)
      let ticks = (elapsed / interval).rounded(.down)
      lateness.withLock { lateness in
        lateness.append(elapsed - interval * Int(ticks))
        if lateness.count == count { done.resume() }
      }
    }
  }
  let sorted = lateness.withLock { $0.prefix(count).sorted() }
  return sorted[min(count - 1, count * percentile / 100)] / .microseconds(1)
}

private func hops(_ count: Int, _ tenant: Tenant) async -> Tally {
  for element in 0..<count { await tenant.add(element) }
  return Tally(count, await tenant.sum)
}

private func burst(_ count: Int, _ tenant: Tenant) async -> Tally {
  await withDiscardingTaskGroup { group in
    for element in 0..<count { group.addTask { await tenant.add(element) } }
  }
  return Tally(count, await tenant.sum)
}

private func pingPong(_ count: Int, _ one: Tenant, _ two: Tenant) async -> Tally {
  for element in 0..<count {
    if element % 2 == 0 { await one.add(element) } else { await two.add(element) }
  }
  return Tally(count, await one.sum + two.sum)
}

private actor Resident {
  var sum = 0
  func add(_ element: Int) { sum &+= element }
}

private actor Tenant {
  private let executor: any SerialExecutor
  var sum = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func add(_ element: Int) { sum &+= element }
}

/// The executor that one writes first.
private final class BlockPerJob: SerialExecutor {
  private let queue = DispatchQueue(label: "block per job")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

private final class Sum: Sendable {
  private let sum = Atomic(0)

  var value: Int { sum.load(ordering: .relaxed) }

  @discardableResult
  func add(_ element: Int) -> Int { sum.wrappingAdd(element, ordering: .relaxed).newValue }
}

extension DispatchQueue {
  fileprivate func end() async {
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      self.async { done.resume() }
    }
  }
}
