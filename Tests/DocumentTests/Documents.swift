import Foundation

/// The documents of the package.
enum Documents {
  static let package = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../..").standardizedFileURL

  static func text(_ path: String) throws -> String {
    try String(contentsOf: package.appending(path: path), encoding: .utf8)
  }

  /// The articles and the pages of symbols, by their paths in the package.
  static func articles() -> [String] { files(below: "Sources", ending: ".md") }

  static func files(below folder: String, ending: String) -> [String] {
    let all = FileManager.default.enumerator(
      at: package.appending(path: folder), includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? [])
      .filter { $0.lastPathComponent.hasSuffix(ending) }
      .map { String($0.standardizedFileURL.path.dropFirst(package.path.count + 1)) }
      .sorted()
  }

  /// The text outside of blocks of code.
  static func prose(of text: String) -> String {
    text.components(separatedBy: "```").enumerated().filter { $0.offset.isMultiple(of: 2) }
      .map(\.element).joined()
  }

  /// The blocks of code in a language.
  static func blocks(in language: String, of text: String) -> [String] {
    text.components(separatedBy: "```").enumerated().filter { !$0.offset.isMultiple(of: 2) }
      .map(\.element).filter { $0.hasPrefix(language + "\n") }
      .map { String($0.dropFirst(language.count + 1)) }
  }

  /// The files that a document links to, by their paths in the package.
  static func links(in path: String) throws -> [String] {
    try prose(of: text(path)).replacing(/`[^`\n]*`/, with: "").matches(
      of: /\]\((?<place>[^)\s]+)\)/
    )
    .map { String($0.output.place) }
    .filter { !$0.contains(":") && !$0.hasPrefix("#") }
    .map { place in
      let file = place.split(separator: "#").first.map(String.init) ?? place
      let folder = package.appending(path: path).deletingLastPathComponent()
      let target = folder.appending(path: file).standardizedFileURL.path
      return String(target.dropFirst(package.path.count + 1))
    }
  }
}
