import Foundation
import TailraceTesting
import Testing

@Suite("Snippets of the documentation", .serialized)
struct SnippetTests {
  @Test("a block prints what it says", .timeLimit(.minutes(15)), arguments: articles + symbols)
  func run(_ snippet: Snippet) async throws {
    try await Page.begin { try await snippet.run() }
  }

  @Test("what a block's task prints after its end is not the next block's")
  func late() async {
    let gate = Gate()
    var task = Task {}
    await Page.begin {
      task = Task {
        await gate.wait()
        print("late")
      }
    }
    await Page.begin {
      gate.open()
      await task.value
      print("own")
      itSays(["own"])
    }
  }

  @Test("a block that prints something else fails")
  func wrong() async {
    await Page.begin {
      print(1)
      withKnownIssue { itSays(["2"]) }
      print("1", 2)
      itSays(["1 2"])
      withKnownIssue { itShows(7, ["8"]) }
      withKnownIssue { itSays(["3"]) }
      itSays(["prints nothing"])
    }
  }

  @Test("no block is lost, and few are not run")
  func counts() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let sources = FileManager.default.enumerator(
      at: package.appending(path: "Sources"), includingPropertiesForKeys: nil)
    let fences = try (sources?.compactMap { $0 as? URL } ?? [])
      .filter {
        $0.path.contains("Sources/Tailrace") && ["md", "swift"].contains($0.pathExtension)
      }
      .appending(["README.md", "Benchmarks/README.md"].map { package.appending(path: $0) })
      .reduce(0) { count, url in
        try count
          + String(contentsOf: url, encoding: .utf8)
          .split(separator: "\n").count { $0.drop { " /".contains($0) } == "```swift" }
      }
    let counts = [articlesCounts, symbolsCounts]
    let (blocks, run) = (counts.reduce(0) { $0 + $1.blocks }, counts.reduce(0) { $0 + $1.run })
    #expect(blocks == fences)
    #expect(Double(run) > 0.9 * Double(blocks), "\(run) of \(blocks) are run")
    Swift.print("snippets: \(articlesCounts) in articles, \(symbolsCounts) in symbols")
  }
}

extension Array {
  fileprivate func appending(_ others: [Element]) -> [Element] { self + others }
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
