import Foundation
import Testing

/// An operator is declared in one place and known in some others: its law rows, the table of the symbols,
/// the guide for who comes from ReactiveObjC. This suite reads the declarations, and names each place that
/// lacks one. The tables of *Laziness* are made from the declarations (`Sources/marbles`).
@Suite("Every operator is in each of its places", .inTurn)
struct PlacesTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardizedFileURL
  private static let articles = "Sources/Tailrace/Tailrace.docc"

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: package.appending(path: path), encoding: .utf8)
  }

  private static func sources(in folder: String) throws -> [String] {
    let files = FileManager.default.enumerator(atPath: package.appending(path: folder).path)
    return try (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }
      .map { try text("\(folder)/\($0)") }
  }

  @Test(
    "law rows, the table of the symbols",
    arguments: ["Operators", "Concurrency"])
  func operators(_ folder: String) throws {
    let places = try Places()
    var count = 0
    for source in try Self.sources(in: "Sources/TailraceLists/\(folder)") {
      for found in Operator.all(in: source) {
        count += 1
        for missing in places.missing(found) { Issue.record("\(missing)") }
      }
    }
    #expect(count > 5, "operators are found at all")
  }

  @Test("the operator of the guide for contributors is in none: each place is named")
  func forgotten() throws {
    let guide = try Self.text("CONTRIBUTING.md")
    let block = /(?s)```swift\nextension LazyList \{\n(.*?)\n\}\n```/
    let example = try #require(guide.firstMatch(of: block))
    let places = try Places()
    let missing = Operator.all(in: String(example.1)).flatMap { places.missing($0) }
    let law = "Tests/TailraceTests/Laws/Rows.swift has no row for"
    #expect(
      Set(missing) == [
        "\(law) `throughFirst, plain`", "\(law) `throughFirst, throwing`",
        "\(law) `throughFirst, async`", "\(law) `throughFirst, async throwing`",
        "\(Self.articles)/Symbols/LazyList.md has no line for `throughFirst`",
      ])
  }

  @Test("ReactiveObjC's names that something replaces are in the guide")
  func replaced() throws {
    let guide = try Self.text("\(Self.articles)/ComingFromReactiveObjC.md")
    var count = 0
    for source in try Self.sources(in: "Sources") {
      for sentence in source.matches(of: /\/\/\/ Replaces (?<names>`[^.]*)\./) {
        for name in sentence.names.matches(of: /`(?:[-+]\[?)?(?:\w+ )?(?<name>[\w:]+)\]?`/) {
          count += 1
          #expect(guide.contains(name.name), "the guide has no row for `\(name.name)`")
        }
      }
    }
    #expect(count > 20, "names are found at all")
  }

  /// A declaration: one kind of closure of an operator.
  struct Operator {
    let name: String
    /// Whether it has documentation of its own, beside that of another kind.
    let isDocumented: Bool
    let givesList: Bool
    /// `nil` without a closure, or with one whose failure has a type.
    let kind: String?

    static func all(in source: String) -> [Operator] {
      let declaration =
        #/
        (?<doc>(?:^\x20*\/\/\/.*\n)*)(?:^\x20*@.*\n)*
        ^\x20\x20public\x20(?:(?:consuming|static)\x20)*(?:func|var)\x20
        `?(?<name>\w+)`?(?<rest>(?:.|\n)*?)\{\n
        /#.anchorsMatchLineEndings()
      return source.matches(of: declaration).compactMap { match in
        let rest = String(match.rest).replacing(/\s+/, with: " ")
        guard !match.output.0.contains("deprecated") else { return nil }
        let closure = rest.firstMatch(of: /@Sendable \([^)]*\) (?<effects>[a-z ]*)(?<typed>\(E)?/)
        let effects = closure.map { $0.effects.trimmingCharacters(in: .whitespaces) }
        let kinds = [
          "": "plain", "throws": "throwing", "async": "async", "async throws": "async throwing",
        ]
        return Operator(
          name: String(match.name),
          isDocumented: match.doc.contains("- Laziness: "),
          givesList: rest.contains(/(?:->|:) LazyList\b/),
          kind: closure?.typed == nil ? effects.flatMap { kinds[$0] } : nil)
      }
    }
  }

  /// What the places say.
  private struct Places {
    let rows = Row.all.map(\.name)
    let symbols: String

    init() throws {
      symbols = try text("\(articles)/Symbols/LazyList.md")
    }

    func missing(_ found: Operator) -> [String] {
      let name = found.name
      var missing: [String] = []
      if found.givesList {
        let wanted = found.kind.map { "\(name), \($0)" } ?? name
        let isThere = rows.contains { row in
          row.hasPrefix(name) && found.kind.map { row.hasSuffix(", \($0)") } != false
        }
        if !isThere {
          missing.append("Tests/TailraceTests/Laws/Rows.swift has no row for `\(wanted)`")
        }
      }
      if found.isDocumented, !symbols.contains("``\(name)(") && !symbols.contains("``\(name)``") {
        missing.append("\(articles)/Symbols/LazyList.md has no line for `\(name)`")
      }
      return missing
    }
  }
}
