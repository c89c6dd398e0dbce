import Testing

@Suite("Snippets of the documentation", .serialized)
struct SnippetTests {
  @Test("a block prints what it says", .timeLimit(.minutes(1)), arguments: articles + symbols)
  func run(_ snippet: Snippet) async throws {
    printed.withLock { $0 = [] }
    try await snippet.run()
  }
}

/// Blocks of a document that are one function.
struct Snippet: CustomTestStringConvertible, Sendable {
  let document: String
  let lines: [Int]
  let run: @Sendable () async throws -> Void

  init(
    _ document: String, _ lines: [Int], run: @escaping @Sendable () async throws -> Void
  ) {
    (self.document, self.lines, self.run) = (document, lines, run)
  }

  var testDescription: String { "\(document):\(lines[0])" }
}
