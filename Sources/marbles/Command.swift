import Foundation

/// Draws the marble diagrams of the documentation, from runs on virtual time, and writes the tables of the
/// article *Laziness*, from what the operators' documentation says.
///
/// ```
/// swift run marbles             # writes them where the catalogue finds them
/// swift run marbles --check     # says which of them are not what a run draws today
/// ```
@main
struct Command {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.allSatisfy({ $0 == "--check" }) else {
      print("usage: marbles [--check]")
      exit(64)
    }
    if arguments.isEmpty {
      try write()
    } else {
      let stale = try stale()
      for name in stale { print("not what a run writes: \(name)") }
      if !stale.isEmpty { exit(1) }
    }
  }

  /// Where the pictures of the catalogue are, next to this source.
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Tailrace/Tailrace.docc/Resources").standardizedFileURL

  static func write() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in try committed() {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
    for file in Diagram.all.flatMap({ $0.files() }) {
      try Data(file.text.utf8).write(to: folder.appending(path: file.name))
    }
    try Data(LazinessTables.text().utf8).write(to: LazinessTables.article)
  }

  /// Files that are missing, or not what a run writes today, or that no run writes.
  static func stale() throws -> [String] {
    let drawn = Dictionary(uniqueKeysWithValues: Diagram.all.flatMap { $0.files() })
    let committed = Set(try committed())
    let changed = try drawn.filter { name, text in
      guard committed.contains(name) else { return true }
      return try Data(contentsOf: folder.appending(path: name)) != Data(text.utf8)
    }
    let article = LazinessTables.article
    let isStale = try Data(contentsOf: article) != Data(LazinessTables.text().utf8)
    return committed.subtracting(drawn.keys).union(changed.keys).sorted()
      + (isStale ? [article.lastPathComponent] : [])
  }

  private static func committed() throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("marbles-") && $0.hasSuffix(".svg") }
  }
}
