/// Counts lines, words and bytes, as `wc -lwc` does in a UTF-8 locale.
///
/// Older versions of GNU `wc`, 9.1 for one, leave out words without any character that their locale
/// can print: `…` in a C locale, a control character in all of them.
struct LineCounts: LineReader {
  /// Newlines, to be exact.
  private(set) var lines = 0
  private(set) var words = 0
  private(set) var bytes = 0

  mutating func read(_ line: Line) {
    if line.isTerminated { lines += 1 }
    words += line.withBytes(Self.words)
    bytes += line.count
  }

  func add(to report: inout Report) {
    report.counts = Report.Counts(lines: lines, words: words, bytes: bytes)
  }

  /// A word begins where whitespace ends. Lines begin behind whitespace, or at the start of a file.
  private static func words(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var count = 0
    var isInWord = false
    var position = 0
    while position < bytes.count {
      let whitespace = bytes.whitespace(at: position)
      let isWord = whitespace == 0
      count &+= isWord && !isInWord ? 1 : 0
      isInWord = isWord
      position &+= isWord ? 1 : whitespace
    }
    return count
  }
}
