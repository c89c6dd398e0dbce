import Tailrace
import TailraceTesting
import Testing

@Suite("Lines of chunks of bytes", .inTurn)
struct LinesTests {
  private func chunks(_ texts: [String]) -> LazyList<[UInt8], Never> {
    LazyList(texts.map { Array($0.utf8) })
  }

  @Test(
    "cut where the lines end, and not where the chunks do",
    arguments: [
      (["one\ntw", "o\r\nthree"], ["one", "two", "three"]),
      (["a\r", "\nb\r", "c\n"], ["a", "b\rc"]),
      (["\n\n", "", "\r\n", "x"], ["", "", "", "x"]),
      ([], []),
      ([""], []),
      (["\n"], [""]),
      (["end\n"], ["end"]),
      (["\u{FEFF}one\n\u{FEFF}two"], ["one", "\u{FEFF}two"]),
      (["\u{FEFF}"], []),
      (["\u{FEFF}\n"], [""]),
    ] as [([String], [String])])
  func cut(_ texts: [String], _ lines: [String]) async {
    #expect(await chunks(texts).lines.array() == lines)
    #expect(await chunks(texts).map { $0[...] }.lines.array() == lines)
  }

  @Test("a character may be in two chunks; invalid bytes are replaced")
  func characters() async {
    let bytes = Array("é\n".utf8)
    let split: LazyList<[UInt8], Never> = [[bytes[0]], [bytes[1], bytes[2]], [0xFF]]
    #expect(await split.lines.array() == ["é", "\u{FFFD}"])
  }

  @Test("a chunk is read when a line needs it; a failure comes behind the lines")
  func lazily() async throws {
    let pulls = Probe<Int>()
    let texts = ["a\nb\nc", "d\n", "e"]
    let list = LazyList(0..<4).map { (number: Int) throws -> [UInt8] in
      pulls.record(number)
      guard number < 3 else { throw Mishap(position: 3) }
      return Array(texts[number].utf8)
    }.lines
    #expect(try await list.element(at: 1) == "b")
    #expect(pulls.values == [0])
    #expect(try await list.element(at: 2) == "cd")
    #expect(pulls.values == [0, 1])
    await #expect(throws: Mishap.self) { try await list.array() }
    #expect(list.evaluatedPrefix == ["a", "b", "cd"])
  }
}
