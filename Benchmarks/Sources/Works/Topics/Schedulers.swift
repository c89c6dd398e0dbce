import Measuring
import Dispatch
import Synchronization
import Tailrace

extension Topic {
  public static let schedulers = Topic(
    "Schedulers", about: "work on Dispatch queues: closures, actors, turns, timers",
    rows: [
      Row(
        "plain closures", per: "closure",
        Contender("QueueScheduler", schedule),
        Contender("`DispatchQueue.async`", atMost: 1 / 4, dispatch),
        Contender("an array behind a mutex, one block for each burst", burstByHand)),
      // Both threads count the references to what is captured: that is most of the cost.
      Row(
        "closures that capture an object", per: "closure",
        Contender("QueueScheduler", scheduleCapturing),
        Contender("`DispatchQueue.async`", atMost: 1, dispatchCapturing)),
      Row(
        "plain closures, scheduled from the queue", per: "closure",
        Contender("QueueScheduler", scheduleFromWithin),
        Contender("`DispatchQueue.async`", atMost: 1.2, dispatchFromWithin)),
      Row(
        "calls of an actor", per: "call", sizes: [4, 100, 10_000],
        Contender("on a QueueScheduler") { await call(Tenant(scheduler), $0) },
        Contender("on a block per job", atMost: 1.2) { await call(Tenant(BlockPerJob()), $0) },
        Contender("default actor", callResident)),
      Row(
        "a burst of tasks to one actor", per: "task", sizes: [4, 100, 10_000],
        Contender("on a QueueScheduler") { await burst(to: Tenant(scheduler), $0) },
        Contender("on a block per job", atMost: 1.2) {
          await burst(to: Tenant(BlockPerJob()), $0)
        }),
      Row(
        "ping-pong between two", per: "call", sizes: [4, 100, 10_000],
        Contender("QueueSchedulers") {
          await pingPong(Tenant(scheduler), Tenant(QueueScheduler(name: "other")), $0)
        },
        Contender("a block per job", atMost: 1.2) {
          await pingPong(Tenant(BlockPerJob()), Tenant(BlockPerJob()), $0)
        }),
      Row(
        "turns of recursion", per: "turn",
        Contender("scheduleRecursively", recur),
        Contender("`DispatchQueue.async`", atMost: 2.5, dispatchRecursively)),
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

private var scheduler: QueueScheduler { QueueScheduler(name: "benchmark") }

private var queue: DispatchQueue { DispatchQueue(label: "benchmark") }

/// A global, so that the closures that count here capture nothing.
private let ran = Atomic(0)

// MARK: Tailrace

@inline(never) private func schedule(_ count: Int) async -> Int {
  let scheduler = scheduler
  let before = ran.load(ordering: .relaxed)
  for _ in 0..<count { scheduler.schedule { ran.add(1, ordering: .relaxed) } }
  await scheduler.schedule {}.value
  return ran.load(ordering: .relaxed) - before
}

@inline(never) private func scheduleCapturing(_ count: Int) async -> Int {
  let (scheduler, sum) = (scheduler, Sum())
  for element in 0..<count { scheduler.schedule { sum.add(element) } }
  await scheduler.schedule {}.value
  return sum.value
}

@inline(never) private func scheduleFromWithin(_ count: Int) async -> Int {
  let (scheduler, sum) = (scheduler, Sum())
  await scheduler.run {
    for element in 0..<count { scheduler.schedule { sum.add(element) } }
  }
  await scheduler.schedule {}.value
  return sum.value
}

@inline(never) private func recur(_ count: Int) async -> Int {
  let sum = Sum()
  await scheduler.scheduleRecursively { again in
    if sum.add(1) < count { again() }
  }.value
  return sum.value
}

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

// MARK: Dispatch

@inline(never) private func dispatch(_ count: Int) async -> Int {
  let queue = queue
  let before = ran.load(ordering: .relaxed)
  for _ in 0..<count { queue.async { ran.add(1, ordering: .relaxed) } }
  await queue.end()
  return ran.load(ordering: .relaxed) - before
}

@inline(never) private func dispatchCapturing(_ count: Int) async -> Int {
  let (queue, sum) = (queue, Sum())
  for element in 0..<count { queue.async { sum.add(element) } }
  await queue.end()
  return sum.value
}

@inline(never) private func dispatchFromWithin(_ count: Int) async -> Int {
  let (queue, sum) = (queue, Sum())
  queue.async { for element in 0..<count { queue.async { sum.add(element) } } }
  await queue.end()
  await queue.end()
  return sum.value
}

@inline(never) private func dispatchRecursively(_ count: Int) async -> Int {
  let (queue, sum) = (queue, Sum())
  await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
    @Sendable func turn() {
      if sum.add(1) < count { queue.async(execute: turn) } else { done.resume() }
    }
    queue.async(execute: turn)
  }
  return sum.value
}

@inline(never) private func burstByHand(_ count: Int) async -> Int {
  let bursts = Bursts(queue)
  let before = ran.load(ordering: .relaxed)
  for _ in 0..<count { bursts.add { ran.add(1, ordering: .relaxed) } }
  await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
    bursts.add { done.resume() }
  }
  return ran.load(ordering: .relaxed) - before
}

/// Closures that collect while others run.
private final class Bursts: Sendable {
  private let queue: DispatchQueue
  private let waiting = Mutex<[@Sendable () -> Void]>([])

  init(_ queue: DispatchQueue) { self.queue = queue }

  func add(_ closure: @escaping @Sendable () -> Void) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(closure)
      return waiting.count == 1
    }
    if isFirst { queue.async { self.drain() } }
  }

  private func drain() {
    let burst = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for closure in burst { closure() }
  }
}

extension DispatchQueue {
  fileprivate func end() async {
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      self.async { done.resume() }
    }
  }
}
