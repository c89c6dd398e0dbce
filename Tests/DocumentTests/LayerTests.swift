import Foundation
import Testing

/// What lies in one folder of a module uses nothing of those above it.
@Suite("The layers of the sources")
struct LayerTests {
  private static let module = "Sources/TailraceLists/"

  @Test(
    "the engine names no type of the lists that are built on it",
    arguments: Documents.files(below: module + "Engine", ending: ".swift"))
  func engine(_ path: String) throws {
    let words = Set(try Self.code(path).matches(of: /\b[A-Z]\w+/).map { String($0.output) })
    #expect(words.intersection(Self.above) == [], "\(path)")
  }

  @Test("names in comments and strings do not count, and those in code do")
  func counted() {
    let text = "let a = B() // C\n/// D\nlet e = \"F \\(G)\"\n"
    #expect(Self.code(in: text) == "let a = B() \n\nlet e = \n")
    #expect(Self.above.contains("LazyList") && !Self.above.contains("Segment"))
  }

  /// The types that are declared in the module, and not in the engine. Nested ones, which are indented,
  /// may have the name of another.
  private static let above: Set<String> = {
    let files = Documents.files(below: module, ending: ".swift").filter { !$0.contains("/Engine/") }
    var names: Set<String> = []
    for path in files {
      let pattern = /^(?:\S+ )*(?:struct|class|enum|actor|protocol|typealias) (?<name>[A-Z_]\w+)/
        .anchorsMatchLineEndings()
      for type in (try? code(path))?.matches(of: pattern) ?? [] { names.insert(String(type.name)) }
    }
    return names
  }()

  private static func code(_ path: String) throws -> String { code(in: try Documents.text(path)) }

  private static func code(in text: String) -> String {
    text.replacing(/"""[\s\S]*?"""/, with: "").replacing(/"(?:\\.|[^"\\\n])*"/, with: "")
      .replacing(/\/\/.*/, with: "")
  }
}
