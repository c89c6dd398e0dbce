import Measuring
import Foundation
import Tailrace

extension Topic {
  /// A server that pushes events to its clients: one system call for each write.
  public static let batches = Topic(
    "Batches", about: "events in bursts of 20, written by 200 readers, each to a file of its own",
    rows: [
      Row(
        "200 readers, bursts of 20", per: "event and reader", times: clients,
        sizes: [20, 200, 2_000],
        Contender("`signal.batches(upTo: 100)`, a write for each batch", batchedWrites),
        Contender("Signal, a write for each event", atMost: 1, singleWrites),
        Contender("an `AsyncStream` for each reader, a write for each event", streamWrites))
    ])
}

private let clients = 200
private let burst = 20

/// A client: where bytes go to, by a system call.
private final class Client: Sendable {
  private let file = open("/dev/null", O_WRONLY)

  deinit { close(file) }

  /// Returns how many bytes were written.
  func write(_ bytes: [UInt8]) -> Int { Foundation.write(file, bytes, bytes.count) }
}

private func line(_ number: Int) -> [UInt8] { Array("data: {\"number\":\(number)}\n\n".utf8) }

/// Sends events, and lets others run after each burst.
private func sendBursts(_ count: Int, _ send: (Int) -> Void) async {
  for number in 0..<count {
    send(number)
    if number % burst == burst - 1 { await Task.yield() }
  }
}

// MARK: Tailrace

@inline(never) private func batchedWrites(_ count: Int) async -> Int {
  await serve(count) { signal, start in
    var iterator = signal.batches(upTo: 100).makeAsyncIterator()
    await start.cross()
    let client = Client()
    var bytes = 0
    while let events = await iterator.next() {
      bytes += client.write(events.reduce(into: []) { $0 += line($1) })
    }
    return bytes
  }
}

@inline(never) private func singleWrites(_ count: Int) async -> Int {
  await serve(count) { signal, start in
    var iterator = signal.makeAsyncIterator()
    await start.cross()
    let client = Client()
    var bytes = 0
    while let event = await iterator.next() { bytes += client.write(line(event)) }
    return bytes
  }
}

/// Sends when all clients have subscribed.
private func serve(
  _ count: Int, _ read: @escaping @Sendable (Signal<Int, Never>, StartingLine) async -> Int
) async -> Int {
  let (signal, subscriber) = Signal<Int, Never>.makeSignal()
  let start = StartingLine(clients + 1)
  return await withTaskGroup(of: Int.self) { group in
    for _ in 0..<clients { group.addTask { await read(signal, start) } }
    await start.cross()
    await sendBursts(count) { subscriber.send($0) }
    subscriber.complete()
    return await group.reduce(0) { $0 &+ $1 }
  }
}

// MARK: Peers

@inline(never) private func streamWrites(_ count: Int) async -> Int {
  let streams = (0..<clients).map { _ in AsyncStream.makeStream(of: Int.self) }
  return await withTaskGroup(of: Int.self) { group in
    for (stream, _) in streams {
      group.addTask {
        let client = Client()
        var bytes = 0
        for await event in stream { bytes += client.write(line(event)) }
        return bytes
      }
    }
    await sendBursts(count) { number in
      for (_, continuation) in streams { continuation.yield(number) }
    }
    for (_, continuation) in streams { continuation.finish() }
    return await group.reduce(0) { $0 &+ $1 }
  }
}
