/// Counts the distinct lines that occur more than once, and finds the five most frequent.
struct DuplicateLines: LineReader {
  private var tally = Tally(limit: 5, from: 2)

  mutating func read(_ line: Line) { line.withContent { tally.add($0) } }

  func add(to report: inout Report) {
    report.duplicates = Report.Duplicates(
      distinct: tally.repeatedCount, mostFrequent: tally.leaders.map { Report.Frequency($0) })
  }
}
