import Foundation
import Hummingbird
import Logging
import Measuring

/// A server in a process of its own that sends elements as Server-Sent Events, and then ends the
/// response or not: the reader leaves with the last element.
final class Feeding: Sendable {
  private let server: Program
  private let port: Int
  private let path: String
  private let count: Int

  /// `feed`, with a list that has ended.
  static func feed(_ count: Int, _ place: Place) async throws -> Feeding {
    let feed = Program.folder.appending(path: "feed")
    let server = try place.start(
      feed, [place.file().path, "--port", "0", "--every", "0", "--count", "\(count)"])
    let feeding = try await Feeding(server, "/stream?live=sse&offset=-1", count)
    // All elements have been stored when they have been read once.
    _ = try await read(feeding)
    return feeding
  }

  /// A handler by hand.
  ///
  /// - Parameter isGathering: whether it writes a thousand events at once.
  static func byHand(_ count: Int, gathering isGathering: Bool, _ place: Place) async throws
    -> Feeding
  {
    let server = try place.start(Program.own, ["--serve", "\(count)"])
    return try await Feeding(server, isGathering ? "/many" : "/each", count)
  }

  private init(_ server: Program, _ path: String, _ count: Int) async throws {
    (self.server, self.path, self.count) = (server, path, count)
    var lines = server.lines.makeAsyncIterator()
    while let line = await lines.next() {
      guard line.hasPrefix("listening on "), let colon = line.lastIndex(of: ":"),
        let port = Int(line[colon...].dropFirst())
      else { continue }
      self.port = port
      return
    }
    throw Flaw("a server has not begun to listen")
  }

  deinit { server.kill() }

  // MARK: The reader

  /// Reads all elements once, on a thread that may block. Returns how many there were.
  @Sendable static func read(_ feeding: Feeding) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try feeding.readBlocking() })
      }
    }
  }

  private func readBlocking() throws -> Int {
    let socket = try Socket(port: port)
    try socket.send(
      "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
    // The end of the name `"check":` is once in each element, and nowhere else.
    let mark = 3
    var buffer = [UInt8](repeating: 0, count: 1 << 17)
    var (found, kept) = (0, 0)
    while found < count {
      let size = try buffer.withUnsafeMutableBytes { bytes in
        try socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: bytes[kept...]))
      }
      guard size > 0 else { throw Flaw("\(path) has ended after \(found) elements") }
      let end = kept + size
      found += Self.count(in: buffer[..<end])
      // A mark may be in two parts.
      kept = min(mark - 1, end)
      buffer.replaceSubrange(0..<kept, with: Array(buffer[(end - kept)..<end]))
    }
    return found
  }

  /// Counts in the bytes before those that are kept for the next time.
  private static func count(in bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      var (found, index) = (0, 0)
      while index < bytes.count,
        let place = memchr(start + index, CInt(UInt8(ascii: "k")), bytes.count - index)
      {
        index = UnsafeRawPointer(place) - start + 1
        if index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\""),
          bytes[index + 1] == UInt8(ascii: ":")
        {
          found += 1
        }
      }
      return found
    }
  }
}

/// A server as its user would write it without a list: an array in memory, one event for each
/// element.
enum ServerByHand {
  /// An element like those of `feed`.
  struct Item: Codable, Sendable {
    let n: Int
    let text: String
    let check: UInt32
  }

  static func run(_ count: Int) async throws {
    let items = (0..<count).map { number in
      Item(
        n: number, text: "computed by process 123456 at 12:34:56.789Z",
        check: UInt32(truncatingIfNeeded: number &* 2_654_435_761))
    }
    let encoder = JSONEncoder()
    let router = Router()
    router.get("each") { _, _ in
      response { writer in
        for item in items {
          try await writer.write(ByteBuffer(bytes: try event(item, encoder)))
        }
        try await writer.finish(nil)
      }
    }
    router.get("many") { _, _ in
      response { writer in
        for start in stride(from: 0, to: items.count, by: 1000) {
          var bytes = ByteBuffer()
          for item in items[start..<min(start + 1000, items.count)] {
            bytes.writeBytes(try event(item, encoder))
          }
          try await writer.write(bytes)
        }
        try await writer.finish(nil)
      }
    }
    var logger = Logger(label: "by hand")
    logger.logLevel = .warning
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        print("listening on 127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
      }, logger: logger)
    try await application.runService()
  }

  private static func response(
    _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
  ) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody(write))
  }

  private static func event(_ item: Item, _ encoder: JSONEncoder) throws -> Data {
    var bytes = Data("id: \(item.n)\ndata: ".utf8)
    bytes += try encoder.encode(item)
    bytes += Data("\n\n".utf8)
    return bytes
  }
}
