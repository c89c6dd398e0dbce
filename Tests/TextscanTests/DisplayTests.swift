import Testing

@testable import textscan

@Suite("Displayed numbers and texts")
struct DisplayTests {
  @Test(
    "has groups of digits",
    arguments: [
      (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000"),
    ])
  func grouped(number: Int, expected: String) { #expect(number.grouped == expected) }

  @Test(
    "has as many digits behind the point as asked for",
    arguments: [
      (1234.567, 0, "1,235"), (0.05, 1, "0.1"), (2.0, 2, "2.00"), (1.999, 2, "2.00"),
    ])
  func rounded(number: Double, digits: Int, expected: String) {
    #expect(number.rounded(to: digits) == expected)
  }

  @Test(
    "has nothing that a terminal obeys",
    arguments: [
      ("tab\tand ä", "tab\tand ä"), ("\u{1B}[2J", "\\u{1B}[2J"), ("a\nb", "a\\u{A}b"),
      ("\u{202E}x", "\\u{202E}x"),
    ])
  func displayable(text: String, expected: String) { #expect(text.displayable == expected) }

  @Test("is short enough for a row")
  func shortened() {
    #expect(String(repeating: "ä", count: 120).shortened.count == 120)
    #expect(String(repeating: "ä", count: 121).shortened.count == 121)
    #expect(String(repeating: "ä", count: 500).shortened.hasSuffix("ä…"))
  }
}
