extension LazyList where Element: Collection, Element.Element == UInt8 {
  /// The lines of a text that arrives in chunks of bytes.
  ///
  /// ```swift
  /// let chunks: LazyList<[UInt8], Never> = [Array("one\ntw".utf8), Array("o\r\nthree".utf8)]
  /// await chunks.lines.array()   // ["one", "two", "three"]
  /// ```
  ///
  /// A line ends with `\n` or `\r\n`, which are not part of it; the last line may lack it. A byte order
  /// mark at the beginning is no part of the first line. Invalid UTF-8 is repaired, as
  /// `String(decoding:as:)` does.
  ///
  /// - Laziness: stepwise, a chunk at a time: as many as a line needs.
  /// - Failure: that of the chunks, after the lines that were complete before it.
  @_alwaysEmitIntoClient
  public var lines: LazyList<String, Failure> {
    consuming get {
      stage(LineCutter()) { (cutter, source) in
        var patience = Patience()
        while true {
          if let line = cutter.next() { return .element(line) }
          if !patience.lasts() { return .skip }
          guard let chunk = source.next() else { return source.ending(with: cutter.rest()) }
          if chunk.withContiguousStorageIfAvailable({ cutter.cut($0) }) == nil {
            Array(chunk).withUnsafeBufferPointer { cutter.cut($0) }
          }
        }
      }
    }
  }
}

/// Cuts chunks of bytes into lines.
@usableFromInline
struct LineCutter {
  /// The beginning of a line whose end has not arrived.
  private var carry: [UInt8] = []
  /// The complete lines, the first one last.
  private var lines: [String] = []
  /// Whether no line has been cut yet: the first one may begin with a byte order mark.
  private var isAtStart = true

  @usableFromInline
  init() {}

  /// The next complete line.
  @usableFromInline
  mutating func next() -> String? { lines.popLast() }

  /// The line without an end, after the last chunk.
  @usableFromInline
  mutating func rest() -> String? {
    let line = isAtStart ? carry.withoutByteOrderMark : carry[...]
    guard !line.isEmpty else { return nil }
    defer { carry = [] }
    return String(decoding: line, as: UTF8.self)
  }

  // Guard: the chunk that owns the bytes. May touch them: this call, to read.
  @usableFromInline
  mutating func cut(_ bytes: UnsafeBufferPointer<UInt8>) {
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      if carry.isEmpty {
        lines.append(text(bytes[start..<end]))
      } else {
        carry += bytes[start..<end]
        lines.append(text(carry[...]))
        carry = []
      }
      start = end + 1
    }
    carry += bytes[start...]
    lines.reverse()
  }

  /// The text of a whole line.
  private mutating func text<Bytes: BidirectionalCollection<UInt8>>(_ line: Bytes) -> String
  where Bytes.SubSequence == Bytes {
    defer { isAtStart = false }
    return (isAtStart ? line.withoutByteOrderMark : line).line
  }
}

extension Collection<UInt8> {
  /// The bytes without the mark of UTF-8 at the beginning.
  package var withoutByteOrderMark: SubSequence {
    starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
  }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
  /// The text, without the first half of a `\r\n`.
  fileprivate var line: String {
    String(decoding: last == UInt8(ascii: "\r") ? dropLast() : self[...], as: UTF8.self)
  }
}
