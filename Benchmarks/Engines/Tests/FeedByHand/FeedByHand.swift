import Foundation
import Hummingbird
import Logging
import Synchronization

/// A handler by hand, to compare `feed` with: an array in memory, no store, no offsets, one event for each
/// element, encoded for each reader.
@main
struct FeedByHand {
  static func main() async throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap(Int.init)
    let (interval, count) = (numbers.first ?? 20, numbers.dropFirst().first ?? 50)
    let list = Growing()
    let router = Router()
    router.get("/stream") { request, _ in
      Response(
        status: .ok, headers: [.contentType: "text/event-stream", .connection: "close"],
        body: ResponseBody { writer in
          let encoder = JSONEncoder()
          var position = 0
          while position < count {
            let items = await list.items(from: position)
            for item in items {
              let json = try encoder.encode([item])
              try await writer.write(
                ByteBuffer(
                  string: "event: data\ndata: \(String(decoding: json, as: UTF8.self))\n\n"))
            }
            position += items.count
          }
          try await writer.finish(nil)
        })
    }
    var logger = Logger(label: "byhand")
    logger.logLevel = .warning
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0), backlog: 1024),
      onServerRunning: { channel in
        print("listening on 127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
        Task {
          var check: UInt32 = 2_166_136_261
          for n in 0..<count {
            try await Task.sleep(for: .milliseconds(interval))
            let time = Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))
            let text = "computed by process \(getpid()) at \(time)"
            for byte in text.utf8 { check = (check ^ UInt32(byte)) &* 16_777_619 }
            list.add(Item(n: n, text: text, check: check))
          }
        }
      }, logger: logger)
    try await application.runService()
  }
}

struct Item: Codable, Sendable {
  let n: Int
  let text: String
  let check: UInt32
}

/// An array that grows, and tasks that wait for more.
final class Growing: Sendable {
  private struct State {
    var items: [Item] = []
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func add(_ item: Item) {
    let waiters = state.withLock { state in
      state.items.append(item)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func items(from position: Int) async -> [Item] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.items.count > position { return true }
        state.waiters.append(continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
    return state.withLock { Array($0.items[position...]) }
  }
}
