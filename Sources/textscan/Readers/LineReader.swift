import Tailrace

/// Something that is learned from lines, read one after the other.
protocol LineReader: Sendable {
  mutating func read(_ line: Line)
  /// Whether more lines would not change the answer.
  var isSatisfied: Bool { get }
  /// Writes down what was learned.
  func add(to report: inout Report)
}

extension LineReader {
  var isSatisfied: Bool { false }

  /// Reads lines until more of them would not change the answer, or there are none. Returns how many.
  mutating func read(_ lines: LockstepReader<Line, any Error>) async throws -> Int {
    var count = 0
    for try await line in lines {
      count += 1
      read(line)
      if isSatisfied { break }
    }
    return count
  }
}

/// A line as a reader remembers it.
struct Quote: Sendable {
  let location: Location
  /// How many bytes the line has without its end.
  let bytes: Int
  let excerpt: Excerpt
}

extension Line {
  /// A copy of what matters, which does not keep the piece that the line is in.
  var quote: Quote {
    Quote(
      location: location, bytes: contentRange.count, excerpt: withContent { Excerpt($0) })
  }
}

/// The beginning of a text, with `…` for the rest of a long one.
struct Excerpt: Sendable, Equatable {
  static let limit = 4096

  /// Repaired where it is not valid UTF-8.
  let text: String

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count > Self.limit else {
      text = String(decoding: bytes, as: UTF8.self)
      return
    }
    // Cuts in front of a character, not in one. No character has more than three further bytes.
    var end = Self.limit
    while end > Self.limit - 3, bytes[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
    text = String(decoding: bytes[..<end], as: UTF8.self) + "…"
  }
}
