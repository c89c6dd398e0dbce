#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The results and their costs. The parts of readers that did not run are `nil`.
struct Report: Encodable {
  struct Counts: Encodable {
    let lines: Int
    let words: Int
    let bytes: Int
  }

  struct Line: Encodable {
    let path: String
    let line: Int
    /// Without the line end.
    let bytes: Int
    let text: String

    init(_ quote: Quote) {
      path = quote.location.path.text
      line = quote.location.line
      bytes = quote.bytes
      text = quote.excerpt.text
    }
  }

  struct Frequency: Encodable {
    let text: String
    let count: Int

    init(_ leader: Tally.Leader) {
      text = leader.excerpt.text
      count = leader.count
    }
  }

  struct Duplicates: Encodable {
    let distinct: Int
    let mostFrequent: [Frequency]
  }

  struct Find: Encodable {
    let pattern: String
    let matches: [Line]
    /// Whether there may be more.
    let stoppedEarly: Bool
  }

  /// How the input was read.
  struct Reading: Encodable {
    let files: Int
    let skipped: Int
    let failures: Int
    let bytesRead: Int
    /// As many as the reader that got furthest has seen.
    let lines: Int
    /// How often a line was made out of what was read.
    let linesProduced: Int
    /// How often a reader read a line.
    let linesUsed: Int
    let readers: Int
    let seconds: Double
    /// The peak before anything was read.
    let memoryAtStart: Int
    let peakMemory: Int
  }

  var counts: Counts?
  var longest: Line?
  var words: [Frequency]?
  var duplicates: Duplicates?
  var find: Find?
  let reading: Reading
}

extension Report {
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
