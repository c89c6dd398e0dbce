/// A Markdown file, or the documentation comments of a Swift file, and the Swift blocks in it.
struct Document {
  let path: String
  let name: String
  private(set) var blocks: [Block] = []

  /// The name without its ending, as an identifier; a README's is that of its folder.
  var key: String {
    let parts = name.split(separator: "/")
    let file = parts.last?.prefix { $0 != "." } ?? ""
    let word = file == "README" && parts.count > 1 ? parts[parts.count - 2] : file
    return String(word.filter { $0.isLetter || $0.isNumber })
  }

  init(path: String, name: String, text: String) {
    (self.path, self.name) = (path, name)
    let isMarkdown = name.hasSuffix(".md")
    var remark = ""
    var fence: Fence?

    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      guard let line = isMarkdown ? line : Self.documentation(line) else {
        (fence, remark) = (nil, "")
        continue
      }
      let word = line.drop { $0 == " " }
      if var open = fence {
        guard !word.hasPrefix("```") else {
          close(open)
          (fence, remark) = (nil, "")
          continue
        }
        open.lines.append(String(line.dropFirst(min(open.indent, line.count - word.count))))
        fence = open
      } else if word.hasPrefix("```") {
        fence = Fence(
          language: String(word.dropFirst(3)), indent: line.count - word.count, remark: remark,
          line: index + 2)
      } else if word.hasPrefix("<!--") {
        remark = String(word.dropFirst(4).prefix { $0 != ">" }).trimmed(of: " -")
      } else if !word.isEmpty {
        (remark, mayHaveOutput) = ("", false)
      }
    }
  }

  /// Whether a block without a language would be what the last one prints.
  private var mayHaveOutput = false

  private mutating func close(_ fence: Fence) {
    if fence.language == "swift" {
      blocks.append(Block(line: fence.line, lines: fence.lines, remark: fence.remark))
      mayHaveOutput = true
    } else if fence.language.isEmpty, mayHaveOutput {
      blocks[blocks.count - 1].output = fence.lines
      mayHaveOutput = false
    }
  }

  private struct Fence {
    let language: String
    let indent: Int
    let remark: String
    let line: Int
    var lines: [String] = []
  }

  /// The text of a line of a documentation comment; `nil` if the line is none.
  private static func documentation(_ line: Substring) -> Substring? {
    let line = line.drop { $0 == " " }
    guard line.hasPrefix("///") else { return nil }
    return line.hasPrefix("/// ") ? line.dropFirst(4) : line.dropFirst(3)
  }
}

/// A Swift block.
struct Block {
  let line: Int
  let lines: [String]
  /// The text of the comment before it; empty without one.
  let remark: String
  /// The block after it, if that has no language.
  var output: [String]?

  var isCompiled: Bool { !remark.hasPrefix("not compiled") }
  var isRun: Bool { isCompiled && !remark.hasPrefix("not run") }
  /// Whether it sees what the block before it has declared.
  var continues: Bool { remark.hasPrefix("continues") }
  /// Whether it uses what the oldest of the package's other platforms do not have.
  var isForLinux: Bool { remark.contains("only on Linux") }
  /// Whether it declares what no function can.
  var isGlobal: Bool { lines.contains { $0.hasPrefix("extension ") } }
}

extension StringProtocol {
  func trimmed(of characters: String) -> String {
    String(drop { characters.contains($0) }.reversed().drop { characters.contains($0) }.reversed())
  }
}
