import Dispatch
import Synchronization
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals
@testable import TailraceSupport

@Suite("Lists that are pushed, and signals that are delivered on a scheduler", .hangLimit, .inTurn)
struct PushingTests {
  static let policies: [AsyncStream<Int>.Continuation.BufferingPolicy] = [
    .unbounded, .bufferingOldest(0), .bufferingOldest(1), .bufferingOldest(7),
  ]

  // MARK: deliver(on:)

  @Test("handlers run on the scheduler, one event in each turn of it")
  func deliver() async {
    let scheduler = QueueScheduler(name: "delivery")
    let log = Probe<String>()
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    for number in 1...3 { subscriber.send(number) }
    subscriber.complete()
    await signal.deliver(on: scheduler).subscribe { event in
      #expect(currentScheduler === scheduler)
      guard case .next(let number) = event else { return log.record("completed") }
      log.record("\(number)")
      scheduler.schedule { log.record("after \(number)") }
    }.value
    #expect(
      log.values == ["1", "after 1", "2", "after 2", "3", "after 3", "completed"])
  }

  @Test("the signals that are derived keep the scheduler")
  func derived() async {
    let scheduler = QueueScheduler(name: "delivery")
    let signal = Signal<Int, Never> { $0.complete() }.deliver(on: scheduler)
    await signal.events.subscribe { _ in #expect(currentScheduler === scheduler) }.value
    await signal.events.dematerialized().subscribe { (_: Signal<Int, Never>.Event) in
      #expect(currentScheduler === scheduler)
    }.value
  }

  @Test("a subscription can be cancelled by its own handler, between two turns")
  func cancelledInTurn() async {
    let scheduler = QueueScheduler(name: "delivery")
    let log = Probe<String>()
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    for number in 1...3 { subscriber.send(number) }
    await signal.deliver(on: scheduler).subscribe { event in
      log.record("\(event)")
      withUnsafeCurrentTask { $0?.cancel() }
    }.value
    #expect(log.values == ["next(1)"])
    #expect(subscriber.send(4) == .dropped(4))
  }

  @Test(
    "cancelled on the scheduler, before whichever of its turns: the handler is not called again")
  func cancelledBetweenTurns() async {
    for signal in [
      { (scheduler: VirtualScheduler) in [1, 2, 3].lazyList.signal(on: scheduler) },
      { scheduler in
        Signal { subscriber in for number in 1...3 { subscriber.send(number) } }
          .deliver(on: scheduler)
      },
    ] as [(VirtualScheduler) -> Signal<Int, Never>] {
      for steps in 0..<16 {
        let scheduler = VirtualScheduler()
        let calls = Counter()
        let task = signal(scheduler).subscribe { _ in calls.increment() }
        for _ in 0..<steps { scheduler.step() }
        let before = calls.value
        task.cancel()
        scheduler.run()
        await task.value
        #expect(calls.value == before, "after \(steps) steps")
      }
    }
  }

  // MARK: signal(on:)

  @Test("a list sends its elements in order, each in a turn, then completes")
  func signal() async {
    let scheduler = QueueScheduler(name: "walk")
    let evaluated = Counter()
    let list = LazyList(0..<3).map { number in
      #expect(currentScheduler === scheduler, "the walk evaluates on the scheduler")
      return evaluated.increment(by: 1, giving: number)
    }
    let signal = list.signal(on: scheduler)
    #expect(evaluated.value == 0)
    for _ in 1...2 {
      let log = Probe<String>()
      await signal.subscribe { event in
        #expect(currentScheduler === scheduler)
        guard case .next(let number) = event else { return log.record("completed") }
        log.record("\(number)")
        scheduler.schedule { log.record("after \(number)") }
      }.value
      #expect(log.values == ["0", "after 0", "1", "after 1", "2", "after 2", "completed"])
    }
    #expect(evaluated.value == 3, "each subscription walks the list, which is evaluated once")
  }

  @Test("it stops between two elements when it is cancelled")
  func signalCancelled() async {
    let instances = InstanceCounter()
    let scheduler = QueueScheduler(name: "walk")
    var list: LazyList<InstanceCounter.Member, Never>? = LazyList(0...).map { instances.member($0) }
    for await member in list!.signal(on: scheduler) where member.number == 5 { break }
    list = nil
    await instances.waitUntilEmpty()
  }

  @Test("a failure is a failure, not the end")
  func signalFailure() async {
    let list = SourceKind.asynchronous.make(Probe(), failingAt: 3)
    let signal = list.signal(on: QueueScheduler.background())
    await #expect(throws: Mishap(position: 2)) { try await signal.array() }
    await #expect(throws: Mishap(position: 2)) {
      for try await _ in list.stream(on: QueueScheduler.background()) {}
    }
  }

  @Test("in place")
  func immediate() async {
    #expect(await LazyList(0..<100).signal(on: ImmediateScheduler.shared).array().count == 100)
    var sum = 0
    for await number in LazyList(0..<100).stream(on: ImmediateScheduler.shared) { sum += number }
    #expect(sum == 4950)
  }

  // MARK: stream(on:)

  @Test("a stream has all the elements, whatever it may buffer", arguments: 0..<4)
  func stream(_ policy: Int) async {
    var seen: [Int] = []
    let scheduler = QueueScheduler(name: "walk")
    for await number in LazyList(0..<1000).stream(
      on: scheduler, bufferingPolicy: Self.policies[policy])
    { seen.append(number) }
    #expect(seen == Array(0..<1000))
  }

  @Test("a bounded walk stays so many ahead of the reader", arguments: [0, 1, 5])
  func boundedStream(_ bound: Int) async {
    let pulls = Probe<Int>()
    let stream = LazyList(0..<100).map { pulls.pass($0) }
      .stream(on: QueueScheduler.background(), bufferingPolicy: .bufferingOldest(bound))
    #expect(pulls.count == 0, "nobody has asked")
    var iterator = stream.makeAsyncIterator()
    for number in 0..<50 {
      #expect(await iterator.next() == number)
      #expect(pulls.count <= number + 2 + bound)
    }
    await pulls.waitForCount(50 + bound)
  }

  @Test("a reader of the newest gets them in order, and the last one")
  func newest() async {
    var seen: [Int] = []
    let stream = LazyList(0..<1000).stream(
      on: QueueScheduler.background(), bufferingPolicy: .bufferingNewest(2))
    for await number in stream { seen.append(number) }
    #expect(seen == seen.sorted())
    #expect(seen.last == 999)
  }

  @Test("leaving a stream stops the walk", arguments: [true, false])
  func leaving(_ isBounded: Bool) async {
    let instances = InstanceCounter()
    for await member in LazyList(0...).map({ instances.member($0) }).stream(
      on: QueueScheduler.background(), bufferingPolicy: isBounded ? .bufferingOldest(3) : .unbounded
    )
    where member.number == 2 { break }
    await instances.waitUntilEmpty()
  }

  @Test("a task that is cancelled ends the stream, and the walk")
  func cancelled() async {
    let instances = InstanceCounter()
    let read = Gate()
    let task = Task {
      for try await member in SourceKind.plain.make(upTo: .max, Probe())
        .map({ instances.member($0) }).stream(on: QueueScheduler.background())
      {
        if member.number == 3 { await read.wait() }
      }
    }
    await read.waitForArrivals(1)
    task.cancel()
    read.open()
    await #expect(throws: Never.self) { try await task.value }
    await instances.waitUntilEmpty()
  }

  @Test("several tasks share a stream: each element goes to one of them")
  func shared() async {
    let stream = LazyList(0..<10_000).stream(on: QueueScheduler.background())
    let all = await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var own: [Int] = []
          for await number in stream { own.append(number) }
          return own
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(all.sorted() == Array(0..<10_000))
  }

  @Test("a signal as a stream")
  func signalStream() async throws {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let stream: AsyncStream<Int> = signal.stream()
    subscriber.send(1)
    subscriber.complete()
    var seen: [Int] = []
    for await number in stream { seen.append(number) }
    #expect(seen == [1])
    let log = Probe<String>()
    let endless = Signal<Int, any Error> { subscriber in
      subscriber.keep()
      subscriber.onTermination { log.record("\($0)") }
      subscriber.send(1)
    }
    for try await _ in endless.stream() { break }
    await log.waitForCount(1)
    #expect(log.values == ["cancelled"])
    let failing: AsyncThrowingStream<Int, any Error> = SignalTests.failing.stream()
    await #expect(throws: Mishap(position: 2)) { for try await _ in failing {} }
  }

  @Test("a stream of a signal keeps what the signal's policy says, and no more")
  func boundedSignalStream() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(2))
    let stream: AsyncStream<Int> = signal.stream()
    var iterator = stream.makeAsyncIterator()
    subscriber.send(1)
    #expect(await iterator.next() == 1)
    for number in 2...3 { subscriber.send(number) }
    // A task that took elements out by itself would have the time to do so.
    for _ in 0..<100 { await QueueScheduler.background().run {} }
    #expect(subscriber.send(4) == .dropped(4))
    subscriber.complete()
    #expect(await iterator.next() == 2)
    #expect(await iterator.next() == 3)
    #expect(await iterator.next() == nil)
  }

  @Test("several tasks share a stream of a signal, until one of them is cancelled")
  func sharedSignalStream() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let stream: AsyncStream<Int> = signal.stream()
    let seen = Probe<Int>()
    let tasks = (0..<8).map { _ in
      Task { for await number in stream { seen.record(number) } }
    }
    for number in 0..<10_000 { subscriber.send(number) }
    await seen.waitForCount(10_000)
    #expect(seen.values.sorted() == Array(0..<10_000))
    tasks[3].cancel()
    for task in tasks { await task.value }
    #expect(subscriber.send(0) == .dropped(0))
  }

  @Test("a lock for tasks: one at a time, in the order in which they asked", .hangLimit)
  func lock() async {
    let lock = AsyncLock(for: "a test")
    #expect(await lock.lock())
    let seen = Probe<Int>()
    var tasks: [Task<Void, Never>] = []
    for number in 0..<10 {
      tasks.append(
        Task.immediate {
          guard await lock.lock() else { return seen.record(-number) }
          seen.record(number)
          lock.unlock()
        })
    }
    // They leave without a turn, and nobody waits for them.
    for number in [1, 4, 5, 6, 7, 8] {
      tasks[number].cancel()
      await tasks[number].value
    }
    lock.unlock()
    for task in tasks { await task.value }
    #expect(seen.values == [-1, -4, -5, -6, -7, -8, 0, 2, 3, 9])
    #expect(await lock.lock())
    lock.unlock()
  }

  @Test(
    "a walk that never has to wait leaves turns to other work", arguments: 0..<2)
  func fairness(_ policy: Int) async {
    let scheduler = QueueScheduler(name: "walk")
    // Each step keeps its thread for a millisecond, so that it does not need a processor all the time.
    let never = DispatchSemaphore(value: 0)
    let stream = LazyList(0...).onEach { _ in _ = never.wait(timeout: .now() + 0.001) }.stream(
      on: scheduler, bufferingPolicy: [.unbounded, .bufferingNewest(1)][policy])
    var iterator = stream.makeAsyncIterator()
    _ = await iterator.next()
    for _ in 0..<10 { await scheduler.schedule {}.value }
    _ = await iterator.next()
  }

  @Test("nor does one in the pool keep its thread from those who read", .hangLimit)
  func fairnessOfThePool() async {
    await OneThread.run {
      for signal in [LazyList(0...).merging(LazyList(0...)), Signal(LazyList(0...))] {
        var count = 0
        for await _ in signal {
          count += 1
          if count == 10_000 { break }
        }
        #expect(count == 10_000)
      }
    }
  }
}
