import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  public static let signals = Topic(
    "Signals", about: "elements that another task sends, and lists that are pushed",
    works: [
      Work(
        "sent by another task", isHeadline: true,
        floors: [.atLeast(5, fasterThan: "`AsyncStream`")],
        contenders: [
          Contender("Signal") { count in
            let signal = Signal<Int, Never> { subscriber in
              Task {
                for element in 0..<count { subscriber.send(element) }
                subscriber.complete()
              }
            }
            return Tally(count, await sum(signal))
          },
          Contender("Signal, hot") { count in
            let (signal, subscriber) = Signal<Int, Never>.makeSignal()
            Task {
              for element in 0..<count { subscriber.send(element) }
              subscriber.complete()
            }
            return Tally(count, await sum(signal))
          },
          Contender("`AsyncStream`") { count in
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            Task {
              for element in 0..<count { continuation.yield(element) }
              continuation.finish()
            }
            return Tally(count, await sum(stream))
          },
          Contender("`AsyncChannel`", sizes: Contender.fewer) { count in
            let channel = AsyncChannel<Int>()
            Task {
              for element in 0..<count { await channel.send(element) }
              channel.finish()
            }
            return Tally(count, await sum(channel))
          },
          Contender("`PassthroughSubject`") { count in
            Tally(count, await sent(through: Passing(), count))
          },
        ]),
      Work(
        "a signal as an `AsyncStream`",
        contenders: [
          Contender("`signal.stream()`", sizes: Contender.fewer) { count in
            let signal = Signal<Int, Never> { subscriber in
              Task {
                for element in 0..<count { subscriber.send(element) }
                subscriber.complete()
              }
            }
            return Tally(count, await sum(signal.stream()))
          },
          Contender("`AsyncStream`", sizes: Contender.fewer) { count in
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            Task {
              for element in 0..<count { continuation.yield(element) }
              continuation.finish()
            }
            return Tally(count, await sum(stream))
          },
        ]),
      Work(
        "a list as an `AsyncStream`",
        floors: [.atMost(1.2, slowerThan: "a loop that yields")],
        contenders: [
          Contender("`list.stream(on:)`", sizes: Contender.fewer) { count in
            let list = LazyList(0..<count)
            return Tally(count, await sum(list.stream(on: walking)))
          },
          Contender("a loop that yields", sizes: Contender.fewer) { count in
            let list = LazyList(0..<count)
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            let task = Task(executorPreference: walking) {
              for await element in list { continuation.yield(element) }
              continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
            return Tally(count, await sum(stream))
          },
        ]),
    ])
}

private let walking = QueueScheduler(name: "walking")

/// A subject of OpenCombine's and what its sink has added up.
// Guard: the task that sends, which is the only one to touch it until it says that it is done.
// May touch it: that task.
private final class Passing: @unchecked Sendable {
  let subject = PassthroughSubject<Int, Never>()
  var total = 0
}

/// The sink is called by the sender, so that nothing waits anywhere.
private func sent(through passing: Passing, _ count: Int) async -> Int {
  await Task {
    let sink = passing.subject.sink { passing.total &+= $0 }
    for element in 0..<count { passing.subject.send(element) }
    passing.subject.send(completion: .finished)
    sink.cancel()
    return passing.total
  }.value
}
