/// Finds the twenty most frequent words.
struct FrequentWords: LineReader {
  private var tally = Tally(limit: 20, from: 1)

  mutating func read(_ line: Line) {
    line.withBytes { bytes in
      var position = 0
      while true {
        while position < bytes.count {
          let whitespace = bytes.whitespace(at: position)
          if whitespace == 0 { break }
          position += whitespace
        }
        if position == bytes.count { return }
        let start = position
        var union: UInt8 = 0
        while position < bytes.count, bytes.whitespace(at: position) == 0 {
          union |= bytes[position]
          position += 1
        }
        add(UnsafeBufferPointer(rebasing: bytes[start..<position]), isASCII: union < 0x80)
      }
    }
  }

  /// Words that differ in nothing but how they are invalid are the same word.
  private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
    if isASCII { return tally.add(bytes) }
    var repaired = String(decoding: bytes, as: UTF8.self)
    repaired.withUTF8 { tally.add($0) }
  }

  func add(to report: inout Report) {
    report.words = tally.leaders.map { Report.Frequency($0) }
  }
}
