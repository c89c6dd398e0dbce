import TailraceTesting
import Testing

@testable import Tailrace

@Suite("Disposal: once, in reverse, however a subscription ends", .hangLimit)
struct DisposalTests {
  /// A signal that sends 1 and goes on for ever, and what its handlers did.
  static func endless(_ log: Probe<String>) -> Signal<Int, Never> {
    Signal { subscriber in
      subscriber.onCancel { log.record("first") }
      subscriber.onCancel { log.record("second") }
      subscriber.send(1)
    }
  }

  @Test("leaving a loop disposes")
  func leaving() async {
    let log = Probe<String>()
    for await _ in Self.endless(log) { break }
    await log.reaches(2)
    #expect(log.values == ["second", "first"])
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
    await started.arrivals(1)
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
    await gate.arrivals(1)
    task.cancel()
    #expect(log.values == ["handler", "second", "first"])
    gate.open()
    await task.value
    #expect(log.count == 3, "the handler is not called again")
  }

  @Test("an ending disposes, too", arguments: [true, false])
  func ending(_ fails: Bool) async {
    let log = Probe<String>()
    let signal = Signal<Int, any Error> { subscriber in
      subscriber.onCancel { log.record("handler") }
      #expect(!subscriber.isCancelled)
      fails ? subscriber.fail(Mishap(position: 0)) : subscriber.complete()
      #expect(subscriber.isCancelled)
      log.record("sent")
      subscriber.onCancel { log.record("late") }
    }
    _ = try? await signal.array()
    #expect(log.values == ["handler", "sent", "late"])
  }

  @Test("a handler may send, and register another one")
  func handlersThatCall() async {
    let log = Probe<String>()
    let signal = Signal<Int, Never> { subscriber in
      subscriber.onCancel {
        log.record(subscriber.send(9) == .terminated ? "terminated" : "sent")
        subscriber.onCancel { log.record("nested") }
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
    await gate.arrivals(1)
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
              inbox.onCancel { ran.increment() }
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
      subscriber.onCancel { ran.increment() }
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
    let population = Population()
    for _ in 0..<1_000 {
      let signal = Signal<Population.Member, Never> { subscriber in
        let sender = Task { [member = population.member()] in
          subscriber.send(member)
          subscriber.send(member)
        }
        subscriber.onCancel { sender.cancel() }
      }
      for await _ in signal { break }
    }
    await population.dies()
    #expect(population.greatest > 0)
  }
}
