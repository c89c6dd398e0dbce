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
    of count: Int, _ kind: PolicyTests.Kind, bound: Int,
    cancelling isCancelled: (Int) -> Bool = { _ in false }
  ) async throws -> [Int] {
    let (scheduler, seen) = (VirtualScheduler(), Probe<Int>())
    let (iterator, subscriber) = kind.make(.bufferingOldest(bound))
    let reading = Owned(iterator)
    let senders = (0..<count).map { number in
      scheduler.schedule { await subscriber.send(whenReady: number) }
    }
    scheduler.run()
    for (number, sender) in senders.enumerated() where isCancelled(number) { sender.cancel() }
    scheduler.run()
    let reader = scheduler.schedule {
      while let number = try? await reading.state.next() { seen.record(number) }
    }
    scheduler.run()
    for sender in senders { await sender.value }
    subscriber.complete()
    scheduler.run()
    await reader.value
    return seen.values
  }

  @Test(
    "senders that wait are not overtaken", arguments: PolicyTests.Kind.allCases, [0, 1, 3, 8])
  func senderOrder(_ kind: PolicyTests.Kind, bound: Int) async throws {
    #expect(try await Self.order(of: 13, kind, bound: bound) == Array(0..<13))
  }

  @Test(
    "senders that wait are not overtaken, also where others of them are cancelled",
    arguments: PolicyTests.Kind.allCases, 0...2)
  func senderOrderWithCancellations(_ kind: PolicyTests.Kind, bound: Int) async throws {
    let seen = try await Self.order(of: 13, kind, bound: bound) { $0 % 3 == 2 }
    #expect(seen == (0..<13).filter { $0 % 3 != 2 || $0 < bound })
  }

  @Test(
    "a sender that comes as soon as there is room goes behind those that waited for it",
    arguments: PolicyTests.Kind.allCases, [1, 3, 8])
  func newcomer(_ kind: PolicyTests.Kind, bound: Int) async throws {
    let (scheduler, seen) = (VirtualScheduler(), Probe<Int>())
    let (iterator, subscriber) = kind.make(.bufferingOldest(bound))
    let reading = Owned(iterator)
    for number in 0..<bound { subscriber.send(number) }
    let waiting = scheduler.schedule { await subscriber.send(whenReady: bound) }
    scheduler.run()
    let newcomer = scheduler.schedule {
      // This makes room, and the one that waits has not run yet.
      if let number = try? await reading.state.next() { seen.record(number) }
      await subscriber.send(whenReady: bound + 1)
    }
    scheduler.run()
    let reader = scheduler.schedule {
      while let number = try? await reading.state.next() { seen.record(number) }
    }
    scheduler.run()
    for sender in [waiting, newcomer] { await sender.value }
    #expect(subscriber.queued == 0, "nobody waits any more")
    subscriber.complete()
    scheduler.run()
    await reader.value
    #expect(seen.values == Array(0..<bound + 2))
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

extension Signal.Subscriber {
  /// How many senders wait for room, or have just been woken.
  fileprivate var queued: Int {
    switch outlet {
    case .inbox(let inbox): inbox.state.withLock { $0.queued }
    case .broadcaster(let broadcaster): broadcaster.state.withLock { $0.queued }
    }
  }
}
