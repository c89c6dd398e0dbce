import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Operators that give signals", .inTurn)
struct SignalOperatorTests {
  static let numbers = Signal<Int, any Error> { subscriber in
    for number in 1...6 { subscriber.send(number) }
    subscriber.complete()
  }

  @Test("they give signals, with the right elements")
  func elements() async throws {
    let doubled: Signal<Int, any Error> = Self.numbers.map { $0 * 2 }
    #expect(try await doubled.array() == [2, 4, 6, 8, 10, 12])
    let even: Signal<Int, any Error> = Self.numbers.filter { $0 % 2 == 0 }
    #expect(try await even.array() == [2, 4, 6])
    let texts: Signal<String, any Error> = Self.numbers.compactMap { $0 > 4 ? "\($0)" : nil }
    #expect(try await texts.array() == ["5", "6"])
    for count in 0...8 {
      let first: Signal<Int, any Error> = Self.numbers.prefix(count)
      #expect(try await first.array() == Array((1...6).prefix(count)))
    }
    let chain = try await Self.numbers.map { $0 * 2 }.filter { $0 % 3 == 0 }.prefix(1).array()
    #expect(chain == [6])
  }

  @Test("a failure passes them at its place, again and again")
  func failures() async throws {
    let signal = SignalTests.failing
    for derived in [signal.map { $0 }, signal.filter { _ in true }, signal.compactMap { $0 }] {
      var iterator = derived.makeAsyncIterator()
      #expect(try await iterator.next() == 1)
      #expect(try await iterator.next() == 2)
      for _ in 1...2 {
        await #expect(throws: Mishap(position: 2)) { try await iterator.next() }
      }
    }
    #expect(try await signal.prefix(2).array() == [1, 2], "a failure behind it does not matter")
  }

  @Test("the last element of a prefix ends the subscription; the next event is not waited for")
  func prefix() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let how = Probe<String>()
    subscriber.onTermination { how.record("\($0)") }
    var iterator: Signal<Int, Never>.Iterator? = signal.prefix(2).makeAsyncIterator()
    subscriber.send(1)
    subscriber.send(2)
    #expect(await iterator?.next() == 1)
    #expect(subscriber.send(3) == .enqueued(remaining: .max))
    #expect(await iterator?.next() == 2)
    #expect(subscriber.send(4) == .dropped(4), "it has left")
    #expect(await iterator?.next() == nil)
    #expect(await iterator?.next() == nil)
    iterator = nil
    let runs = Counter()
    let cold = Signal<Int, Never> { _ in runs.increment() }
    #expect(await cold.prefix(0).array() == [])
    #expect(runs.value == 0, "nobody wanted anything")
  }

  @Test("closures run once for each element and subscription, where it is read")
  func closures() async {
    let scheduler = QueueScheduler(name: "operators")
    let calls = Probe<Int>()
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let task = signal.map { number in
      #expect(currentScheduler === scheduler)
      return calls.pass(number)
    }.deliver(on: scheduler).subscribe { _ in #expect(currentScheduler === scheduler) }
    for number in 1...3 { subscriber.send(number) }
    subscriber.complete()
    await task.value
    #expect(calls.values == [1, 2, 3])
  }

  @Test("they keep the scheduler of the signal")
  func scheduler() async {
    let scheduler = QueueScheduler(name: "operators")
    let delivered = Self.numbers.deliver(on: scheduler)
    for signal in [
      delivered.map { $0 }, delivered.filter { _ in true }, delivered.compactMap { $0 },
      delivered.prefix(2), delivered.prefix(0), delivered.shared(),
    ] {
      await signal.subscribe { _ in #expect(currentScheduler === scheduler) }.value
    }
  }

  @Test("leaving a derived signal is leaving, also while it waits")
  func leaving() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let derived = signal.filter { $0 > 1 }.map { $0 }
    let gate = Gate()
    gate.open()
    let task = Task {
      await gate.wait()
      for await _ in derived {}
    }
    await gate.waitForArrivals(1)
    subscriber.send(1)
    task.cancel()
    await task.value
    #expect(subscriber.send(2) == .dropped(2))
  }

  @Test("signals that fail in different ways are merged")
  func differentFailures() async throws {
    let (numbers, sender) = Signal<Int, any Error>.makeSignal()
    let (others, otherSender) = Signal<Int, Never>.makeSignal()
    let both = numbers.merging(others)
    let _: Signal<Int, any Error> = both
    sender.send(1)
    sender.complete()
    otherSender.send(2)
    otherSender.complete()
    #expect(try await both.array().sorted() == [1, 2])

    let failing = Signal<Int, Mishap> { $0.fail(Mishap(position: 1)) }
    let safe = Signal<Int, Never> { $0.send(1) }
    let typed: Signal<Int, Mishap> = failing.merging(safe)
    await #expect(throws: Mishap(position: 1)) { try await typed.array() }
    let set: Signal<Int, Mishap> = safe.setFailureType()
    #expect(try await set.array() == [1])
    let any: Signal<Int, any Error> = failing.merging(numbers)
    await #expect(throws: Mishap(position: 1)) { try await any.array() }
    let wide: Signal<Int, any Error> = failing.setFailureType()
    await #expect(throws: Mishap(position: 1)) { try await wide.array() }
  }

  @MainActor final class Names {
    var titles: [String] = []

    func bind(_ names: Signal<String, Never>) -> Task<Void, Never> {
      names.subscribe { [weak self] event in
        MainActor.preconditionIsolated()
        if case .next(let name) = event { self?.titles.append(name) }
      }
    }
  }

  @Test("a handler made on the main actor runs there, as the closure of a task does")
  @MainActor func handlerOnMain() async {
    let (names, subscriber) = Signal<String, Never>.makeSignal()
    let screen = Names()
    let task = screen.bind(names)
    subscriber.send("Ada")
    subscriber.complete()
    await task.value
    #expect(screen.titles == ["Ada"])
    // Elsewhere, where it says so.
    let (others, other) = Signal<Int, Never>.makeSignal()
    let probe = Probe<Bool>()
    let elsewhere = others.subscribe { @concurrent _ async in
      probe.record(currentScheduler === QueueScheduler.main)
    }
    other.complete()
    await elsewhere.value
    #expect(probe.values == [false])
  }
}
