import Foundation
import TailraceLists

/// The whole lines of a block of a file. Each is made when it is demanded.
struct LineBlock: Sequence, Sendable {
  /// The first line without its line end, if it begins in an earlier block.
  fileprivate let first: String?
  fileprivate let bytes: [UInt8]
  /// The range of the other lines, with their line ends.
  fileprivate let range: Range<Int>

  func makeIterator() -> Iterator { Iterator(block: self) }

  struct Iterator: IteratorProtocol, Sendable {
    private var first: String?
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    fileprivate init(block: LineBlock) {
      first = block.first
      bytes = block.bytes
      (position, end) = (block.range.lowerBound, block.range.upperBound)
    }

    mutating func next() -> String? {
      if let first = first.take() { return first }
      guard position < end else { return nil }
      // Guard: the array that owns the bytes. May touch them: this call, to read.
      return bytes.withUnsafeBytes { bytes in
        let lineEnd = bytes.newline(from: position) ?? end
        defer { position = lineEnd + 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<lineEnd]).line
      }
    }
  }
}

/// The lines of a file, in blocks: those that each chunk completes.
struct LineBlocks: AsyncSequence, Sendable {
  let chunks: FileChunks

  func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    private var chunks: FileChunks.Iterator
    /// The beginning of a line whose end has not been read.
    private var carry: [UInt8] = []
    /// Whether no line has been completed: the first one may begin with a byte order mark.
    private var isAtStart = true
    private var isAtEnd = false
    /// After the lines before it.
    private var failure: FileError?

    init(chunks: FileChunks.Iterator) { self.chunks = chunks }

    mutating func next() async throws(FileError) -> LineBlock? { try await next(isolation: nil) }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FileError) -> LineBlock? {
      while !isAtEnd {
        if let failure = failure.take() {
          isAtEnd = true
          throw failure
        }
        guard let bytes = try await chunks.next(isolation: actor) else {
          isAtEnd = true
          // The rest is a line without an end.
          let rest = isAtStart ? carry.withoutByteOrderMark : carry[...]
          if rest.isEmpty { return nil }
          guard let text = String(validating: rest, as: UTF8.self) else { throw chunks.noText }
          return LineBlock(first: text, bytes: [], range: 0..<0)
        }
        if let block = block(of: bytes) { return block }
      }
      return nil
    }

    /// The lines that a chunk completes; `nil` if there are none.
    private mutating func block(of bytes: [UInt8]) -> LineBlock? {
      guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else {
        carry += bytes
        return nil
      }
      var (first, start) = (String?.none, 0)
      if !carry.isEmpty, let end = bytes.withUnsafeBytes({ $0.newline(from: 0) }) {
        carry += bytes[..<end]
        start = end + 1
        let line = isAtStart ? carry.withoutByteOrderMark : carry[...]
        guard let text = line.withUnsafeBytes({ $0.validLine }) else {
          failure = chunks.noText
          return nil
        }
        first = text
      } else if isAtStart {
        start = bytes.withoutByteOrderMark.startIndex
      }
      isAtStart = false
      carry = Array(bytes[(last + 1)...])
      let end = bytes.withUnsafeBytes { $0.endOfText(from: start, to: last + 1) }
      if end <= last { failure = chunks.noText }
      if first == nil, start == end { return nil }
      return LineBlock(first: first, bytes: bytes, range: start..<end)
    }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func newline(from start: Int) -> Int? {
    guard let baseAddress, start < count,
      let found = memchr(baseAddress + start, Int32(UInt8(ascii: "\n")), count - start)
    else { return nil }
    return UnsafeRawPointer(found) - baseAddress
  }

  /// The text of a line, without the `\r` of a `\r\n`.
  fileprivate var line: String { String(decoding: withoutReturn, as: UTF8.self) }

  /// The same; `nil` if it is no UTF-8.
  fileprivate var validLine: String? { String(validating: withoutReturn, as: UTF8.self) }

  private var withoutReturn: Slice<UnsafeRawBufferPointer> {
    let hasReturn = last == UInt8(ascii: "\r")
    return self[..<(hasReturn ? count - 1 : count)]
  }

  /// Where the first line begins that is no UTF-8; the end if there is none.
  fileprivate func endOfText(from start: Int, to end: Int) -> Int {
    // Whole lines are whole characters, so all of them are checked at once.
    if isText(start..<end) { return end }
    var position = start
    while position < end, let lineEnd = newline(from: position), isText(position..<lineEnd) {
      position = lineEnd + 1
    }
    return position
  }

  private func isText(_ range: Range<Int>) -> Bool {
    String(validating: self[range], as: UTF8.self) != nil
  }
}
