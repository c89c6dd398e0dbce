// Counts the public symbols in a folder of symbol graphs, and fails when one has no documentation.
// What a protocol of another module documents needs no words of ours.
import Foundation

struct Graph: Decodable {
  let module: Module
  let symbols: [Symbol]
}

struct Module: Decodable { let name: String }

struct Symbol: Decodable {
  struct Identifier: Decodable { let precise: String }
  struct Kind: Decodable { let identifier: String }
  struct Comment: Decodable {
    struct Line: Decodable { let text: String }
    let module: String?
    let lines: [Line]
  }
  struct Location: Decodable {
    struct Position: Decodable { let line: Int }
    let uri: String
    let position: Position
  }

  let identifier: Identifier
  let kind: Kind
  let pathComponents: [String]
  let docComment: Comment?
  let location: Location?

  /// Whether somebody wrote it: not an extension as such, nor a member that came with a conformance.
  var isWritten: Bool {
    kind.identifier != "swift.extension" && !identifier.precise.contains("::SYNTHESIZED::")
      && location != nil
  }
}

let folder = URL(filePath: CommandLine.arguments[1])
let files = (FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) ?? .init())
  .compactMap { $0 as? URL }
  .filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
  .sorted { $0.path < $1.path }

var seen = Set<String>()
var inherited = 0
var withExample = 0
var undocumented: [String] = []

for file in files {
  let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
  for symbol in graph.symbols where symbol.isWritten {
    guard seen.insert(symbol.identifier.precise).inserted else { continue }
    guard let comment = symbol.docComment, !comment.lines.isEmpty else {
      let name = symbol.pathComponents.joined(separator: ".")
      let place = symbol.location.map { "\($0.uri):\($0.position.line + 1): " } ?? ""
      undocumented.append("\(place)\(graph.module.name).\(name)")
      continue
    }
    let isOurs = comment.module.map { $0.hasPrefix("Tailrace") } ?? true
    if !isOurs { inherited += 1 }
    if isOurs, comment.lines.contains(where: { $0.text.hasPrefix("```swift") }) { withExample += 1 }
  }
}

for line in undocumented { print("no documentation: \(line)") }
print(
  "\(seen.count) public symbols: \(seen.count - inherited - undocumented.count) documented,",
  "\(withExample) of them with an example; \(inherited) documented by the protocol they satisfy;",
  "\(undocumented.count) undocumented")
exit(undocumented.isEmpty && !seen.isEmpty ? 0 : 1)
