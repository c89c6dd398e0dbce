import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Some whole lines of a file, as they were read.
final class Piece: Sendable {
  fileprivate let path: Path
  private let firstLine: Int
  fileprivate let bytes: [UInt8]

  init(_ path: Path, _ firstLine: Int, _ bytes: [UInt8]) {
    self.path = path
    self.firstLine = firstLine
    self.bytes = bytes
  }

  /// The lines, made one by one.
  func lines(_ ledger: Ledger) -> Lines { Lines(self, ledger) }

  struct Lines: Sequence, IteratorProtocol, Sendable {
    private let piece: Piece
    private var position = 0
    private let ledger: Ledger

    fileprivate init(_ piece: Piece, _ ledger: Ledger) {
      self.piece = piece
      self.ledger = ledger
    }

    mutating func next() -> Line? {
      let start = position
      guard start < piece.bytes.count else { return nil }
      position = piece.endOfLine(from: start)
      ledger.linesProduced.add(1, ordering: .relaxed)
      return Line(piece: piece, range: start..<position)
    }
  }

  /// The position behind the next newline, or the end.
  private func endOfLine(from start: Int) -> Int {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let newline = memchr(base + start, Int32(UInt8.newline), bytes.count - start)
      else { return bytes.count }
      return UnsafeRawPointer(newline) - base + 1
    }
  }

  func newlines(before end: Int) -> Int {
    var count = 0
    var position = 0
    while position < end {
      position = endOfLine(from: position)
      if position <= end, bytes[position - 1] == .newline { count += 1 }
    }
    return count
  }

  fileprivate func number(ofLineAt start: Int) -> Int { firstLine + newlines(before: start) }
}

/// A line of a file: a place in the piece that it was read with.
///
/// It is three words, so that the list can have millions, and copying it copies no text. In return
/// it keeps its piece: whoever remembers a line for long remembers a copy of its text instead.
struct Line: Sendable {
  private let piece: Piece
  /// With the line end.
  private let range: Range<Int>

  fileprivate init(piece: Piece, range: Range<Int>) {
    self.piece = piece
    self.range = range
  }

  /// How many bytes it has, with its end.
  var count: Int { range.count }

  /// Whether it ends with a newline; the last line of a file may not.
  var isTerminated: Bool { piece.bytes[range.upperBound - 1] == .newline }

  /// The bytes without the line end, `\n` or `\r\n`.
  var contentRange: Range<Int> {
    var end = range.upperBound
    if isTerminated {
      end -= 1
      if end > range.lowerBound, piece.bytes[end - 1] == .carriageReturn { end -= 1 }
    }
    return range.lowerBound..<end
  }

  /// The approximate bytes that it takes to remember: its own, and its cell in the list.
  var weight: Int { count + 32 }

  /// Where it is.
  ///
  /// - Complexity: O(*size of the piece*).
  var location: Location {
    Location(path: piece.path, line: piece.number(ofLineAt: range.lowerBound))
  }

  /// Gives the bytes to a closure, with the line end.
  // Guard, here and below: the piece, which does not change. May touch it: the closure, to read.
  func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
    withBytes(of: range, body)
  }

  /// Gives the bytes to a closure, without the line end.
  func withContent<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
    withBytes(of: contentRange, body)
  }

  private func withBytes<Value>(
    of range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Value
  ) -> Value {
    piece.bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
  }
}

/// A line of a file, by its name.
struct Location: Sendable, Equatable {
  let path: Path
  /// Counted from 1.
  let line: Int
}

extension UInt8 {
  static var newline: UInt8 { UInt8(ascii: "\n") }
  static var carriageReturn: UInt8 { UInt8(ascii: "\r") }
}
