import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

extension Signal.Subscriber {
  /// Keeps the subscriber from being released before its subscription ends.
  func keep() { onTermination { _ in withExtendedLifetime(self) {} } }
}

/// An actor whose code runs when a test runs its scheduler. One test uses it.
@globalActor
private actor HandlerActor {
  static let shared = HandlerActor()
  static let scheduler = VirtualScheduler()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    Self.scheduler.asUnownedSerialExecutor()
  }
}

@Suite("Disposal: once, in reverse, however a subscription ends", .hangLimit, .inTurn)
struct DisposalTests {
  /// A signal that sends 1 and goes on for ever, and what its handlers did.
  static func endless(_ log: Probe<String>) -> Signal<Int, Never> {
    Signal { subscriber in
      subscriber.keep()
      subscriber.onTermination { _ in log.record("first") }
      subscriber.onTermination { _ in log.record("second") }
      subscriber.send(1)
    }
  }

  @Test("leaving a loop disposes")
  func leaving() async {
    let log = Probe<String>()
    for await _ in Self.endless(log) { break }
    await log.waitForCount(2)
    #expect(log.values == ["second", "first"])
  }

  @Test(
    "a subscription that somebody else has ended before its first read runs no source",
    arguments: [false, true])
  func lateStart(isShared: Bool) {
    let (runs, ends) = (Counter(), Counter())
    let cold = Signal<Int, Never> { subscriber in
      runs.increment()
      subscriber.keep()
      subscriber.onTermination { _ in ends.increment() }
    }
    let signal = isShared ? cold.shared() : cold
    let (early, other) = (signal.open(), signal.open())
    // The calls of a reader that is about to read while another task cancels its task.
    early.cancel()
    early.start()
    #expect(runs.value == 0, "nobody would ever end that run")
    other.start()
    other.cancel()
    #expect(runs.value == 1 && ends.value == 1)
  }

  @Test("releasing the last copy of an iterator disposes")
  func released() async {
    let log = Probe<String>()
    var iterator: Signal<Int, Never>.Iterator? = Self.endless(log).makeAsyncIterator()
    _ = await iterator?.next()
    var copy = iterator
    iterator = nil
    #expect(log.count == 0)
    _ = copy
    copy = nil
    #expect(log.values == ["second", "first"])
  }

  @Test("cancelling the task that waits disposes, and ends the loop")
  func cancelled() async {
    let log = Probe<String>()
    let started = Gate()
    let task = Task {
      var seen: [Int] = []
      for await number in Self.endless(log) {
        seen.append(number)
        await started.wait()
      }
      return seen
    }
    await started.waitForArrivals(1)
    started.open()
    task.cancel()
    #expect(await task.value == [1])
    #expect(log.values == ["second", "first"])
  }

  @Test("a loop that can throw is told that it was cancelled")
  func cancelledThrowing() async {
    let signal = Signal<Int, any Error> { $0.send(1) }
    let task = Task { for try await _ in signal { withUnsafeCurrentTask { $0?.cancel() } } }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("cancelling a subscription disposes at once, also while its handler runs")
  func subscription() async {
    let log = Probe<String>()
    let gate = Gate()
    let task = Self.endless(log).subscribe { event in
      log.record("handler")
      await gate.wait()
    }
    await gate.waitForArrivals(1)
    task.cancel()
    await log.waitForCount(3)
    #expect(log.values == ["handler", "second", "first"])
    gate.open()
    await task.value
    #expect(log.count == 3, "the handler is not called again")
  }

  @Test("cancelling a subscription disposes at once, also before the scheduler's first turn for it")
  func subscriptionWithoutATurn() async {
    let (scheduler, log) = (VirtualScheduler(), Probe<String>())
    let task = Self.endless(log).deliver(on: scheduler).subscribe { _ in log.record("handler") }
    task.cancel()
    await log.waitForCount(2)
    #expect(log.values == ["second", "first"])
    scheduler.run()
    await task.value
    #expect(log.count == 2, "the handler is not called")
  }

  @Test("cancelled while a call is on its way to the handler's actor: that call does not begin")
  func subscriptionOnItsWay() async {
    let (scheduler, seen) = (VirtualScheduler(), Probe<Signal<Int, Never>.Event>())
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let task = signal.deliver(on: scheduler).subscribe { @HandlerActor event in seen.record(event) }
    subscriber.send(1)
    scheduler.run()
    HandlerActor.scheduler.run()
    scheduler.run()
    #expect(seen.values == [.next(1)])
    subscriber.send(2)
    scheduler.run()
    #expect(HandlerActor.scheduler.pendingCount == 1, "the call waits for its actor")
    task.cancel()
    HandlerActor.scheduler.run()
    scheduler.run()
    await task.value
    #expect(seen.values == [.next(1)])
  }

  @Test(
    "a handler is told how it ended, however late it was registered",
    arguments: Ending.allCases)
  func ending(_ ending: Ending) async {
    let log = Probe<Signal<Int, Mishap>.Termination>()
    let signal = Signal<Int, Mishap> { subscriber in
      subscriber.onTermination { log.record($0) }
      #expect(!subscriber.isTerminated)
      ending.happens(to: subscriber)
    }
    var subscriber: Signal<Int, Mishap>.Subscriber?
    let late = Probe<Signal<Int, Mishap>.Termination>()
    let watched = Signal<Int, Mishap> { given in
      given.onTermination { _ in
        #expect(given.isTerminated)
        given.onTermination { late.record($0) }
      }
      ending.happens(to: given)
      if case .released = ending { given.complete() }
    }
    for signal in [signal, watched] {
      var iterator: Signal<Int, Mishap>.Iterator? = signal.makeAsyncIterator()
      if ending != .left { _ = try? await iterator?.next() } else { iterator?.reading.start() }
      iterator = nil
    }
    let (hot, button) = Signal<Int, Mishap>.makeSignal()
    subscriber = button
    button.onTermination { log.record($0) }
    if ending != .left { ending.happens(to: button) }
    subscriber = nil
    _ = (hot, subscriber)
    #expect(log.values.first == ending.termination)
    #expect(late.values == [ending.termination])
  }

  enum Ending: CaseIterable {
    case left, completed, failed, released

    func happens(to subscriber: Signal<Int, Mishap>.Subscriber) {
      switch self {
      case .left: subscriber.keep()
      case .completed: subscriber.complete()
      case .failed: subscriber.fail(Mishap(position: 0))
      case .released: break
      }
    }

    var termination: Signal<Int, Mishap>.Termination {
      switch self {
      case .left: .cancelled
      case .completed, .released: .completed
      case .failed: .failed(Mishap(position: 0))
      }
    }
  }

  @Test("a handler may send, and register another one")
  func handlersThatCall() async {
    let log = Probe<String>()
    let signal = Signal<Int, Never> { subscriber in
      subscriber.onTermination { _ in
        log.record(subscriber.send(9) == .terminated ? "terminated" : "sent")
        subscriber.onTermination { _ in log.record("nested") }
      }
      subscriber.complete()
    }
    #expect(await signal.array() == [])
    #expect(log.values == ["terminated", "nested"])
  }

  @Test("a question that cannot fail waits for the true answer")
  func question() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let gate = Gate()
    let task = Task {
      await gate.wait()
      return await signal.array()
    }
    await gate.waitForArrivals(1)
    task.cancel()
    gate.open()
    subscriber.send(1)
    subscriber.complete()
    #expect(await task.value == [1])
  }

  #if DEBUG
    static let races = 2_000
  #else
    static let races = 1_000_000
  #endif

  @Test("64 tasks race to end a subscription: each handler runs once, whoever came first")
  func race() async {
    let atOnce = 1_000
    for _ in 0..<Self.races / atOnce {
      let subscriptions = (0..<atOnce).map { _ in (Inbox<Int, Never>(.unbounded), Counter()) }
      await withTaskGroup { group in
        for racer in 0..<64 {
          group.addTask {
            for (inbox, ran) in subscriptions {
              inbox.onTermination { _ in ran.increment() }
              switch racer % 3 {
              case 0: inbox.cancel()
              case 1: inbox.end(with: nil)
              default: _ = inbox.send(racer)
              }
            }
          }
        }
      }
      #expect(subscriptions.allSatisfy { $0.1.value == 64 })
    }
  }

  @Test("cancelling, completing and releasing race through the front door, too")
  func raceOfTasks() async {
    let ran = Counter()
    let rounds = Self.races / 100
    for _ in 0..<rounds {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal()
      subscriber.onTermination { _ in ran.increment() }
      let tasks = (0..<8).map { _ in signal.subscribe { _ in } }
      await withTaskGroup { group in
        for task in tasks {
          group.addTask { task.cancel() }
          group.addTask { subscriber.send(1) }
        }
        group.addTask { subscriber.complete() }
      }
      for task in tasks { await task.value }
    }
    #expect(ran.value == rounds)
  }

  @Test("nothing is left behind by loops that were left")
  func leaks() async {
    let instances = InstanceCounter()
    for _ in 0..<1_000 {
      let signal = Signal<InstanceCounter.Member, Never> { subscriber in
        let sender = Task { [member = instances.member()] in
          subscriber.send(member)
          subscriber.send(member)
        }
        subscriber.onTermination { _ in sender.cancel() }
      }
      for await _ in signal { break }
    }
    await instances.waitUntilEmpty()
    #expect(instances.greatest > 0)
  }
}
