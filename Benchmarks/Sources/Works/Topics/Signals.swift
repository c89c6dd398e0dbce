import Measuring
import AsyncAlgorithms
import OpenCombine
import Tailrace

extension Topic {
  public static let signals = Topic(
    "Signals", about: "elements that another task sends, and lists that are pushed",
    rows: [
      Row(
        "sent by another task", isHeadline: true,
        Contender("Signal", signal),
        Contender("Signal, hot", hotSignal),
        Contender("`AsyncStream`", atMost: 1 / 5, stream),
        Contender("`AsyncChannel`", upTo: 10_000, channel),
        Contender("`PassthroughSubject`", subject)),
      Row(
        "a signal as an `AsyncStream`", sizes: [4, 100, 10_000],
        Contender("`signal.stream()`", signalStream),
        Contender("`AsyncStream`", atMost: 1, stream)),
      Row(
        "a list as an `AsyncStream`", sizes: [4, 100, 10_000],
        Contender("`list.stream(on:)`", listStream),
        Contender("a loop that yields", atMost: 1.2, yieldingLoop)),
    ])
}

private let walking = QueueScheduler(name: "walking")

// MARK: Tailrace

private func sent(_ count: Int) -> Signal<Int, Never> {
  Signal { subscriber in
    Task {
      for element in 0..<count { subscriber.send(element) }
      subscriber.complete()
    }
  }
}

@inline(never) private func signal(_ count: Int) async -> Int {
  var sum = 0
  for await element in sent(count) { sum &+= element }
  return sum
}

@inline(never) private func hotSignal(_ count: Int) async -> Int {
  let (signal, subscriber) = Signal<Int, Never>.makeSignal()
  Task {
    for element in 0..<count { subscriber.send(element) }
    subscriber.complete()
  }
  var sum = 0
  for await element in signal { sum &+= element }
  return sum
}

@inline(never) private func signalStream(_ count: Int) async -> Int {
  var sum = 0
  for await element in sent(count).stream() { sum &+= element }
  return sum
}

@inline(never) private func listStream(_ count: Int) async -> Int {
  var sum = 0
  for await element in LazyList(0..<count).stream(on: walking) { sum &+= element }
  return sum
}

// MARK: Peers

@inline(never) private func stream(_ count: Int) async -> Int {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  Task {
    for element in 0..<count { continuation.yield(element) }
    continuation.finish()
  }
  var sum = 0
  for await element in stream { sum &+= element }
  return sum
}

@inline(never) private func channel(_ count: Int) async -> Int {
  let channel = AsyncChannel<Int>()
  Task {
    for element in 0..<count { await channel.send(element) }
    channel.finish()
  }
  var sum = 0
  for await element in channel { sum &+= element }
  return sum
}

/// The sink is called by the sender, so that nothing waits anywhere.
@inline(never) private func subject(_ count: Int) async -> Int {
  await Task {
    let (subject, total) = (PassthroughSubject<Int, Never>(), Total())
    let sink = subject.sink { total.sum &+= $0 }
    for element in 0..<count { subject.send(element) }
    subject.send(completion: .finished)
    sink.cancel()
    return total.sum
  }.value
}

@inline(never) private func yieldingLoop(_ count: Int) async -> Int {
  let list = LazyList(0..<count)
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  let task = Task(executorPreference: walking) {
    for await element in list { continuation.yield(element) }
    continuation.finish()
  }
  continuation.onTermination = { _ in task.cancel() }
  var sum = 0
  for await element in stream { sum &+= element }
  return sum
}
