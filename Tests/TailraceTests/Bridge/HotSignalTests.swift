import Tailrace
import TailraceTesting
import Testing

@Suite("Hot signals", .hangLimit, .inTurn)
struct HotSignalTests {
  @Test("elements sent before the first subscription wait for it; others begin with the next one")
  func history() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    subscriber.send(1)
    var first = signal.makeAsyncIterator()
    subscriber.send(2)
    var second = signal.makeAsyncIterator()
    subscriber.send(3)
    subscriber.complete()
    var seen: [[Int]] = [[], []]
    while let number = await first.next() { seen[0].append(number) }
    while let number = await second.next() { seen[1].append(number) }
    #expect(seen == [[1, 2, 3], [3]])
    #expect(await signal.array() == [], "the ending is there for those who come after it")
  }

  @Test("an ending before the first subscription comes after what was sent")
  func endedEarly() async throws {
    let (signal, subscriber) = Signal<Int, Mishap>.makeSignal()
    subscriber.send(1)
    subscriber.fail(Mishap(position: 1))
    var iterator = signal.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    await #expect(throws: Mishap(position: 1)) { try await iterator.next() }
    await #expect(throws: Mishap(position: 1)) { try await signal.array() }
  }

  @Test(
    "a bounded buffer tells the sender what is dropped",
    arguments: [
      (Signal<Int, Never>.BufferingPolicy.bufferingOldest(2), [1, 2], [3, 4]),
      (.bufferingNewest(2), [3, 4], [1, 2]), (.unbounded, [1, 2, 3, 4], []),
    ])
  func bounded(_ policy: Signal<Int, Never>.BufferingPolicy, _ kept: [Int], _ dropped: [Int]) async
  {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal(bufferingPolicy: policy)
    var told: [Int] = []
    for number in 1...4 {
      if case .dropped(let element) = subscriber.send(number) { told.append(element) }
    }
    subscriber.complete()
    #expect(await signal.array() == kept)
    #expect(told == dropped)
  }

  @Test("nobody listens any more: sent elements are lost, and the sender is told")
  func nobody() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let task = signal.subscribe { _ in }
    task.cancel()
    await task.value
    #expect(subscriber.send(1) == .dropped(1))
    #expect(!subscriber.isTerminated, "somebody may come")
    var iterator = signal.makeAsyncIterator()
    subscriber.send(2)
    #expect(await iterator.next() == 2)
  }

  @Test("released by everyone who could read it, it is cancelled")
  func released() async {
    let log = Probe<String>()
    var (signal, subscriber): (Signal<Int, Never>?, _) = Signal<Int, Never>.makeSignal()
    subscriber.onTermination { _ in log.record("cancelled") }
    var iterator = signal?.makeAsyncIterator()
    signal = nil
    subscriber.send(1)
    #expect(await iterator?.next() == 1)
    #expect(log.values == [])
    iterator = nil
    #expect(log.values == ["cancelled"])
    #expect(subscriber.isTerminated)
    #expect(subscriber.send(2) == .terminated)
  }

  @Test("many senders, many readers: everyone gets everything, in one order")
  func crowd() async {
    let (signal, subscriber) = Signal<Int, Never>.makeSignal()
    let readers = (0..<8).map { _ in
      let seen = Probe<Int>()
      let task = signal.subscribe { event in
        if case .next(let number) = event { seen.record(number) }
      }
      return (seen, task)
    }
    await withTaskGroup { group in
      for sender in 0..<8 {
        group.addTask {
          for number in 0..<1000 { subscriber.send(sender * 1000 + number) }
        }
      }
    }
    subscriber.complete()
    for (_, task) in readers { await task.value }
    let first = readers[0].0.values
    #expect(first.sorted() == Array(0..<8000))
    for sender in 0..<8 {
      let own = first.filter { $0 / 1000 == sender }
      #expect(own == own.sorted(), "the elements of one sender keep their order")
    }
    for (seen, _) in readers { #expect(seen.values == first) }
  }
}
