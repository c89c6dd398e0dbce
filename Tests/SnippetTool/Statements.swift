/// A line of a block: its code, and the comment after it.
struct Line {
  let code: String
  let comment: String?

  init(_ text: String) {
    var isString = false
    var previous: Character = " "
    var index = text.startIndex
    while index < text.endIndex {
      let character = text[index]
      if character == "\"", previous != "\\" { isString.toggle() }
      if !isString, text[index...].hasPrefix("//") {
        code = String(text[..<index]).trimmedEnd
        comment = String(text[index...].dropFirst(text[index...].hasPrefix("// ") ? 3 : 2))
        return
      }
      previous = character
      index = text.index(after: index)
    }
    (code, comment) = (text.trimmedEnd, nil)
  }

  /// Lines that are indented, and brackets that close, belong to the statement before.
  var beginsStatement: Bool { code.first.map { !" })]".contains($0) } ?? false }
}

extension Block {
  /// The code that runs the block and looks at what it prints: as many lines as the block has.
  var checked: [String] {
    let lines = lines.map(Line.init)
    var result = lines.map(\.code)
    var start = 0
    for (index, line) in lines.enumerated() where !line.code.isEmpty {
      if line.beginsStatement { start = index }
      let isLast = lines[(index + 1)...].first { !$0.code.isEmpty }?.beginsStatement ?? true
      var below: [String] = []
      if isLast {
        below = lines[(index + 1)...].prefix { $0.code.isEmpty && $0.comment != nil }
          .compactMap(\.comment)
        // Comments that document the next thing are its own.
        if below.contains(where: { $0.hasPrefix("/") }) { below = [] }
      }
      let isPrint = line.code.trimmed(of: " ").hasPrefix("print(")
      let isValue = isLast && lines[start].isExpression && !lines[start].code.hasPrefix("print(")
      if isValue, ([line.comment ?? ""] + below).contains(where: { $0.hasPrefix("throws: ") }) {
        result[start] = "await itThrows { try await keep(" + result[start]
        result[index] += ") }" + (line.comment.map { "; itSays(\([$0].literals))" } ?? "")
      } else if isValue, line.comment != nil || !below.isEmpty {
        result[start] = "itShows(" + result[start]
        result[index] += ", \((line.comment.map { [$0] } ?? []).literals))"
      } else if let comment = line.comment, isPrint || comment.hasPrefix("prints nothing") {
        result[index] += "; itSays(\([comment].literals))"
      }
      if !below.isEmpty { result[index + below.count] = "itSays(\(below.literals))" }
    }
    return result.map { line in
      if line.hasPrefix("import ") { return "" }
      // A function in a function is not `@Sendable` by itself.
      return line.hasPrefix("func ") ? "@Sendable " + line : line
    }
  }
}

extension Line {
  /// Whether the statement that begins here is an expression, and not `print`.
  var isExpression: Bool {
    let first = code.prefix { $0.isLetter || $0 == "_" || $0 == "#" || $0 == "@" }
    guard !Self.keywords.contains(String(first)), !code.hasPrefix("#"), !code.hasPrefix("@") else {
      return false
    }
    var depth = 0
    let characters = Array(code)
    for (index, character) in characters.enumerated() {
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      guard depth == 0, character == "=", index > 0, index + 1 < characters.count else { continue }
      if characters[index + 1] == " ", " +-*/".contains(characters[index - 1]) { return false }
    }
    return true
  }

  private static let keywords: Set = [
    "let", "var", "func", "struct", "class", "actor", "enum", "protocol", "typealias", "import",
    "for", "while", "repeat", "if", "switch", "do", "guard", "defer", "return", "throw", "async",
    "final", "private", "public", "nonisolated", "extension", "_",
  ]
}

extension String {
  var trimmedEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
  var literal: String {
    // The text after a semicolon is for the reader.
    let text = split(separator: "; ", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
    return "#\"" + text + "\"#"
  }
}

extension [String] {
  var literals: String { "[" + map(\.literal).joined(separator: ", ") + "]" }
}
