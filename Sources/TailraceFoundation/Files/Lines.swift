import Foundation

/// Pieces of whole lines, as a file is read.
struct LinePieces: AsyncSequence, Sendable {
  let chunks: FileChunks

  func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    private var chunks: FileChunks.Iterator
    /// The beginning of a line whose end has not been read.
    private var carry: [UInt8] = []
    private var isAtEnd = false

    init(chunks: FileChunks.Iterator) { self.chunks = chunks }

    mutating func next() async throws(FileError) -> Lines? { try await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(FileError) -> Lines? {
      while !isAtEnd {
        guard let bytes = try await chunks.next(isolation: actor) else {
          isAtEnd = true
          // What is left is a line without an end.
          return carry.isEmpty ? nil : Lines(bytes: carry)
        }
        guard let newline = bytes.lastIndex(of: .newline) else {
          carry += bytes
          continue
        }
        defer { carry = Array(bytes[(newline + 1)...]) }
        let whole = bytes[...newline]
        return Lines(bytes: carry.isEmpty ? Array(whole) : carry + whole)
      }
      return nil
    }
  }
}

/// Whole lines, cut and decoded one by one.
struct Lines: Sequence, IteratorProtocol, Sendable {
  private let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> String? {
    let start = position
    guard start < bytes.count else { return nil }
    let (line, end) = bytes.withUnsafeBytes { bytes in
      // Guard: the array, which does not change. May touch it: this closure, to read.
      let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
      let newline = rest.baseAddress.flatMap { memchr($0, Int32(UInt8.newline), rest.count) }
      guard let newline, let base = rest.baseAddress else {
        return (String(decoding: rest, as: UTF8.self), bytes.count)
      }
      let length = UnsafeRawPointer(newline) - base
      let hasReturn = length > 0 && rest[length - 1] == .carriageReturn
      let content = UnsafeRawBufferPointer(rebasing: rest[..<(hasReturn ? length - 1 : length)])
      return (String(decoding: content, as: UTF8.self), start + length + 1)
    }
    position = end
    return line
  }
}

extension UInt8 {
  fileprivate static var newline: UInt8 { UInt8(ascii: "\n") }
  fileprivate static var carriageReturn: UInt8 { UInt8(ascii: "\r") }
}
