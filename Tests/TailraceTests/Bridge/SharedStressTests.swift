import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("Shared signals, on all threads at once", .timeLimit(.minutes(15)), .inTurn)
struct SharedStressTests {
  #if DEBUG
    static let rounds = 300
  #else
    static let rounds = 10_000
  #endif

  @Test("the last reader leaves while a first one comes: that one reads, and every run is ended")
  func leavingAndArriving() async {
    let (runs, ends) = (Counter(), Counter())
    let scheduler = QueueScheduler(name: "timers")
    for patience in [Duration.zero, .nanoseconds(1), .microseconds(50)] {
      do {
        let shared = Signal<Int, Never> { subscriber in
          runs.increment()
          subscriber.keep()
          subscriber.onTermination { _ in ends.increment() }
          subscriber.send(1)
        }.shared(replaying: 1, keptFor: patience, scheduler: scheduler)
        await withTaskGroup { group in
          for _ in 0..<4 {
            group.addTask {
              for _ in 0..<Self.rounds {
                var seen = 0
                for await number in shared {
                  seen += number
                  break
                }
                #expect(seen == 1)
              }
            }
          }
        }
      }
      // Nobody can come any more, so that nothing is kept.
      #expect(ends.value == runs.value)
    }
  }

  @Test("readers that come, are too slow, are cancelled and leave: no gap, and nothing twice")
  func readers() async {
    for round in 0..<max(1, Self.rounds / 300) {
      let runs = Counter()
      let source = Signal<Int, Never> { subscriber async in
        let run = runs.increment()
        for index in 0..<100_000 where !subscriber.isTerminated {
          subscriber.send(run * 1_000_000 + index)
          if index % 64 == 0 { await Task.yield() }
        }
      }
      let policy: Signal<Int, Never>.BufferingPolicy =
        [.unbounded, .bufferingNewest(8), .bufferingOldest(8)][round % 3]
      let shared = (round % 2 == 0 ? source : source.map { $0 })
        .shared(replaying: 5, bufferingPolicy: policy)
      await withTaskGroup { group in
        for reader in 0..<8 {
          group.addTask {
            var random = SeededGenerator(seed: UInt64(round * 8 + reader))
            for _ in 0..<20 {
              let limit = Int.random(in: 1...200, using: &random)
              let isCancelled = Int.random(in: 0..<3, using: &random) == 0
              await Task {
                var iterator = shared.makeAsyncIterator()
                guard var last = await iterator.next() else { return }
                var counted = iterator.droppedCount
                for count in 0..<limit {
                  if isCancelled, count == limit / 2 { withUnsafeCurrentTask { $0?.cancel() } }
                  guard let element = await iterator.next() else { return }
                  #expect(element == last + 1 + iterator.droppedCount - counted)
                  (last, counted) = (element, iterator.droppedCount)
                }
              }.value
            }
          }
        }
      }
    }
  }

  @Test("an ending races with readers that come: everybody gets the window and the ending")
  func endings() async {
    for _ in 0..<Self.rounds {
      let given = Locked(Signal<Int, Never>.Subscriber?.none)
      let shared = Signal<Int, Never> { subscriber in
        subscriber.send(1)
        given.withLock { $0 = subscriber }
      }.shared(replaying: 2)
      let first = shared.subscribe { _ in }
      let subscriber = given.withLock { $0.take() }!
      await withTaskGroup { group in
        group.addTask {
          subscriber.send(2)
          subscriber.complete()
        }
        for _ in 0..<3 { group.addTask { #expect(await shared.array() == [1, 2]) } }
      }
      await first.value
    }
  }

  @Test("senders that wait race with readers that leave: nobody is left waiting")
  func waitingSenders() async {
    for round in 0..<Self.rounds / 10 {
      let (signal, subscriber) = Signal<Int, Never>.makeSignal(
        replaying: round % 3, bufferingPolicy: .bufferingOldest(round % 3))
      await withTaskGroup { group in
        for reader in 1...3 {
          let iterator = signal.makeAsyncIterator()
          let reading = iterator.reading
          group.addTask {
            for _ in 0..<reader * 5 { _ = await reading.event(leavingWhenCancelled: true) }
            reading.cancel()
          }
        }
        for _ in 0..<2 {
          let sender = Task {
            for number in 0..<20 { await subscriber.send(whenReady: number) }
          }
          if round % 4 == 0 { group.addTask { sender.cancel() } }
          group.addTask { await sender.value }
        }
        group.addTask { if round % 4 == 0 { subscriber.complete() } }
      }
    }
  }
}
