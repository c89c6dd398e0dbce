import Foundation
import Testing

/// Examples use functions that they do not contain. What such a function prints or throws, a comment
/// of the example claims; so the article shows the function, with the same text.
@Suite("Functions that examples are given")
struct GivenTests {
  private static let given = "Tests/SnippetTests/Given/"

  @Test(
    "one that prints or throws, or has a name that an article shows, has an article's text",
    arguments: ["Articles", "Common"])
  func shown(_ name: String) throws {
    let shown = try Self.functions(
      in: Documents.articles().map(Documents.text)
        .flatMap { Documents.blocks(in: "swift", of: $0) }.joined(separator: "\n"))
    let names = Set(shown.map(Self.name))
    let hidden = try Self.functions(in: Documents.text("\(Self.given)\(name).swift"))
      .filter { function in
        // One of a line only gives a value.
        function.contains { $0.contains("print(") || $0.contains("throw ") }
          || function.count > 1 && names.contains(Self.name(function))
      }
    for function in hidden {
      #expect(
        shown.contains(function), "no article has this text:\n\(function.joined(separator: "\n"))")
    }
    #expect(!hidden.isEmpty)
  }

  private static func name(_ function: [String]) -> Substring {
    function[0].prefix { $0 != ":" }
  }

  @Test("a function with another text is noticed")
  func other() {
    let one = Self.functions(in: "  func load() {\n    print(1)\n  }\n")
    #expect(one == [["func load() {", "print(1)", "}"]])
    #expect(one != Self.functions(in: "func load() {\n  print(2)\n}"))
  }

  @Test("the list of the articles is that of the first one")
  func orders() throws {
    let article = Self.lines(try Documents.text("Sources/Tailrace/Tailrace.docc/Tailrace.md"))
    let start = try #require(article.firstIndex(of: "let pages = LazyList(state: 1) { number in"))
    let given = Self.lines(try Documents.text("\(Self.given)Common.swift"))
    let same = try #require(given.firstIndex(of: article[start]))
    #expect(
      article[start..<(start + 4)].elementsEqual(
        given[same..<(same + 4)].map { $0.replacing("api.", with: "") }))
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The functions of a text, each as its lines without their indentation.
  static func functions(in text: String) -> [[String]] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.compactMap { start in
      let indent = lines[start].prefix { $0 == " " }
      guard lines[start].dropFirst(indent.count).hasPrefix("func ") else { return nil }
      let isOneLine = lines[start].hasSuffix("}")
      let end = isOneLine ? start : lines[start...].firstIndex { $0 == indent + "}" }
      return end.map { end in
        lines[start...end].map { $0.trimmingCharacters(in: .whitespaces) }
      }
    }
  }
}

/// Some blocks are also elsewhere: those that need another package where that package is, and code that a
/// test tries further.
@Suite("Examples that are elsewhere, too")
struct NeighbourTests {
  @Test("the recipes with swift-async-algorithms are those that Benchmarks compiles")
  func recipes() throws {
    let compiled = try Documents.text("Benchmarks/Sources/Neighbours/Recipes.swift")
      .components(separatedBy: "// begin\n").dropFirst()
      .map { Self.code($0.components(separatedBy: "// end\n")[0]) }
    let shown = try Documents.blocks(
      in: "swift", of: Documents.text("Sources/Tailrace/Tailrace.docc/RecipesForStreams.md")
    )
    .filter { $0.hasPrefix("import AsyncAlgorithms\n") }
    .map { Self.code(String($0.dropFirst("import AsyncAlgorithms\n".count))) }
    #expect(!shown.isEmpty)
    #expect(Set(shown) == Set(compiled))
  }

  @Test("the limit for a whole program is the one that is tested")
  func limit() throws {
    let article = "Sources/Tailrace/Tailrace.docc/ConcurrencyLimits.md"
    let shown = try #require(
      Documents.blocks(in: "swift", of: Documents.text(article))
        .first { $0.contains("struct RequestLimit") })
    let type = Self.code(shown.components(separatedBy: "\n}\n")[0])
    let tested = Self.code(try Documents.text("Tests/TailraceTests/Recipes/RecipeTests.swift"))
    let start = try #require(tested.firstIndex { $0 == type[0] })
    #expect(Array(tested[start...].prefix(type.count)) == type)
  }

  @Test("the first test of a whole process is the file that is run")
  func wholeProcess() throws {
    let folder = "Sources/TailraceTestingProcess/TailraceTestingProcess.docc/"
    let shown = try Documents.blocks(
      in: "swift", of: Documents.text(folder + "TailraceTestingProcess.md")
    )[0]
    let compiled = try Documents.text("Tests/ProcessTests/SearchTests.swift")
    #expect(Self.code(shown) == Self.code(compiled))
  }

  /// Without indentation, empty lines, and spaces before comments.
  private static func code(_ text: String) -> [String] {
    text.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces).replacing(/\s+\/\//, with: " //")
    }
    .filter { !$0.isEmpty }
  }
}
