import NIOCore
import Testing

@testable import ValkeyStore

@Suite("RESP: any pieces of bytes")
struct RESPTests {
  static let long = String(repeating: "0123456789", count: 2000)

  static let values: [(String, RESP)] = [
    ("+OK\r\n", .text("OK")),
    ("+\r\n", .text("")),
    ("-ERR no\r\n", .error("ERR no")),
    (":0\r\n", .number(0)),
    (":-42\r\n", .number(-42)),
    (":9223372036854775807\r\n", .number(.max)),
    ("$5\r\nhello\r\n", .bytes(ByteBuffer(string: "hello"))),
    ("$0\r\n\r\n", .bytes(ByteBuffer())),
    ("$4\r\n\r\n\r\n\r\n", .bytes(ByteBuffer(string: "\r\n\r\n"))),
    ("$-1\r\n", .null),
    ("*-1\r\n", .null),
    ("*0\r\n", .array([])),
    ("*2\r\n$1\r\na\r\n:7\r\n", .array([.bytes(ByteBuffer(string: "a")), .number(7)])),
    (
      "*3\r\n*0\r\n*2\r\n*1\r\n$-1\r\n-BUSY x\r\n*-1\r\n",
      .array([.array([]), .array([.array([.null]), .error("BUSY x")]), .null])
    ),
    ("$20000\r\n\(long)\r\n", .bytes(ByteBuffer(string: long))),
  ]

  /// All values that are in these pieces, and whether nothing is left.
  static func parse(_ pieces: [Substring]) throws -> ([RESP], isEmpty: Bool) {
    var parser = RESPParser()
    var values: [RESP] = []
    for piece in pieces {
      parser.feed(ByteBuffer(substring: piece))
      while let value = try parser.next() { values.append(value) }
    }
    return (values, parser.isEmpty)
  }

  @Test("every value, cut once at every byte", arguments: values)
  func oneCut(_ text: String, _ value: RESP) throws {
    let bytes = Array(text.utf8)
    // Of a long string, the middle is all alike.
    let cuts = (0...bytes.count).filter { $0 < 64 || $0 > bytes.count - 64 || $0 % 997 == 0 }
    for cut in cuts {
      let parts = [bytes[..<cut], bytes[cut...]].map { Substring(decoding: $0, as: UTF8.self) }
      let (values, isEmpty) = try Self.parse(parts)
      #expect(values == [value] && isEmpty, "cut at \(cut)")
      let (half, isHalfEmpty) = try Self.parse([parts[0]])
      #expect(half.isEmpty || cut == bytes.count, "complete at \(cut) of \(bytes.count)")
      #expect(isHalfEmpty == (cut == 0 || cut == bytes.count), "cut at \(cut)")
    }
  }

  @Test("all values after each other, in pieces of every size")
  func pieces() throws {
    let text = Self.values.dropLast().map(\.0).joined()
    let expected = Self.values.dropLast().map(\.1)
    let bytes = Array(text.utf8)
    for size in 1...bytes.count {
      let pieces = stride(from: 0, to: bytes.count, by: size).map {
        Substring(decoding: bytes[$0..<min($0 + size, bytes.count)], as: UTF8.self)
      }
      let (values, isEmpty) = try Self.parse(pieces)
      #expect(values == expected && isEmpty, "pieces of \(size)")
    }
  }

  @Test("all values after each other, cut twice anywhere")
  func twoCuts() throws {
    let bytes = Array(Self.values.dropLast().map(\.0).joined().utf8)
    let expected = Self.values.dropLast().map(\.1)
    for first in 0...bytes.count {
      for second in [1, 2, 3, 5, 11, 40].map({ first + $0 }) where second < bytes.count {
        let parts = [bytes[..<first], bytes[first..<second], bytes[second...]]
        let (values, isEmpty) = try Self.parse(
          parts.map { Substring(decoding: $0, as: UTF8.self) })
        if values != expected || !isEmpty { Issue.record("cut at \(first) and \(second)") }
      }
    }
  }

  @Test(
    "bytes that are not RESP",
    arguments: [
      "\r\n", "x\r\n", "HTTP/1.1 400 Bad Request\r\n", "$x\r\n", "$\r\n", "$-2\r\n", "$+1\r\na\r\n",
      "$536870913\r\n", "$99999999999999999999\r\n", "*-2\r\n", "*1048577\r\n", "*x\r\n", ":\r\n",
      ":1.5\r\n", ":9223372036854775808\r\n", "+a\rb\r\n", "$1\r\nab\r\n", "$3\r\nab\r\n\r\n",
      String(repeating: "*1\r\n", count: 40), "+" + String(repeating: "a", count: 70_000),
    ])
  func errors(_ text: String) throws {
    for size in [1, 3, text.utf8.count] {
      var parser = RESPParser()
      var failure: RESPError?
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: size) where failure == nil {
        // A valid value first is still given.
        if start == 0 { parser.feed(ByteBuffer(string: ":1\r\n")) }
        parser.feed(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
        do throws(RESPError) {
          while let value = try parser.next() { #expect(value == .number(1)) }
        } catch {
          failure = error
        }
      }
      #expect(failure != nil, "in pieces of \(size)")
      // Nothing after it can be trusted.
      parser.feed(ByteBuffer(string: ":2\r\n"))
      #expect(throws: RESPError.self) { try parser.next() }
    }
  }

  @Test("a big string, in the pieces of a network")
  func bigString() throws {
    let size = 16 * 1024 * 1024
    var parser = RESPParser()
    parser.feed(ByteBuffer(string: "*2\r\n$\(size)\r\n"))
    let piece = ByteBuffer(repeating: 7, count: 64 * 1024)
    for _ in 0..<size / piece.readableBytes {
      #expect(try parser.next() == nil)
      parser.feed(piece)
    }
    parser.feed(ByteBuffer(string: "\r\n:1\r\n"))
    let value = try parser.next()?.asArray
    #expect(value?.count == 2 && value?.last == .number(1))
    guard case .bytes(let bytes) = value?.first else { throw RESPError(message: "no string") }
    #expect(bytes == ByteBuffer(repeating: 7, count: size))
  }

  @Test("a command, as the server reads it")
  func command() {
    var bytes = ByteBuffer()
    RESP.write([ByteBuffer(string: "GET"), ByteBuffer(), ByteBuffer(string: "ä")], into: &bytes)
    #expect(String(buffer: bytes) == "*3\r\n$3\r\nGET\r\n$0\r\n\r\n$2\r\nä\r\n")
  }
}
