public import Foundation

/// A file between whose marks a comparison writes; the rest it leaves alone.
public enum MarkedFile {
  /// Replaces the paragraphs between the marks of a name.
  public static func write(
    _ paragraphs: [String], into file: URL, between name: String = "compare"
  ) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    guard let start = text.range(of: "<!-- \(name): begin -->"),
      let stop = text.range(of: "<!-- \(name): end -->")
    else {
      throw Flaw("\(file.path) has lost the marks between which figures are written: \(name)")
    }
    let figures = paragraphs.joined(separator: "\n\n")
    let rewritten =
      text[..<start.upperBound] + "\n\n" + figures + "\n\n" + text[stop.lowerBound...]
    try String(rewritten).write(to: file, atomically: true, encoding: .utf8)
  }
}
