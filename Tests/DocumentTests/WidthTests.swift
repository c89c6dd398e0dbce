import Foundation
import Testing

/// The site shows an example in a frame that cuts off what is too wide.
@Suite("The width of examples")
struct WidthTests {
  private static let limit = 100

  @Test(
    "an example fits its frame",
    arguments: Documents.articles() + Documents.files(below: "Sources", ending: ".swift"))
  func examples(_ path: String) throws {
    for line in Self.examples(in: try Documents.text(path), isCode: path.hasSuffix(".swift")) {
      #expect(line.count <= Self.limit, "\(path): \(line.count) characters: \(line)")
    }
  }

  @Test("what is in a block counts, of an article and of a comment, and nothing else")
  func found() {
    let article = "prose\n```swift\nlet a = 1\n```\nprose\n"
    #expect(Self.examples(in: article, isCode: false) == ["let a = 1"])
    let comment = "  /// Words.\n  /// ```swift\n  /// let a = 1\n  /// ```\n  let b = 1\n"
    #expect(Self.examples(in: comment, isCode: true) == ["let a = 1"])
  }

  /// The lines in blocks of code; of a Swift file, those in its documentation.
  private static func examples(in text: String, isCode: Bool) -> [String] {
    var isInside = false
    return text.split(separator: "\n").compactMap { line in
      var line = String(line)
      if isCode {
        guard let comment = line.firstMatch(of: /^ *\/\/\/ ?(?<text>.*)$/) else {
          isInside = false
          return nil
        }
        line = String(comment.output.text)
      }
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isInside.toggle()
        return nil
      }
      return isInside ? line : nil
    }
  }
}
