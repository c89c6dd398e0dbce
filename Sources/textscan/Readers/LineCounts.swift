/// Counts lines, words and bytes, as `wc -lwc` does in a UTF-8 locale.
///
/// In a C locale older versions of GNU `wc`, 9.1 for one, leave out words without any printable ASCII
/// character, such as `…`.
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
    for byte in bytes {
      let isWord = !byte.isWhitespace
      count &+= isWord && !isInWord ? 1 : 0
      isInWord = isWord
    }
    return count
  }
}
