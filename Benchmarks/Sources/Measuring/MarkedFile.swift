public import Foundation

/// A file between whose marks a comparison writes; the rest it leaves alone.
public enum MarkedFile {
  private static let begin = "<!-- compare: begin -->"
  private static let end = "<!-- compare: end -->"

  /// Replaces the paragraphs between the marks.
  public static func write(_ paragraphs: [String], into file: URL) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    guard let start = text.range(of: begin), let stop = text.range(of: end) else {
      throw Flaw("\(file.path) has lost the marks between which figures are written")
    }
    let figures = paragraphs.joined(separator: "\n\n")
    let rewritten =
      text[..<start.upperBound] + "\n\n" + figures + "\n\n" + text[stop.lowerBound...]
    try String(rewritten).write(to: file, atomically: true, encoding: .utf8)
  }
}
