import Foundation
import Testing

/// Between modules the compiler checks which uses which. Between the folders of `TailraceLists` this
/// suite does, by the names of the types that are declared at file scope.
@Suite("Arrows between the folders of TailraceLists", .inTurn)
struct ArrowTests {
  private static let allowed: [String: Set<String>] = [
    "Lists": ["Engine"],
    "Engine": [],
    "EagerLists": ["Lists"],
    "Operators": ["Lists", "Engine", "EagerLists"],
    "Concurrency": ["Lists", "Engine", "Operators"],
    "Collections": ["Lists"],
  ]

  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardizedFileURL

  @Test("a folder uses the types of those folders only that it may")
  func arrows() throws {
    var folders: [String: [(path: String, text: String)]] = [:]
    let root = Self.package.appending(path: "Sources/TailraceLists")
    let files = FileManager.default.enumerator(atPath: root.path)
    while let path = files?.nextObject() as? String {
      guard path.hasSuffix(".swift"), let folder = path.split(separator: "/").first else {
        continue
      }
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      let code = text.replacing(/"""[\s\S]*?"""/, with: "")
        .replacing(/\/\/.*|"(?:[^"\\\n]|\\.)*"/, with: "")
      folders[String(folder), default: []].append((path, code))
    }
    #expect(Set(folders.keys) == Set(Self.allowed.keys))

    // Folders of a name. One that a folder declares itself, even inside another type, is its own.
    let owners = folders.mapValues { Set($0.flatMap { Self.types(in: $0.text, nested: false) }) }
    var seen = 0
    for (folder, files) in folders {
      let own = Set(files.flatMap { Self.types(in: $0.text, nested: true) })
      for (path, text) in files {
        let used = Set(text.matches(of: /\b_?[A-Z]\w*/).map { String($0.output) })
        for (other, theirs) in owners where other != folder {
          let names = used.intersection(theirs.subtracting(own))
          seen += names.count
          guard !names.isEmpty, Self.allowed[folder]?.contains(other) != true else { continue }
          Issue.record("\(path) uses \(names.sorted().joined(separator: ", ")) of \(other)")
        }
      }
    }
    #expect(seen > 100, "names are found at all")
  }

  @Test("the guide for contributors says the same")
  func guide() throws {
    let guide = try String(
      contentsOf: Self.package.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
    let rows = guide.matches(of: /(?m)^\| `(?<folder>\w+)` \| uses (?<others>[`\w, ]+) \|$/)
    let said = rows.map { row in
      (String(row.folder), Set(row.others.matches(of: /[A-Z]\w+/).map { String($0.output) }))
    }
    #expect(Dictionary(said) { $1 } == Self.allowed)
  }

  /// Types that only their file sees are nobody's concern.
  private static func types(in text: String, nested: Bool) -> [String] {
    let declaration =
      #/
      ^(?<indent>\x20*)(?:@\w+(?:\([^)]*\))?\s+)*(?<words>(?:\w+\x20)*)
      (?:struct|class|enum|protocol|actor|typealias)\x20(?<name>\w+)
      /#.anchorsMatchLineEndings()
    return text.matches(of: declaration).compactMap { match in
      if nested { return String(match.name) }
      return match.indent.isEmpty && !match.words.contains("private") ? String(match.name) : nil
    }
  }
}
