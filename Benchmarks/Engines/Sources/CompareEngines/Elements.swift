import GRDB

/// The elements of all lists: texts of 60 bytes.
enum Elements {
  private static let padding = String(repeating: "some words ", count: 6)

  static func text(_ number: Int) -> String { String("\(number) \(padding)".prefix(60)) }
}

/// An element as a store keeps it.
protocol TextElement: Sendable {
  init(text: String)
  var text: String { get }
}

extension String: TextElement {
  init(text: String) { self = text }
  var text: String { self }
}

/// An element as a row of SQLite.
struct Line: TextElement, Codable, FetchableRecord, EncodableRecord {
  var text: String
}
