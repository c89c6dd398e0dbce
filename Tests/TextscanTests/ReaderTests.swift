import Foundation
import Testing

@testable import textscan

@Suite("Readers")
struct ReaderTests {
  @Test(
    "count as wc does",
    arguments: [
      ("", [0, 0, 0]),
      ("x", [0, 1, 1]),
      ("one two\r\nthree\tfour\u{B}five\u{C}six\r\n\r\nend", [3, 7, 35]),
      ("\n\n\n", [3, 0, 3]),
      (" … \u{A0} ", [0, 1, 8]),
      ("a\u{1680}b\u{2000}c\u{200A}d\u{202F}e\u{205F}f\u{2060}g\u{3000}h", [0, 8, 29]),
      // Not white space: zero width, next line, line and paragraph separator, and their neighbors.
      ("a\u{200B}b\u{FEFF}c\u{85}d\u{2028}e\u{2029}f", [0, 1, 20]),
      ("a\u{9F}\u{A1}\u{167F}\u{1681}\u{1FFF}\u{2030}b", [0, 1, 18]),
      ("a\u{205E}\u{2061}\u{2FFF}\u{3001}b", [0, 1, 14]),
    ])
  func counts(text: String, expected: [Int]) async throws {
    let playground = try Playground()
    let path = try playground.file("file", text)
    #expect(try await playground.report(path, "--only", "lines").summary == expected)
  }

  @Test("part words at white space that stands among invalid bytes, and not at a part of it")
  func invalid() async throws {
    let playground = try Playground()
    let space = Array("\u{2003}".utf8)
    let path = try playground.file(
      "file", [0x61, 0xF0] + space + [0xE2, 0x80, 0x62, 0xC2, 0x63, 0xA0, 0xE3, 0x0A, 0xC2])
    #expect(try await playground.report(path, "--only", "lines").summary == [1, 3, 14])
    let words = try await playground.report(path, "--only", "words").words
    #expect(words?.map(\.text) == ["a\u{FFFD}", "\u{FFFD}", "\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}"])
  }

  @Test("keep words of different files apart")
  func boundaries() async throws {
    let playground = try Playground()
    try playground.file("a", "one")
    try playground.file("b", "two\n")
    #expect(try await playground.report(playground.path).summary == [1, 2, 7])
  }

  @Test("find the first longest line, in bytes and without its end")
  func longest() async throws {
    let playground = try Playground()
    try playground.file("a", "1234\r\nääb\n12345\n")
    let longest = try await playground.report(playground.path).longest
    #expect(longest?.bytes == 5)
    #expect(longest?.line == 2)
    #expect(longest?.text == "ääb")
  }

  @Test("find no longest line where there is none")
  func nothing() async throws {
    let playground = try Playground()
    try playground.file("empty", "")
    let report = try await playground.report(playground.path)
    #expect(report.longest == nil)
    #expect(report.reading.files == 1)
    #expect(report.reading.lines == 0)
  }

  @Test("count words as they are, repaired where they are no text")
  func words() async throws {
    let playground = try Playground()
    try playground.file("a", Array("b a b A é é é ".utf8) + [0xFF, 0x20, 0xFE, 0x0A])
    let words = try #require(try await playground.report(playground.path).words)
    #expect(words.map(\.text) == ["é", "b", "\u{FFFD}", "A", "a"])
    #expect(words.map(\.count) == [3, 2, 2, 1, 1])
  }

  @Test("count duplicates without their line ends")
  func duplicates() async throws {
    let playground = try Playground()
    try playground.file("a", "x\ny\nx\r\n\nz\n\n")
    try playground.file("b", "x")
    let duplicates = try #require(try await playground.report(playground.path).duplicates)
    #expect(duplicates.distinct == 2)
    #expect(duplicates.mostFrequent.map(\.text) == ["x", ""])
    #expect(duplicates.mostFrequent.map(\.count) == [3, 2])
  }

  @Test(
    "find a text anywhere in a line",
    arguments: [
      ("aab", [1, 2, 3]), ("b", [1, 2, 3, 4]), ("aaaa", [3]), ("", [1, 2, 3, 4]), ("\r", []),
      ("c", []),
    ])
  func find(pattern: String, lines: [Int]) async throws {
    let playground = try Playground()
    try playground.file("a", "aab\r\nxaabx\naaaab\nb")
    let find = try #require(try await playground.report(playground.path, "--find", pattern).find)
    #expect(find.matches.map(\.line) == lines)
    #expect(!find.stoppedEarly)
  }

  @Test("tally as a dictionary does")
  func tally() {
    var random = SystemRandomNumberGenerator()
    var tally = Tally(limit: 20, from: 2)
    var expected: [String: Int] = [:]
    for _ in 0..<20_000 {
      // Small numbers are more frequent.
      let bound = UInt64.random(in: 1...2000, using: &random)
      var text = String(UInt64.random(in: 0..<bound, using: &random))
      expected[text, default: 0] += 1
      text.withUTF8 { tally.add($0) }
    }
    #expect(tally.repeatedCount == expected.values.count { $0 > 1 })
    #expect(tally.leaders.map(\.count) == Array(expected.values.sorted(by: >).prefix(20)))
    for leader in tally.leaders { #expect(expected[leader.excerpt.text] == leader.count) }
  }
}
