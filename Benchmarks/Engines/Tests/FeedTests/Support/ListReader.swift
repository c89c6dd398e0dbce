import Foundation

@testable import feed

/// Reads a list to its end, and connects again whenever the connection is lost.
///
/// Its calls wait for the network: on a thread of its own.
struct ListReader {
  enum Mode: String, CaseIterable, Sendable {
    /// As a browser's `EventSource`: the address stays the same, `Last-Event-ID` has the position.
    case events
    case longPoll
  }

  let mode: Mode
  let port: Int
  let progress: Progress
  private(set) var items: [FeedItem] = []
  private(set) var connections = 0
  private var position = "-1"
  private var isEnded = false

  init(_ mode: Mode, port: Int, _ progress: Progress) {
    self.mode = mode
    self.port = port
    self.progress = progress
  }

  /// Reads until the server says that the list has ended.
  mutating func run() throws {
    // A killed server is back within a second; five minutes are for a busy machine.
    let end = Date(timeIntervalSinceNow: 300)
    while !isEnded {
      do {
        try connect()
      } catch is SocketError {
        guard Date() < end else { throw ListReaderError.noServer }
        usleep(2000)
      }
    }
  }

  /// Reads one response.
  private mutating func connect() throws {
    let socket = try Socket(port: port)
    connections += 1
    switch mode {
    case .events:
      try socket.request(
        "/stream?live=sse&offset=-1", position == "-1" ? [] : ["Last-Event-ID: \(position)"])
    case .longPoll:
      try socket.request("/stream?live=long-poll&offset=\(position)")
    }
    var response = PartialResponse()
    while !response.isComplete, !isEnded {
      let bytes = try socket.receive()
      // A server that was killed. Of an incomplete page, nothing counts.
      if bytes.isEmpty { return }
      response.take(bytes)
      if mode == .events, response.hasHead { try readEvents(&response) }
    }
    if mode == .longPoll { try readPage(response) }
  }

  private mutating func readEvents(_ response: inout PartialResponse) throws {
    if response.status == 204 {
      isEnded = true
      return
    }
    guard response.status == 200 else { throw ListReaderError.status(response.status) }
    for event in StreamEvent.take(from: &response.body) {
      if event.name == "data" { try take(Data(event.data.utf8)) }
      if let id = event.id { position = id }
      if event.name == "control" { isEnded = event.data.contains("\"streamClosed\":true") }
    }
  }

  private mutating func readPage(_ response: PartialResponse) throws {
    guard [200, 204].contains(response.status) else {
      throw ListReaderError.status(response.status)
    }
    if response.status == 200 { try take(Data(response.body)) }
    position = response.headers["stream-next-offset"] ?? position
    isEnded = response.headers["stream-closed"] == "true"
  }

  private mutating func take(_ json: Data) throws {
    items += try JSONDecoder().decode([FeedItem].self, from: json)
    progress.reach(items.count)
  }
}

enum ListReaderError: Error {
  case noServer
  case status(Int)
}

/// How far the fastest of some readers is.
// Guard: the condition. May touch it: whoever has locked that.
final class Progress: @unchecked Sendable {
  private let condition = NSCondition()
  private var count = 0

  func reach(_ count: Int) {
    condition.withLock {
      self.count = max(self.count, count)
      condition.broadcast()
    }
  }

  /// Waits on the thread. Returns the number reached.
  @discardableResult
  func wait(for count: Int) -> Int {
    condition.withLock {
      while self.count < count { condition.wait() }
      return self.count
    }
  }
}

extension [FeedItem] {
  /// The first place where these are not the first elements of a list, each once.
  var firstFault: Int? {
    var maker = FeedItem.Maker()
    return firstIndex { $0 != maker.next($0.text) }
  }
}
