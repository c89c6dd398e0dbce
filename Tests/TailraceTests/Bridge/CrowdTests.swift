import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite(
  "Crowds: leaving a signal takes the same time, however many are there", .tags(.long), .hangLimit,
  .inTurn)
struct CrowdTests {
  @Test("iterators of a hot signal are released", arguments: [true, false])
  func iterators(_ isNewestFirst: Bool) async {
    let growth = await growth(from: 2_000) { count in
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(replaying: 1)
      var readers = (0..<count).map { _ in signal.open() }
      if !isNewestFirst { readers.reverse() }
      while !readers.isEmpty { readers.removeLast() }
      withExtendedLifetime(subscriber) {}
    }
    #expect(growth < mostGrowth)
  }

  @Test("senders that wait for room are cancelled")
  func senders() async {
    let growth = await growth(from: 500) { count in
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(0))
      let scheduler = VirtualScheduler()
      let reader = signal.makeAsyncIterator()
      let tasks = (0..<count).map { number in
        scheduler.schedule { await subscriber.send(whenReady: number) }
      }
      scheduler.run()
      for task in tasks {
        task.cancel()
        scheduler.run()
        await task.value
      }
      withExtendedLifetime(reader) {}
    }
    #expect(growth < mostGrowth)
  }

  @Test("senders that wait for room are let through one by one, each once")
  func turns() async {
    let growth = await growth(from: 500) { count in
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(1))
      let scheduler = VirtualScheduler()
      let seen = Probe<Int>()
      let tasks = (0..<count).map { number in
        scheduler.schedule { await subscriber.send(whenReady: number) }
      }
      scheduler.run()
      let reader = scheduler.schedule {
        for await number in signal.prefix(count) { seen.record(number) }
      }
      scheduler.run()
      for task in tasks { await task.value }
      await reader.value
      #expect(seen.values.sorted() == Array(0..<count))
    }
    #expect(growth < mostGrowth)
  }

  @Test("those who stay hear everything, in the order in which they came")
  func order() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let heard = Probe<Int>()
    let scheduler = VirtualScheduler()
    let tasks = (0..<40).map { number in
      scheduler.schedule { for await _ in signal { heard.record(number) } }
    }
    scheduler.run()
    for (number, task) in tasks.enumerated() where number % 3 > 0 { task.cancel() }
    scheduler.run()
    let latecomer = scheduler.schedule { for await _ in signal { heard.record(40) } }
    scheduler.run()
    subscriber.send(1)
    scheduler.run()
    #expect(heard.values == (0..<40).filter { $0 % 3 == 0 } + [40])
    subscriber.complete()
    scheduler.run()
    for task in tasks + [latecomer] { await task.value }
  }

  /// The order in which elements of senders that wait for room are read.
  static func order(
    of count: Int, _ signal: Signal<Int, Never>, _ subscriber: Signal<Int, Never>.Subscriber,
    cancelling isCancelled: (Int) -> Bool = { _ in false }
  ) async -> [Int] {
    let (scheduler, seen) = (VirtualScheduler(), Probe<Int>())
    // Subscribed before anything is sent.
    let iterator = signal.makeAsyncIterator()
    iterator.reading.start()
    let reading = Owned(iterator)
    let senders = (0..<count).map { number in
      scheduler.schedule { await subscriber.send(whenReady: number) }
    }
    scheduler.run()
    for (number, sender) in senders.enumerated() where isCancelled(number) { sender.cancel() }
    scheduler.run()
    let reader = scheduler.schedule {
      while let number = await reading.state.next() { seen.record(number) }
    }
    scheduler.run()
    for sender in senders { await sender.value }
    subscriber.complete()
    scheduler.run()
    await reader.value
    return seen.values
  }

  @Test("senders that wait are not overtaken", arguments: [0, 1, 3, 8], [false, true])
  func senderOrder(bound: Int, replays: Bool) async {
    let (signal, subscriber) =
      replays
      ? Signal<Int, Never>.makeSignal(replaying: 0, bufferingPolicy: .bufferingOldest(bound))
      : Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(bound))
    #expect(await Self.order(of: 13, signal, subscriber) == Array(0..<13))
  }

  @Test("senders that wait are not overtaken, also where others of them are cancelled")
  func senderOrderWithCancellations() async {
    for bound in 0...2 {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(
        bufferingPolicy: .bufferingOldest(bound))
      let seen = await Self.order(of: 13, signal, subscriber) { $0 % 3 == 2 }
      #expect(seen == (0..<13).filter { $0 % 3 != 2 || $0 < bound })
    }
  }

  @Test("random: senders that come, wait, are cancelled; no room is forgotten")
  func random() async {
    for number in 0..<UInt64(RandomCases.count("TAILRACE_SENDERS", debug: 100, optimised: 5_000)) {
      let seed = RandomCases.firstSeed &+ number
      var random = SeededGenerator(seed: seed)
      let bound = Int.random(in: 0...5, using: &random)
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(
        bufferingPolicy: .bufferingOldest(bound))
      let scheduler = VirtualScheduler()
      let sent = Probe<Int>()
      var tasks: [Task<Void, Never>] = []
      for number in 0..<Int.random(in: 1...20, using: &random) {
        tasks.append(
          scheduler.schedule {
            if case .enqueued = await subscriber.send(whenReady: number) { sent.record(number) }
          })
        if Int.random(in: 0..<3, using: &random) == 0 { scheduler.run() }
        if Int.random(in: 0..<4, using: &random) == 0 {
          tasks.randomElement(using: &random)?.cancel()
        }
      }
      scheduler.run()
      let seen = Probe<Int>()
      let reader = scheduler.schedule { for await number in signal { seen.record(number) } }
      scheduler.run()
      for task in tasks { await task.value }
      subscriber.complete()
      scheduler.run()
      await reader.value
      #expect(seen.values.sorted() == sent.values.sorted(), "seed \(seed)")
    }
  }
}
