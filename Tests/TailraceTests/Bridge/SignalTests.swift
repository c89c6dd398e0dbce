import Tailrace
import TailraceTesting
import Testing

/// Reads copies of one iterator, as an actor does whose method is called again while it waits.
private actor Desk {
  private let scheduler: VirtualScheduler
  private let iterator: Signal<Int, any Error>.Iterator

  init(_ signal: Signal<Int, any Error>, on scheduler: VirtualScheduler) {
    self.scheduler = scheduler
    iterator = signal.makeAsyncIterator()
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { scheduler.asUnownedSerialExecutor() }

  func next() async throws -> Int? {
    var copy = iterator
    return try await copy.next(isolation: self)
  }
}

@Suite("Signals", .hangLimit, .inTurn)
struct SignalTests {
  static let counting = Signal<Int, any Error> { subscriber in
    for number in 1...3 { subscriber.send(number) }
    subscriber.complete()
  }

  /// 1, 2, then a failure.
  static let failing = Signal<Int, any Error> { subscriber in
    for number in 1...2 { subscriber.send(number) }
    subscriber.fail(Mishap(position: 2))
    subscriber.send(3)
    subscriber.complete()
  }

  @Test("cold: each subscription runs the source, at its first read")
  func cold() async {
    let runs = Counter()
    let signal = Signal<Int, Never> { subscriber in
      subscriber.send(runs.increment())
      subscriber.complete()
    }
    var iterator = signal.makeAsyncIterator()
    #expect(runs.value == 0)
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
    #expect(await signal.array() == [2])
    let task = signal.subscribe { _ in }
    #expect(runs.value == 3, "subscribe runs the source before it returns")
    await task.value
  }

  @Test("an element sent after an ending is dropped, and the sender is told")
  func afterTheEnd() async {
    let results = Probe<Signal<Int, Never>.SendResult>()
    let signal = Signal<Int, Never> { subscriber in
      results.record(subscriber.send(1))
      subscriber.complete()
      results.record(subscriber.send(2))
    }
    #expect(await signal.array() == [1])
    #expect(results.values == [.enqueued(remaining: .max), .terminated])
  }

  @Test("a failure is thrown at its place, every time, and is never the end")
  func failure() async throws {
    var iterator = Self.failing.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    #expect(try await iterator.next() == 2)
    for _ in 1...2 {
      await #expect(throws: Mishap(position: 2)) { try await iterator.next() }
    }
    await #expect(throws: Mishap(position: 2)) { try await Self.failing.array() }
    let list = Self.failing.memoized()
    for _ in 1...2 {
      await #expect(throws: Mishap(position: 2)) { try await list.array() }
    }
    #expect(try await list.prefix(2).array() == [1, 2])
  }

  @Test("typed failures and signals that cannot fail are read without a cast or a try")
  func typed() async {
    let signal = Signal<Int, Mishap> { subscriber in subscriber.fail(Mishap(position: 0)) }
    do throws(Mishap) {
      for try await _ in signal {}
      Issue.record("it ended")
    } catch {
      #expect(error.position == 0)
    }
    var all: [Int] = []
    for await number in Signal<Int, Never>({
      $0.send(1); $0.complete()
    }) { all.append(number) }
    #expect(all == [1])
  }

  @Test("events, and back")
  func events() async throws {
    let events = Self.failing.events
    var seen: [String] = []
    for await event in events {
      switch event {
      case .next(let number): seen.append("\(number)")
      case .failure(let failure): seen.append("\((failure as? Mishap)?.position ?? -1)!")
      case .completed: seen.append(".")
      }
    }
    #expect(seen == ["1", "2", "2!"])
    await #expect(throws: Mishap(position: 2)) { try await events.dematerialized().array() }
    #expect(try await Self.counting.events.dematerialized().array() == [1, 2, 3])
    let stopped = Signal<Signal<Int, Never>.Event, Never> { subscriber in
      subscriber.send(.next(1))
      subscriber.send(.completed)
      subscriber.send(.next(2))
    }
    #expect(await stopped.dematerialized().array() == [1])
    let silent = Signal<Signal<Int, Never>.Event, Never> {
      $0.send(.next(1)); $0.complete()
    }
    #expect(await silent.dematerialized().array() == [1])
  }

  /// Starts tasks that wait at a desk, and records their elements in order. `nil` is the end.
  private static func wait(
    _ count: Int, at desk: Desk, on scheduler: VirtualScheduler
  ) -> (tasks: [Task<Void, Never>], got: Probe<Int?>) {
    let got = Probe<Int?>()
    let tasks = (0..<count).map { _ in
      scheduler.schedule { () async in
        do { got.record(try await desk.next()) } catch { got.record(-1) }
      }
    }
    scheduler.run()
    return (tasks, got)
  }

  @Test(
    "copies of an iterator wait side by side: an element is for one of them, the end for all",
    arguments: [Signal<Int, any Error>.BufferingPolicy.unbounded, .bufferingOldest(0)])
  func copies(_ policy: Signal<Int, any Error>.BufferingPolicy) async throws {
    let scheduler = VirtualScheduler()
    let (signal, subscriber) = Signal<Int, any Error>.makeSignal(bufferingPolicy: policy)
    let desk = Desk(signal, on: scheduler)
    let (tasks, got) = Self.wait(4, at: desk, on: scheduler)
    #expect(got.count == 0)
    for number in 1...2 { subscriber.send(number) }
    scheduler.run()
    #expect(got.values == [1, 2])
    subscriber.complete()
    scheduler.run()
    try #require(got.values == [1, 2, nil, nil])
    for task in tasks { await task.value }
  }

  @Test("a cancelled task ends the subscription for all copies of its iterator")
  func copiesCancelled() async throws {
    let scheduler = VirtualScheduler()
    let (signal, subscriber) = Signal<Int, any Error>.makeSignal()
    let desk = Desk(signal, on: scheduler)
    let (tasks, got) = Self.wait(3, at: desk, on: scheduler)
    tasks[1].cancel()
    #expect(subscriber.send(1) == .dropped(1))
    scheduler.run()
    try #require(got.values == [-1, -1, -1])
    for task in tasks { await task.value }
  }

  @Test("copies of a derived iterator: the last element ends it for those that still wait")
  func derivedCopies() async throws {
    let scheduler = VirtualScheduler()
    let (signal, subscriber) = Signal<Int, any Error>.makeSignal()
    let desk = Desk(signal.filter { $0 > 1 }.prefix(2), on: scheduler)
    let (tasks, got) = Self.wait(4, at: desk, on: scheduler)
    for number in 1...4 { subscriber.send(number) }
    scheduler.run()
    try #require(got.values.sorted { ($0 ?? 9) < ($1 ?? 9) } == [2, 3, nil, nil])
    for task in tasks { await task.value }
  }

  @Test("subscribe: every event in order, then the task ends")
  func subscribe() async {
    let log = Probe<String>()
    await Self.failing.subscribe { event in
      switch event {
      case .next(let number): log.record("\(number)")
      case .failure: log.record("failure")
      case .completed: log.record("completed")
      }
    }.value
    #expect(log.values == ["1", "2", "failure"])
  }

  @Test("a handler that sends into its own source is called with that next, in order")
  func reentrant() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let log = Probe<Int>()
    let task = signal.subscribe { event in
      guard case .next(let number) = event else { return }
      log.record(number)
      if number < 100 { subscriber.send(number + 1) } else { subscriber.complete() }
    }
    subscriber.send(1)
    await task.value
    #expect(log.values == Array(1...100))
  }

  @Test("memoized: history for those who come late, one subscription, stepwise")
  func memoized() async {
    let runs = Counter()
    let signal = Signal<Int, Never> { subscriber in
      runs.increment()
      for number in 1...3 { subscriber.send(number) }
      subscriber.complete()
    }
    let list = signal.memoized()
    #expect(runs.value == 0)
    #expect(await list.head() == 1)
    #expect(await list.array() == [1, 2, 3])
    #expect(await list.array() == [1, 2, 3])
    #expect(runs.value == 1)
  }

  @Test("memoized: a cancelled reader does not end it for the others")
  func memoizedCancelled() async throws {
    let (signal, subscriber) = Signal<Int, any Error>.makeSignal()
    let list = signal.memoized()
    subscriber.send(1)
    #expect(try await list.head() == 1)
    let impatient = Task { try await list.array() }
    let patient = Task { try await list.array() }
    impatient.cancel()
    await #expect(throws: CancellationError.self) { try await impatient.value }
    #expect(!subscriber.isTerminated)
    subscriber.send(2)
    subscriber.complete()
    #expect(try await patient.value == [1, 2])
  }

  @Test("memoized: releasing the list ends the subscription")
  func memoizedReleased() async {
    let gate = Gate()
    let signal = Signal<Int, Never> { subscriber in
      subscriber.keep()
      subscriber.onTermination { _ in gate.open() }
      subscriber.send(1)
    }
    do {
      let list = signal.memoized()
      #expect(await list.head() == 1)
    }
    await gate.wait()
  }

  @Test("a stream, memoized: history for all, and one cancelled reader does not end it")
  func streamMemoized() async {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let list = stream.memoized()
    continuation.yield(1)
    let read = Gate()
    read.open()
    let impatient = Task {
      for await _ in list { await read.wait() }
    }
    await read.waitForArrivals(1)
    impatient.cancel()
    await impatient.value
    continuation.yield(2)
    continuation.finish()
    #expect(await list.array() == [1, 2])
    #expect(await list.array() == [1, 2])
  }
}
