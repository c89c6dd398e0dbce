import TailraceTesting
import Testing

@Suite("Marbles: lines as text", .hangLimit, .inTurn)
struct MarbleNotationTests {
  @Test(
    "a line is printed as it was parsed",
    arguments: [
      "", "-", "a", "|", "#", "a-b-|", "--1-2-#", "(ab)", "a-(bc|)", "(1#)", "a--", "ж-é-7|",
      "'10'-'(1, 2)'-|", #"'it\'s'-'\\'|"#, "''", "' '", "'-'('|''#')", "a-('10'b)--",
    ])
  func roundTrip(_ text: String) throws {
    let line = try Marbles(parsing: text)
    #expect(line.description == text)
    #expect(try Marbles(parsing: line.description) == line)
  }

  @Test(
    "a line that is printed in another form is the same line",
    arguments: [
      (" a - b | ", "a-b|"), ("( a b )-", "(ab)-"), ("(a)", "a"), ("(|)", "|"), ("'a'", "a"),
      (#"'\u{61}'"#, "a"),
    ])
  func canonical(_ text: String, _ printed: String) throws {
    #expect(try Marbles(parsing: text).description == printed)
    #expect(try Marbles(parsing: text) == Marbles(parsing: printed))
  }

  @Test("a printed line is parsed as the same line", arguments: 0..<200)
  func anyLine(_ seed: Int) throws {
    // Names that melt with what stands next to them, and signs of the notation.
    let names = [
      "a", "7", "10", "", " ", "'", "\\", "|", "#", "-", "(", ")", "\u{301}", "e\u{301}", "\n",
      "\r\n",
      "\u{1100}", "\u{1161}", "가", "\u{11A8}", "🇩", "👩\u{200D}", "\u{200D}", "क\u{94D}", "ष",
      "\\u{61}",
    ]
    var generator = SeededGenerator(seed: UInt64(seed))
    var ticks = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
      (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        Marbles.Marble.element(names.randomElement(using: &generator) ?? "")
      }
    }
    switch Int.random(in: 0...2, using: &generator) {
    case 0: ticks.append([.completed])
    case 1: ticks.append([.element("a"), .failure])
    default: break
    }
    let line = Marbles(ticks)
    #expect(try Marbles(parsing: line.description) == line)
    #expect(line.description.split(whereSeparator: \.isNewline).count <= 1)
  }

  @Test(
    "ticks",
    arguments: [
      ("a-b", [[.element("a")], [], [.element("b")]]),
      ("(ab)|", [[.element("a"), .element("b")], [.completed]]),
      ("'ab'#", [[.element("ab")], [.failure]]),
      ("a(b|)", [[.element("a")], [.element("b"), .completed]]),
    ] as [(Marbles, [[Marbles.Marble]])])
  func ticks(_ line: Marbles, _ ticks: [[Marbles.Marble]]) {
    #expect(line.ticks == ticks)
    #expect(line == Marbles(ticks))
  }

  @Test(
    "a text that is no line",
    arguments: [
      ("a-?", 2, "an element, '-', '(', '|' or '#'", "?"),
      ("^", 0, "an element, '-', '(', '|' or '#'", "^"),
      ("a)", 1, "an element, '-', '(', '|' or '#'", ")"),
      ("a\n", 1, "an element, '-', '(', '|' or '#'", "\n"),
      ("()", 1, "an element, '|' or '#'", ")"),
      ("(a-", 2, "an element, '|', '#' or ')'", "-"),
      ("(a(", 2, "an element, '|', '#' or ')'", "("),
      ("(a", 2, "an element, '|', '#' or ')'", nil),
      ("(a|b)", 3, "')'", "b"),
      ("a|-", 2, "nothing after the ending", "-"),
      ("a-#  |", 5, "nothing after the ending", "|"),
      ("(a|)b", 4, "nothing after the ending", "b"),
      ("a-'10", 5, "a closing quote", nil),
      (#"'\n'"#, 2, "a quote, a backslash or 'u' after the backslash", "n"),
      (#"'\u{}'"#, 3, "the number of a character in braces", "{"),
      (#"'\u{D800}'"#, 3, "the number of a character in braces", "{"),
      (#"'\u"#, 3, "the number of a character in braces", nil),
    ] as [(String, Int, String, Character?)])
  func errors(_ text: String, _ position: Int, _ expected: String, _ found: Character?) {
    let error = #expect(throws: Marbles.ParsingError.self) { try Marbles(parsing: text) }
    #expect(error?.text == text)
    #expect(error?.position == position)
    #expect(error?.expected == expected)
    #expect(error?.found == found)
  }

  @Test("an error points at its place")
  func place() {
    let error = #expect(throws: Marbles.ParsingError.self) { try Marbles(parsing: "a-b?-|") }
    #expect(
      error?.description == """
        expected an element, '-', '(', '|' or '#' at position 3, found '?'
        a-b?-|
           ^
        """)
  }

  @Test("a difference has both lines, one under the other, with the same tick in the same column")
  func difference() {
    #expect(Marbles("a-b|").difference(from: "a-b|") == nil)
    let lines: [(Marbles, Marbles, Int, String)] = [
      (
        "a-b-|", "a--b|", 2,
        """
        expected  a-b-|
        recorded  a--b|
                    ^ tick 2
        """
      ),
      (
        "a(bc)-|", "a-'100'-#", 1,
        """
        expected  a(bc)-    |
        recorded  a-   '100'-#
                   ^ tick 1
        """
      ),
      (
        "a-b", "a-b--", 3,
        """
        expected  a-b
        recorded  a-b--
                     ^ tick 3
        """
      ),
      (
        "a", "", 0,
        """
        expected  a
        recorded
                  ^ tick 0
        """
      ),
    ]
    for (expected, recorded, tick, text) in lines {
      let difference = recorded.difference(from: expected)
      #expect(difference?.tick == tick)
      #expect(difference?.description == text)
    }
  }

  @Test("mistakes trap")
  func mistakes() async {
    await #expect(processExitsWith: .failure) { _ = "a-?" as Marbles }
    await #expect(processExitsWith: .failure) { _ = Marbles([[.completed], []]) }
    await #expect(processExitsWith: .failure) { _ = Marbles([[.failure, .element("a")]]) }
  }
}
