import Synchronization
import Tailrace
import Testing

/// The lines that a block has printed, and that were not looked at yet.
///
/// A task that a block leaves behind prints into the block's own page, also if the next block runs by then. A
/// queue's closure has no task-local values, and prints into the page of the block that runs.
final class Page: Sendable {
  @TaskLocal private static var own: Page?
  private static let latest = Mutex(Page())

  private let lines = Mutex<[String]>([])

  static var current: Page { own ?? latest.withLock { $0 } }

  /// Runs a block with an empty page.
  static func begin(_ block: () async throws -> Void) async rethrows {
    let page = Page()
    latest.withLock { $0 = page }
    try await $own.withValue(page) { try await block() }
  }

  func append(_ new: [String]) { lines.withLock { $0 += new } }

  func takeLines() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

/// In the blocks, this is `print`.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
  let text = items.map { "\($0)" }.joined(separator: separator)
  Page.current.append(text.split(separator: "\n").map(String.init))
}

/// Records an issue unless these are the lines that were printed since the last look.
func itSays(_ lines: [String], filePath: String = #filePath, line: Int = #line) {
  let actual = Page.current.takeLines()
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
  Page.current.append([text(of: value)])
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
