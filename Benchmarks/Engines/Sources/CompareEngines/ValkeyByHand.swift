import Foundation
import Measuring
import NIOCore

/// A stream that is written with `XADD`: elements, no state.
struct ValkeyByHand: Sendable {
  private let connection: ConnectionByHand
  private let key: String
  private let count: Int

  init(_ key: String, port: Int, by count: Int) async throws {
    connection = try await ConnectionByHand(port: port)
    self.key = key
    self.count = count
  }

  /// A stream with elements, for ``read(_:)``.
  static func filled(_ key: String, port: Int, _ count: Int) async throws -> ValkeyByHand {
    let stream = try await ValkeyByHand(key, port: port, by: count)
    _ = try await appendAll(stream)
    return stream
  }

  /// The next command is sent when the last one has been answered.
  @Sendable static func appendOne(_ stream: ValkeyByHand) async throws -> Int {
    var bytes = 0
    for number in 1...stream.count {
      let text = Elements.text(number)
      _ = try await stream.connection.call([["XADD", stream.key, "*", "e", text]])
      bytes &+= text.utf8.count
    }
    return bytes
  }

  /// All commands are sent at once.
  @Sendable static func appendAll(_ stream: ValkeyByHand) async throws -> Int {
    var bytes = 0
    let commands = (1...stream.count).map { number in
      let text = Elements.text(number)
      bytes &+= text.utf8.count
      return ["XADD", stream.key, "*", "e", text]
    }
    _ = try await stream.connection.call(commands)
    return bytes
  }

  /// Reads pages of a thousand.
  @Sendable static func read(_ stream: ValkeyByHand) async throws -> Int {
    var (lines, last): ([String], String) = ([], "-")
    while lines.count < stream.count {
      // For each entry its identifier, the field's name and the element.
      let strings = try await stream.connection.call([
        ["XRANGE", stream.key, last, "+", "COUNT", "1000"]
      ])
      guard strings.count >= 3 else { throw Flaw("\(stream.key) has lost elements") }
      for index in stride(from: 2, to: strings.count, by: 3) {
        lines.append(String(buffer: strings[index]))
      }
      last = "(" + String(buffer: strings[strings.count - 3])
    }
    return lines.reduce(0) { $0 &+ $1.utf8.count }
  }
}
