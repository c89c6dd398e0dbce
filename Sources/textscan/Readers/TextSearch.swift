#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Finds the first lines that contain a text, byte for byte.
struct TextSearch: LineReader {
  static let limit = 10

  private let pattern: String
  private let patternBytes: [UInt8]
  private var matches: [Quote] = []

  init(_ pattern: String) {
    self.pattern = pattern
    patternBytes = Array(pattern.utf8)
  }

  mutating func read(_ line: Line) {
    if line.withContent(containsPattern) { matches.append(line.quote) }
  }

  var isSatisfied: Bool { matches.count == Self.limit }

  func add(to report: inout Report) {
    report.find = Report.Find(
      pattern: pattern, matches: matches.map { Report.Line($0) },
      stoppedEarly: isSatisfied)
  }

  /// Looks at the places where the first byte is.
  private func containsPattern(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = patternBytes.first else { return true }
    guard var place = UnsafeRawPointer(bytes.baseAddress) else { return false }
    let end = place + bytes.count
    while end - place >= patternBytes.count {
      let places = end - place - patternBytes.count + 1
      guard let found = memchr(place, Int32(first), places) else { return false }
      if memcmp(found, patternBytes, patternBytes.count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }
}
