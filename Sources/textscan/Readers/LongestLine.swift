/// Finds the longest line, the first of several.
struct LongestLine: LineReader {
  private var longest: Quote?

  mutating func read(_ line: Line) {
    if let longest, line.contentRange.count <= longest.bytes { return }
    longest = line.quote
  }

  func add(to report: inout Report) {
    report.longest = longest.map { Report.Line($0) }
  }
}
