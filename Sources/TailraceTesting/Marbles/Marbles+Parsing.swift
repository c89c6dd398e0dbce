extension Marbles {
  /// The error in a text that is not a line of marbles.
  ///
  /// ```
  /// expected an element, '-', '(', '|' or '#' at position 3, found '?'
  /// a-b?-|
  ///    ^
  /// ```
  public struct ParsingError: Error, Hashable, CustomStringConvertible {
    /// The whole text.
    public let text: String
    /// The position in the text, counted in characters from 0.
    public let position: Int
    /// The characters that would be valid there.
    public let expected: String
    /// The character there, `nil` at the end of the text.
    public let found: Character?

    /// The expectation, with a mark under the position.
    public var description: String {
      let found = found.map { "'\($0)'" } ?? "the end of the text"
      return """
        expected \(expected) at position \(position), found \(found)
        \(text)
        \(String(repeating: " ", count: position))^
        """
    }
  }

  /// Creates a line from its text.
  ///
  /// ```swift
  /// let line = try Marbles(parsing: "a-(bc)-|")
  /// line.ticks.count    // 5
  /// line.description    // "a-(bc)-|"
  /// ```
  public init(parsing text: String) throws(ParsingError) {
    var parser = MarbleParser(text)
    self.init(try parser.line())
  }
}

/// Reads the notation from left to right, one character at a time.
private struct MarbleParser {
  private let text: String
  private let characters: [Character]
  private var position = 0

  init(_ text: String) {
    self.text = text
    characters = Array(text)
  }

  private var next: Character? { position < characters.count ? characters[position] : nil }

  mutating func line() throws(Marbles.ParsingError) -> [[Marbles.Marble]] {
    var ticks: [[Marbles.Marble]] = []
    while true {
      skipSpaces()
      let hasEnded = ticks.last?.last?.isEnding == true
      switch next {
      case nil: return ticks
      case _ where hasEnded: throw error("nothing after the ending")
      case "-":
        position += 1
        ticks.append([])
      case "(": ticks.append(try group())
      default: ticks.append([try marble(or: "'-', '(', '|' or '#'")])
      }
    }
  }

  private mutating func group() throws(Marbles.ParsingError) -> [Marbles.Marble] {
    position += 1
    var marbles: [Marbles.Marble] = []
    while true {
      skipSpaces()
      if next == ")", !marbles.isEmpty { break }
      if marbles.last?.isEnding == true { throw error("')'") }
      marbles.append(try marble(or: marbles.isEmpty ? "'|' or '#'" : "'|', '#' or ')'"))
    }
    position += 1
    return marbles
  }

  private mutating func marble(or others: String) throws(Marbles.ParsingError) -> Marbles.Marble {
    switch next {
    case "|":
      position += 1
      return .completed
    case "#":
      position += 1
      return .failure
    case "'": return .element(try quoted())
    case let name? where name.isLetter || name.isNumber:
      position += 1
      return .element(String(name))
    default: throw error("an element, \(others)")
    }
  }

  private mutating func quoted() throws(Marbles.ParsingError) -> String {
    position += 1
    var name = ""
    while next != "'" {
      guard let character = next else { throw error("a closing quote") }
      position += 1
      if character == "\\" { name += try escaped() } else { name.append(character) }
    }
    position += 1
    return name
  }

  private mutating func escaped() throws(Marbles.ParsingError) -> String {
    switch next {
    case "'", "\\":
      defer { position += 1 }
      return String(characters[position])
    case "u":
      position += 1
      let end = characters[position...].firstIndex(of: "}") ?? position
      guard next == "{",
        let value = UInt32(String(characters[position..<end].dropFirst()), radix: 16),
        let scalar = Unicode.Scalar(value)
      else { throw error("the number of a character in braces") }
      position = end + 1
      return String(scalar)
    default: throw error("a quote, a backslash or 'u' after the backslash")
    }
  }

  private mutating func skipSpaces() {
    while next == " " { position += 1 }
  }

  private func error(_ expected: String) -> Marbles.ParsingError {
    Marbles.ParsingError(text: text, position: position, expected: expected, found: next)
  }
}
