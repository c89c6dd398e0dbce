import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Batches of a signal: all that is there, and nothing is waited for", .hangLimit, .inTurn)
struct BatchTests {
  /// Elements that were sent before the first read come in batches; then the ending.
  @Test(
    "at most so many, in their order, and the ending after them",
    arguments: [
      (1, [[1], [2], [3], [4], [5]]), (2, [[1, 2], [3, 4], [5]]), (3, [[1, 2, 3], [4, 5]]),
      (5, [[1, 2, 3, 4, 5]]), (.max, [[1, 2, 3, 4, 5]]),
    ] as [(Int, [[Int]])],
    [
      .unbounded, .bufferingOldest(5), .bufferingNewest(5),
      .failing(beyond: 5, with: Mishap(position: 9)),
    ] as [Signal<Int, Mishap>.BufferingPolicy])
  func pending(_ row: (count: Int, batches: [[Int]]), _ policy: Signal<Int, Mishap>.BufferingPolicy)
    async
  {
    for failure in [nil, Mishap(position: 6)] {
      let (signal, subscriber) = Signal<Int, Mishap>.makeSignal(bufferingPolicy: policy)
      for number in 1...5 { subscriber.send(number) }
      if let failure { subscriber.fail(failure) } else { subscriber.complete() }
      var batches: [[Int]] = []
      var thrown: Mishap?
      do throws(Mishap) {
        for try await batch in signal.batches(upTo: row.count) { batches.append(batch) }
      } catch { thrown = error }
      #expect(batches == row.batches && thrown == failure)
    }
  }

  @Test("an element that comes alone is a batch; those that come while the reader works are one")
  func alone() {
    let scheduler = VirtualScheduler()
    let seen = Probe<[Int]>()
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let reader = scheduler.schedule {
      for await batch in signal.batches(upTo: 10) {
        seen.record(batch)
        try? await scheduler.clock.sleep(for: .seconds(3))
      }
    }
    for second in 1...7 { scheduler.schedule(after: .seconds(second)) { subscriber.send(second) } }
    scheduler.schedule(after: .seconds(8)) { subscriber.complete() }
    scheduler.run()
    #expect(seen.values == [[1], [2, 3, 4], [5, 6, 7]] && reader.isCancelled == false)
  }

  @Test("operators before it see each element, and keep what they leave out")
  func operators() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    for number in 1...9 { subscriber.send(number) }
    subscriber.complete()
    let mapped = Probe<Int>()
    let batches = signal.map { mapped.pass($0) }.filter { $0 % 2 == 1 }.prefix(4).batches(upTo: 3)
    #expect(await batches.array() == [[1, 3, 5], [7]])
    #expect(mapped.values == Array(1...7), "and no more than are given")
  }

  @Test("senders that keep up with a filter that rejects everything do not withhold a batch")
  func rejected() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let (judged, last) = (Counter(), 100_000)
    let first: Signal<Int, Never> = signal.filter { number in
      judged.increment()
      if number < last { subscriber.send(number + 1) } else { subscriber.complete() }
      return number == 1
    }
    var iterator = first.batches(upTo: 2).makeAsyncIterator()
    subscriber.send(1)
    #expect(await iterator.next() == [1])
    #expect(judged.value < last, "the batch did not wait for the last element")
    #expect(await iterator.next() == nil)
    #expect(judged.value == last)
  }

  @Test("batches of batches and of events")
  func nested() async {
    func sent() -> Signal<Int, Never> {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingNewest(3))
      for number in 1...5 { subscriber.send(number) }
      subscriber.complete()
      return signal
    }
    #expect(await sent().batches(upTo: 2).batches(upTo: 2).array() == [[[3, 4], [5]]])
    #expect(
      await sent().events.batches(upTo: 2).array() == [
        [.next(3), .next(4)], [.next(5)], [.completed],
      ])
    #expect(
      await sent().batches(upTo: 2).events.array() == [.next([3, 4]), .next([5]), .completed])
    var iterator = sent().batches(upTo: 2).makeAsyncIterator()
    #expect(await iterator.next() == [3, 4] && iterator.droppedCount == 2)
  }

  @Test(
    "elements that are delivered one by one make batches of one; a batch is delivered as a whole")
  func delivered() {
    let scheduler = VirtualScheduler()
    let seen = Probe<[Int]>()
    func read(_ signal: Signal<[Int], Never>) {
      signal.subscribe { if case .next(let batch) = $0 { seen.record(batch) } }
    }
    for isDeliveredFirst in [true, false] {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal()
      if isDeliveredFirst {
        read(signal.deliver(on: scheduler).batches(upTo: 9))
      } else {
        read(signal.batches(upTo: 9).deliver(on: scheduler))
      }
      for number in 1...3 { subscriber.send(number) }
      subscriber.complete()
      scheduler.run()
    }
    #expect(seen.values == [[1], [2], [3], [1, 2, 3]])
  }

  @Test("a sender that waits for room is woken by a batch, and a cancelled reader leaves")
  func room() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingOldest(4))
    let scheduler = VirtualScheduler()
    let (seen, ends) = (Probe<[Int]>(), Counter())
    subscriber.onTermination { _ in ends.increment() }
    let reader = scheduler.schedule {
      for await batch in signal.batches(upTo: 3) { seen.record(batch) }
    }
    let sender = scheduler.schedule {
      for number in 1...10 { await subscriber.send(whenReady: number) }
    }
    scheduler.run()
    await sender.value
    #expect(seen.values.flatMap { $0 } == Array(1...10) && seen.values.allSatisfy { $0.count <= 3 })
    reader.cancel()
    scheduler.run()
    await reader.value
    subscriber.send(11)
    #expect(seen.values.flatMap { $0 }.count == 10)
  }

  @Test("fewer than one element is a programmer's error")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      _ = Signal<Int, Never> { $0.send(1) }.batches(upTo: 0)
    }
  }

  @Test("random: nothing is lost, nothing comes twice, and no batch is too long or empty")
  func random() {
    for number in 0..<UInt64(RandomCases.count("TAILRACE_BATCHES", debug: 100, optimised: 5_000)) {
      let seed = RandomCases.firstSeed &+ number
      var random = SeededGenerator(seed: seed)
      let bound = Int.random(in: 1...6, using: &random)
      let policy: Signal<Int, Never>.BufferingPolicy =
        [.unbounded, .bufferingOldest(bound), .bufferingNewest(bound)].randomElement(using: &random)
        ?? .unbounded
      let most = Int.random(in: 1...5, using: &random)
      let scheduler = VirtualScheduler()
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: policy)
      let (seen, lengths, dropped) = (Probe<Int>(), Probe<Int>(), Counter())
      let pause = Int.random(in: 0...5, using: &random)
      scheduler.schedule {
        for await batch in signal.batches(upTo: most) {
          lengths.record(batch.count)
          for element in batch { seen.record(element) }
          try? await scheduler.clock.sleep(for: .milliseconds(pause))
        }
      }
      let count = Int.random(in: 0...60, using: &random)
      for number in 0..<count {
        scheduler.schedule(after: .milliseconds(Int.random(in: 0...100, using: &random))) {
          if case .dropped = subscriber.send(number) { dropped.increment() }
        }
      }
      scheduler.schedule(after: .milliseconds(101)) { subscriber.complete() }
      scheduler.run()
      #expect(lengths.values.allSatisfy { (1...most).contains($0) }, "seed \(seed)")
      let elements = seen.values
      #expect(
        elements.count + dropped.value == count && Set(elements).count == elements.count,
        "seed \(seed)")
    }
  }
}
