import Foundation
import Testing

@testable import TailraceStored

@Suite("Server-Sent Events are read, wherever their bytes are cut", .inTurn)
struct EventParserTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var text: String
    var events: [ServerSentEvent]
    var retry: Int?
    var testDescription: String { text.debugDescription }

    init(_ text: String, _ events: (String, String, String)..., retry: Int? = nil) {
      self.text = text
      self.events = events.map {
        ServerSentEvent(name: $0.0, data: Array($0.1.utf8), lastID: $0.2)
      }
      self.retry = retry
    }
  }

  static let rows = [
    Row("data: a\n\n", ("message", "a", "")),
    Row("data: a\r\rdata: b\r\r", ("message", "a", ""), ("message", "b", "")),
    Row("data: a\r\n\r\ndata: b\r\n\r\n", ("message", "a", ""), ("message", "b", "")),
    Row("data: a\r\n\ndata: b\n\r\n", ("message", "a", ""), ("message", "b", "")),
    Row("data: a\n\r\ndata: b\r\r\n", ("message", "a", ""), ("message", "b", "")),
    Row("event: x\r\ndata: a\r\ndata: b\r\n\r\n", ("x", "a\nb", "")),
    Row("\u{FEFF}data: a\n\n", ("message", "a", "")),
    Row("\u{FEFF}\u{FEFF}data: a\n\n"),
    Row("data: a\n\n\u{FEFF}data: b\n\n", ("message", "a", "")),
    Row("\n\u{FEFF}data: a\n\n"),
    Row("data: a\u{85}b\u{2028}c\u{0B}d\n\n", ("message", "a\u{85}b\u{2028}c\u{0B}d", "")),
    Row("id: 1\ndata: a\n\ndata: b\n\n", ("message", "a", "1"), ("message", "b", "1")),
    Row("id: 1\nid: 2\u{0}3\ndata: a\n\n", ("message", "a", "1")),
    Row("id: 1\ndata: a\n\nid\ndata: b\n\n", ("message", "a", "1"), ("message", "b", "")),
    Row("id: 7\n\ndata: a\n\n", ("message", "a", "7")),
    Row("event: x\ndata: a\n\ndata: b\n\n", ("x", "a", ""), ("message", "b", "")),
    Row("event: x\n\ndata: b\n\n", ("message", "b", "")),
    Row("data: a\ndata:b\ndata:  c\n\n", ("message", "a\nb\n c", "")),
    Row("data\n\n", ("message", "", "")),
    Row("data\ndata\n\n", ("message", "\n", "")),
    Row("data: [1,\ndata: 2]\n\n", ("message", "[1,\n2]", "")),
    Row(": comment\n\n:\n\n::\ndata: a\n\n", ("message", "a", "")),
    Row("data : a\nDATA: b\nother: c\n\n"),
    Row("data: a"),
    Row("data: a\n"),
    Row("data: a\n\ndata: b\n", ("message", "a", "")),
    Row("\n\n\r\n\rdata: a\n\n", ("message", "a", "")),
    Row("retry: 500\n\n", retry: 500),
    Row("retry: 5x\nretry: -1\nretry:\nretry: 99999999999999999999\n\n"),
    Row("retry:7\ndata: é€😀\n\n", ("message", "é€😀", ""), retry: 7),
  ]

  @Test("in one piece, byte by byte, and at every cut in two and three", arguments: rows)
  func cuts(_ row: Row) throws {
    let bytes = Array(row.text.utf8)
    func events(_ cuts: [Int]) throws -> [ServerSentEvent] {
      var parser = EventParser(limit: 1000)
      var events: [ServerSentEvent] = []
      var start = 0
      for end in cuts + [bytes.count] {
        events += try parser.take(Array(bytes[start..<end]))
        start = end
      }
      #expect(parser.reconnectionTime == row.retry)
      return events
    }
    #expect(try events([]) == row.events)
    #expect(try events(Array(0..<bytes.count)) == row.events)
    for first in 0...bytes.count {
      for second in first...bytes.count where try events([first, second]) != row.events {
        Issue.record("cut at \(first) and \(second)")
      }
    }
  }

  @Test("bytes that are no UTF-8 stay as they are in data")
  func invalid() throws {
    var parser = EventParser(limit: 100)
    let events = try parser.take(Array("data: ".utf8) + [0xFF, 0xC3] + Array("\n\n".utf8))
    #expect(events.map(\.data) == [[0xFF, 0xC3]])
  }

  @Test(
    "an event larger than the limit is refused before it is complete",
    arguments: ["data: ", "", ": ", "data: x\ndata: x\nid: "])
  func limit(_ start: String) throws {
    var parser = EventParser(limit: 1 << 20)
    _ = try parser.take(Array(start.utf8))
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
    let refused = (0..<17).firstIndex { _ in
      do throws(EventTooLarge) {
        _ = try parser.take(piece)
        return false
      } catch {
        #expect(error == EventTooLarge(limit: 1 << 20))
        return true
      }
    }
    #expect(refused == (start.isEmpty ? 16 : 15))
  }

  @Test("many lines of data are limited together, and events one by one")
  func lines() throws {
    var parser = EventParser(limit: 100)
    for _ in 0..<100 {
      #expect(try parser.take(Array("data: 12345678901234567890\n\n".utf8)).count == 1)
    }
    #expect(throws: EventTooLarge.self) {
      for _ in 0..<10 { _ = try parser.take(Array("data: 12345678901234567890\n".utf8)) }
    }
  }
}

@Suite("The elements of a JSON array", .inTurn)
struct JSONArrayTests {
  @Test(
    "arrays, and their elements",
    arguments: [
      ("[]", []), (" [ ] \n", []), ("[1]", ["1"]), ("[1,2]", ["1", "2"]),
      (" [ 1 ,\n\"a,]b\" ,{\"c\":[1,2]} ] ", ["1", "\"a,]b\"", "{\"c\":[1,2]}"]),
      (#"["\"",{"a\\":"}"}]"#, [#""\"""#, #"{"a\\":"}"}"#]),
      ("[[],[[1,2],3],null]", ["[]", "[[1,2],3]", "null"]),
    ] as [(String, [String])])
  func elements(_ text: String, _ elements: [String]) {
    let bytes = Array(text.utf8)
    let ranges = JSONArray.elements(of: bytes)
    #expect(ranges?.map { String(decoding: bytes[$0], as: UTF8.self) } == elements)
    // No part of it is an array.
    let whole = text.trimmingCharacters(in: .whitespacesAndNewlines)
    for end in 0..<whole.utf8.count {
      #expect(JSONArray.elements(of: Array(whole.utf8.prefix(end))) == nil)
    }
  }

  @Test(
    "no arrays",
    arguments: ["", "1", "{}", "[1,]", "[,1]", "[,]", "[1]]", "[1] x", "[1][2]", "\"[]\"", "[\""])
  func none(_ text: String) { #expect(JSONArray.elements(of: Array(text.utf8)) == nil) }
}
