import Foundation

/// The lines completed by each chunk of a file.
struct LineBlocks: AsyncSequence, Sendable {
  let chunks: FileChunks

  func makeAsyncIterator() -> Iterator { Iterator(chunks: chunks.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    private var chunks: FileChunks.Iterator
    /// The beginning of a line whose end has not been read.
    private var carry: [UInt8] = []
    private var isAtEnd = false

    init(chunks: FileChunks.Iterator) { self.chunks = chunks }

    mutating func next() async throws(FileError) -> [String]? { try await next(isolation: nil) }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FileError) -> [String]? {
      if isAtEnd { return nil }
      guard let bytes = try await chunks.next(isolation: actor) else {
        isAtEnd = true
        // The rest is a line without an end.
        return carry.isEmpty ? nil : [String(decoding: carry, as: UTF8.self)]
      }
      return bytes.withUnsafeBytes { cut($0) }
    }

    // Guard: the array that owns the bytes. May touch them: this call, to read.
    private mutating func cut(_ bytes: UnsafeRawBufferPointer) -> [String] {
      var lines: [String] = []
      var start = 0
      while let end = bytes.newline(from: start) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        if carry.isEmpty {
          lines.append(line.text)
        } else {
          carry += line
          lines.append(carry.withUnsafeBytes { $0.text })
          carry = []
        }
        start = end + 1
      }
      carry += bytes[start...]
      return lines
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

  /// The line, without the `\r` of a `\r\n`.
  fileprivate var text: String {
    let hasReturn = last == UInt8(ascii: "\r")
    return String(decoding: self[..<(hasReturn ? count - 1 : count)], as: UTF8.self)
  }
}
