import Tailrace
import Testing

@testable import textscan

@Suite("Lines")
struct LineTests {
  private func lines(_ bytes: [UInt8]) async throws -> [[UInt8]] {
    let playground = try Playground()
    let path = try playground.file("file", bytes)
    let ledger = Ledger(playground.console)
    return try await Scan.lines([path], ledger).map { $0.withBytes(Array.init) }.array()
  }

  @Test(
    "keep every byte",
    arguments: [
      ("", []), ("x", ["x"]), ("\n", ["\n"]), ("\n\n", ["\n", "\n"]), ("a\nb", ["a\n", "b"]),
      ("a\r\nb\r", ["a\r\n", "b\r"]), ("\u{FEFF}ä\n\n…", ["\u{FEFF}ä\n", "\n", "…"]),
    ])
  func bytes(text: String, expected: [String]) async throws {
    #expect(try await lines(Array(text.utf8)) == expected.map { Array($0.utf8) })
  }

  @Test("are whole wherever a piece ends", arguments: [65_535, 65_536, 65_537, 131_072, 300_000])
  func pieces(length: Int) async throws {
    let long = Array(repeating: UInt8(ascii: "x"), count: length - 1) + [.newline]
    let short = Array("short\n".utf8)
    #expect(try await lines(short + long + short + long) == [short, long, short, long])
  }

  @Test("know where they are")
  func locations() async throws {
    let playground = try Playground()
    let text = (1...8000).map { "line \($0)\n" }.joined()
    let path = try playground.file("file", text)
    let locations = try await Scan.lines([path], Ledger(playground.console))
      .map { ($0.location.line, $0.quote.excerpt.text) }
      .filter { "line \($0.0)" != $0.1 }
      .array()
    #expect(locations.isEmpty)
  }

  @Test(
    "have a content without their end",
    arguments: [
      ("a\r\n", "a"), ("a\n", "a"), ("a\r", "a\r"), ("\r\n", ""), ("\n", ""), ("a\r\r\n", "a\r"),
    ])
  func content(text: String, expected: String) async throws {
    let playground = try Playground()
    let path = try playground.file("file", text)
    let line = try await Scan.lines([path], Ledger(playground.console)).head()
    #expect(line?.quote.excerpt.text == expected)
  }

  @Test("are read when they are demanded, and no sooner")
  func laziness() async throws {
    let playground = try Playground()
    let path = try playground.file("file", String(repeating: "line\n", count: 100_000))
    let ledger = Ledger(playground.console)
    let lines = Scan.lines([path, playground.path + "/missing"], ledger)
    #expect(ledger.files.load(ordering: .relaxed) == 0)
    _ = try await lines.element(at: 2)
    #expect(ledger.linesProduced.load(ordering: .relaxed) == 3)
    #expect(ledger.bytesRead.load(ordering: .relaxed) == 65_536)
    #expect(ledger.failures.load(ordering: .relaxed) == 0)
  }

  @Test("are cut short between characters when they are remembered")
  func excerpts() {
    for prefix in 0..<4 {
      let text = String(repeating: "a", count: prefix) + String(repeating: "🙂", count: 2000)
      let excerpt = Array(text.utf8).withUnsafeBufferPointer { Excerpt($0).text }
      #expect(!excerpt.contains("\u{FFFD}"))
      #expect(excerpt.hasSuffix("🙂…"))
      #expect(excerpt.utf8.count <= Excerpt.limit + "…".utf8.count)
    }
  }
}
