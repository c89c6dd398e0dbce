import Synchronization
import Tailrace
import Testing

/// The lines that were printed and not yet looked at.
let printed = Mutex<[String]>([])

/// In the blocks, this is `print`.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  let text = items.map { "\($0)" }.joined(separator: separator)
  printed.withLock { $0 += text.split(separator: "\n").map(String.init) }
}

/// Records an issue unless these are the lines that were printed since the last look.
func itSays(_ lines: [String], filePath: String = #filePath, line: Int = #line) {
  let actual = printed.withLock { printed in
    defer { printed = [] }
    return printed
  }
  let expected = lines == ["prints nothing"] ? [] : lines
  guard actual != expected else { return }
  let file = filePath.split(separator: "/").last ?? ""
  Issue.record(
    "it says \(expected), and printed \(actual)",
    sourceLocation: SourceLocation(
      fileID: "SnippetTests/\(file)", filePath: filePath, line: line, column: 1))
}

func itSaysNoMore(filePath: String = #filePath, line: Int = #line) {
  itSays([], filePath: filePath, line: line)
}

/// A value beside its comment, or above it. An expression without a value shows none, and a comment
/// beside it is for the reader.
func itShows<Value>(
  _ value: Value, _ lines: [String], filePath: String = #filePath, line: Int = #line
) {
  if value is Void || value is ScheduledWork || value is Task<Void, Never> { return }
  printed.withLock { $0.append(text(of: value)) }
  if !lines.isEmpty { itSays(lines, filePath: filePath, line: line) }
}

private func text(of value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  if mirror.displayStyle == .optional {
    return mirror.children.first.map { text(of: $0.value) } ?? "nil"
  }
  let words =
    value is String || value is Character
    ? String(reflecting: value) : String(describing: value)
  // Cases are written as in code: without the type that they are of.
  return words.replacing(/Tailrace\w*\.\w+(<[^<>]*>)?(\.\w+)*\.(?=[a-z])/, with: ".")
}

/// An expression beside a comment that says what it throws.
func itThrows(_ body: () async throws -> Void) async {
  do {
    try await body()
    print("nothing was thrown")
  } catch {
    print("throws: \("\(error)".split(separator: "; ")[0])")
  }
}

func keep<Value>(_ value: Value) {}
