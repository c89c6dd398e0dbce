// Writes Swift files with a function for each Swift block of the documents that it is given:
//   SnippetTool <package> <folder of what is given> <output> <documents…>
import Foundation

let arguments = CommandLine.arguments.dropFirst()
let folders = arguments.prefix(3).map { URL(filePath: $0) }
let (package, given, output) = (folders[0], folders[1], folders[2])

/// Declarations that blocks use: those of one document are in a type with the document's name.
let contexts = try FileManager.default
  .contentsOfDirectory(at: given, includingPropertiesForKeys: nil)
  .map { try String(contentsOf: $0, encoding: .utf8) }
  .joined()

var articles = Listing(name: "articles")
var symbols = Listing(name: "symbols")

for path in arguments.dropFirst(3) {
  let document = try Document(
    path: path, name: String(path.dropFirst(package.path.count + 1)),
    text: String(contentsOf: URL(filePath: path), encoding: .utf8))
  let context = "\(document.key)Given"
  let isDeclared = ["struct", "typealias"].contains { contexts.contains("\($0) \(context)") }
  if path.hasSuffix(".md") {
    articles.add(document, in: isDeclared ? context : "CommonGiven")
  } else {
    symbols.add(document, in: isDeclared ? context : "CommonGiven")
  }
}

try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
for (name, listing) in [("Article", articles), ("Symbol", symbols)] {
  let url = output.appending(path: "\(name)Snippets.swift")
  try listing.text.write(to: url, atomically: true, encoding: .utf8)
}
