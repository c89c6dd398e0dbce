import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Shared signals", .timeLimit(.minutes(15)), .inTurn)
struct SharedSignalTests {
  let station = Station()

  @Test("one subscription for all readers, from the first that reads on")
  func once() async throws {
    let shared = station.signal.shared()
    var first = shared.makeAsyncIterator()
    var second = shared.makeAsyncIterator()
    #expect(station.runs.value == 0)
    second.reading.start()
    station.send(1...2)
    var third = shared.makeAsyncIterator()
    station.send(3...3)
    station.complete()
    for expected in [1, 2, 3, nil] { #expect(try await first.next() == expected) }
    for expected in [1, 2, 3, nil] { #expect(try await second.next() == expected) }
    for expected in [3, nil] { #expect(try await third.next() == expected) }
    #expect(station.runs.value == 1)
  }

  @Test("a late reader begins exactly at the window, and goes on from there", arguments: 0...7)
  func window(_ count: Int) async throws {
    for sent in 0...10 {
      let station = Station()
      let shared = station.signal.shared(replaying: count)
      let first = shared.subscribe { _ in }
      if sent > 0 { station.send(1...sent) }
      var late = shared.makeAsyncIterator()
      station.send(sent + 1...sent + 2)
      for expected in Array(0...sent).dropFirst().suffix(count) {
        #expect(try await late.next() == expected)
      }
      for expected in sent + 1...sent + 2 { #expect(try await late.next() == expected) }
      first.cancel()
      await first.value
    }
  }

  @Test("how it ended is for late readers, too, and stays", arguments: [true, false])
  func ending(_ fails: Bool) async throws {
    let shared = station.signal.shared(replaying: 2)
    let first = shared.subscribe { _ in }
    station.send(1...3)
    fails ? station.fail() : station.complete()
    await first.value
    for _ in 1...2 {
      var late = shared.makeAsyncIterator()
      #expect(try await late.next() == 2)
      #expect(try await late.next() == 3)
      if fails {
        await #expect(throws: Mishap(position: 0)) { try await late.next() }
      } else {
        #expect(try await late.next() == nil)
      }
    }
    #expect(station.runs.value == 1, "nobody reads, and yet it is not run again")
  }

  @Test("it ends with the last reader; the next one is a first one")
  func lastReader() async throws {
    let shared = station.signal.shared(replaying: 2)
    for run in 1...3 {
      var first: Signal<Int, any Error>.Iterator? = shared.makeAsyncIterator()
      first?.reading.start()
      station.send(1...3)
      var second: Signal<Int, any Error>.Iterator? = shared.makeAsyncIterator()
      #expect(try await first?.next() == 1, "no past of another run")
      #expect(try await second?.next() == 2)
      first = nil
      #expect(station.ends.count == run - 1)
      second = nil
      #expect(station.ends.count == run, "at once, where the last one left")
    }
    #expect(station.runs.value == 3)
    #expect(station.ends.values == ["cancelled", "cancelled", "cancelled"])
  }

  @Test("it is kept for some time, and its past with it")
  func kept() async throws {
    let scheduler = VirtualScheduler()
    let shared = station.signal.shared(
      replaying: 2, keptFor: .seconds(5), scheduler: scheduler)
    func read() async throws -> Int? {
      var iterator = shared.makeAsyncIterator()
      iterator.reading.start()
      if station.runs.value == 1 { station.send(1...3) }
      return try await iterator.next()
    }
    #expect(try await read() == 1)
    for _ in 1...3 {
      scheduler.advance(by: .seconds(4.9))
      #expect(try await read() == 2)
      #expect(scheduler.pendingCount == 1, "the timer of those who were waited for before is gone")
    }
    station.send(4...4)
    scheduler.advance(by: .seconds(4.9))
    #expect(station.ends.count == 0)
    scheduler.advance(by: .seconds(0.1))
    #expect(station.ends.values == ["cancelled"])
    var iterator = shared.makeAsyncIterator()
    iterator.reading.start()
    station.send(7...7)
    #expect(try await iterator.next() == 7, "another run, without the past")
    #expect(station.runs.value == 2)
  }

  @Test("elements that are sent while nobody reads are in the window")
  func keptWindow() async throws {
    let scheduler = VirtualScheduler()
    let shared = station.signal.shared(
      replaying: 2, keptFor: .seconds(5), scheduler: scheduler)
    do {
      let first = shared.makeAsyncIterator()
      first.reading.start()
    }
    station.send(1...9)
    scheduler.advance(by: .seconds(1))
    var late = shared.makeAsyncIterator()
    #expect(try await late.next() == 8)
    station.complete()
    scheduler.advance(by: .seconds(10))
    #expect(try await late.next() == 9)
    #expect(try await late.next() == nil)
    #expect(station.ends.values == ["completed"])
  }

  @Test("nobody can come any more: then nobody is waited for", arguments: [true, false])
  func unreachable(_ readerIsLast: Bool) async throws {
    let scheduler = VirtualScheduler()
    var shared: Signal<Int, any Error>? = station.signal.shared(
      keptFor: .seconds(5), scheduler: scheduler)
    var iterator = shared?.makeAsyncIterator()
    iterator?.reading.start()
    if readerIsLast {
      shared = nil
      station.send(1...1)
      #expect(try await iterator?.next() == 1, "the reader goes on")
      #expect(station.ends.count == 0)
      iterator = nil
    } else {
      iterator = nil
      #expect(station.ends.count == 0)
      #expect(scheduler.pendingCount == 1)
      shared = nil
    }
    #expect(station.ends.values == ["cancelled"])
    #expect(scheduler.pendingCount == 0)
  }

  @Test("a signal that nobody read lets go of its source")
  func unread() async {
    let instances = InstanceCounter()
    do {
      let member = instances.member()
      let shared = Signal<Int, Never> { $0.send(member.number) }.shared(keptFor: .seconds(9))
      let iterator = shared.makeAsyncIterator()
      _ = iterator
    }
    await instances.waitUntilEmpty()
  }

  @Test("a source that sends everything while it is subscribed to, and ends")
  func synchronous() async throws {
    let runs = Counter()
    let shared = Signal<Int, any Error> { subscriber in
      runs.increment()
      for number in 1...5 { subscriber.send(number) }
      subscriber.complete()
    }.shared(replaying: 2)
    var early = shared.makeAsyncIterator()
    #expect(try await shared.array() == [1, 2, 3, 4, 5])
    #expect(try await shared.array() == [4, 5])
    for expected in [1, 2, 3, 4, 5, nil] { #expect(try await early.next() == expected) }
    #expect(runs.value == 1)
  }

  @Test("a reader that is cancelled while it waits leaves; it may be the last one")
  func cancelled() async throws {
    let shared = station.signal.shared()
    let arrived = Gate()
    arrived.open()
    for last in [false, true] {
      let others = last ? nil : shared.subscribe { _ in }
      let runs = station.runs.value
      let task = Task {
        var iterator = shared.makeAsyncIterator()
        iterator.reading.start()
        await arrived.wait()
        return try await iterator.next()
      }
      await arrived.waitForArrivals(last ? 2 : 1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(station.ends.count == (last ? 2 : 0))
      #expect(station.runs.value == (last ? 2 : runs))
      others?.cancel()
      await others?.value
    }
  }

  // MARK: Sources of shared signals

  @Test("operators before `shared` run once for all readers, on any scheduler", arguments: 0..<4)
  func derived(_ kind: Int) async throws {
    let scheduler = QueueScheduler(name: "derived")
    let calls = Probe<Int>()
    let source = Self.counting(to: 5)
    let signals: [Signal<Int, any Error>] = [
      source.map { calls.pass($0) },
      source.map { calls.pass($0) }.deliver(on: scheduler),
      source.filter { calls.pass($0) > 0 }.events.dematerialized(),
      source.map { calls.pass($0) }.shared(replaying: 5),
    ]
    let shared = signals[kind].shared(replaying: 5)
    async let first = shared.array()
    async let second = shared.array()
    #expect(try await first == [1, 2, 3, 4, 5])
    #expect(try await second == [1, 2, 3, 4, 5])
    #expect(try await shared.array() == [1, 2, 3, 4, 5])
    #expect(calls.values == [1, 2, 3, 4, 5])
  }

  @Test("a source that can wait waits for the slowest reader", arguments: [true, false])
  func paced(_ isDerived: Bool) async throws {
    let sent = Probe<Int>()
    let source = Signal<Int, any Error> { subscriber in
      for number in 1...100 { await subscriber.send(whenReady: sent.pass(number)) }
    }
    let shared = (isDerived ? source.map { $0 } : source)
      .shared(replaying: 2, bufferingPolicy: .bufferingOldest(3))
    var slow = shared.makeAsyncIterator()
    let quick = Task { try await shared.array() }
    for number in 1...100 {
      #expect(try await slow.next() == number)
      if !isDerived { #expect(sent.count <= number + 4) }
    }
    #expect(try await slow.next() == nil)
    #expect(try await quick.value.last == 100)
  }

  @Test("everyone reads everything of a hot signal that is shared again")
  func hot() async throws {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let shared = signal.shared(replaying: 9)
    subscriber.send(1)
    var iterator = shared.makeAsyncIterator()
    iterator.reading.start()
    subscriber.send(2)
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == 2)
    subscriber.complete()
    #expect(await shared.array() == [1, 2])
  }

  @Test("a hot signal with a past gives it to all, also after the ending")
  func makeSignal() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal(replaying: 2)
    #expect(subscriber.send(1) == .enqueued(remaining: .max), "somebody may come for it")
    for number in 2...3 { subscriber.send(number) }
    var first = signal.makeAsyncIterator()
    var second = signal.makeAsyncIterator()
    subscriber.send(4)
    subscriber.complete()
    for expected in [2, 3, 4, nil] { #expect(await first.next() == expected) }
    for expected in [2, 3, 4, nil] { #expect(await second.next() == expected) }
    #expect(await signal.array() == [3, 4])
    let (deaf, sender) = Signal<Int, Never>.makeSignal(replaying: 0)
    #expect(sender.send(1) == .dropped(1))
    sender.complete()
    #expect(await deaf.array() == [])
  }

  @Test("elements that the past forgets are kept only while a late reader needs them")
  func forgets() async {
    let instances = InstanceCounter()
    do {
      let (signal, subscriber) = Signal<InstanceCounter.Member, Never>.makeSignal(replaying: 10)
      for number in 0..<1000 { subscriber.send(instances.member(number)) }
      #expect(instances.alive == 10)
      var late: Signal<InstanceCounter.Member, Never>.Iterator? = signal.makeAsyncIterator()
      for number in 0..<5 { subscriber.send(instances.member(number)) }
      #expect(instances.alive == 15)
      #expect(await late?.next()?.number == 990)
      late = nil
      #expect(instances.alive == 10)
    }
    #expect(instances.alive == 0)
  }

  static func counting(to last: Int) -> Signal<Int, any Error> {
    Signal { subscriber in
      for number in 1...last { subscriber.send(number) }
      subscriber.complete()
    }
  }
}
