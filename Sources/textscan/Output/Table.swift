extension Report {
  /// The report for people.
  func table() -> String {
    [countsTable, longestTable, wordsTable, duplicatesTable, findTable, readingTable]
      .compactMap(\.self)
      .map { section in ([section.title] + section.rows.map { "  " + $0 }).joined(separator: "\n") }
      .joined(separator: "\n\n")
  }

  private typealias Section = (title: String, rows: [String])

  private var countsTable: Section? {
    guard let counts else { return nil }
    return (
      "Counts",
      aligned([
        (counts.lines.grouped, "lines"), (counts.words.grouped, "words"),
        (counts.bytes.grouped, "bytes"),
      ])
    )
  }

  private var longestTable: Section? {
    guard let longest else { return nil }
    return ("Longest line: \(longest.bytes.grouped) bytes without its end", [row(longest)])
  }

  private var wordsTable: Section? {
    guard let words else { return nil }
    return (words.isEmpty ? "Most frequent words: none" : "Most frequent words", frequencies(words))
  }

  private var duplicatesTable: Section? {
    guard let duplicates else { return nil }
    let title = "Lines that occur more than once: \(duplicates.distinct.grouped) distinct"
    return (title, frequencies(duplicates.mostFrequent))
  }

  private var findTable: Section? {
    guard let find else { return nil }
    let pattern = find.pattern.displayable
    return switch (find.matches.count, find.stoppedEarly) {
    case (0, _): ("Lines with \"\(pattern)\": none", [])
    case (let count, true):
      ("Lines with \"\(pattern)\": the first \(count)", find.matches.map(row))
    case (let count, false): ("Lines with \"\(pattern)\": \(count)", find.matches.map(row))
    }
  }

  private var readingTable: Section {
    let readers = reading.readers == 1 ? "1 reader" : "\(reading.readers) readers"
    let speed = Double(reading.bytesRead) / 1e6 / max(reading.seconds, 1e-9)
    let rows = [
      (reading.files.grouped, "files, \(reading.skipped) skipped, \(reading.failures) failed"),
      (reading.bytesRead.grouped, "bytes read"),
      (
        reading.linesProduced.grouped,
        "lines produced: each of \(reading.lines.grouped) was read from disk "
          + "\(times(reading.linesProduced))"
      ),
      (
        reading.linesUsed.grouped,
        "lines used: each was used \(times(reading.linesUsed)) by \(readers)"
      ),
      (reading.seconds.rounded(to: 3), "seconds, \(speed.rounded(to: 0)) MB a second"),
      (
        (Double(reading.peakMemory) / 1e6).rounded(to: 1),
        "MB of memory at most, "
          + "\((Double(reading.memoryAtStart) / 1e6).rounded(to: 1)) before the first line"
      ),
    ]
    return ("Reading", aligned(rows))
  }

  private func times(_ count: Int) -> String {
    (Double(count) / Double(max(reading.lines, 1))).rounded(to: 2) + " times"
  }

  private func row(_ line: Line) -> String {
    "\(line.path.displayable):\(line.line): \(line.text.displayable.shortened)"
  }

  private func frequencies(_ frequencies: [Frequency]) -> [String] {
    aligned(
      frequencies.map { frequency in
        let text = frequency.text.displayable.shortened
        return (frequency.count.grouped, text.isEmpty ? "(empty)" : text)
      })
  }

  /// Numbers to the right, words to the left.
  private func aligned(_ rows: [(number: String, text: String)]) -> [String] {
    let width = rows.map(\.number.count).max() ?? 0
    return rows.map { row in
      String(repeating: " ", count: width - row.number.count) + row.number + "  " + row.text
    }
  }
}
