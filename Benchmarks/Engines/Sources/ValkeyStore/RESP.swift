import NIOCore

/// A value of the protocol of Valkey and Redis, RESP version 2.
enum RESP: Equatable, Sendable {
  case text(String)
  /// The message of an error; its first word is the code.
  case error(String)
  case number(Int)
  case bytes(ByteBuffer)
  case array([RESP])
  /// A missing string or array.
  case null
}

extension RESP {
  /// Writes a command: an array of byte strings.
  static func write(_ command: [ByteBuffer], into buffer: inout ByteBuffer) {
    buffer.writeString("*\(command.count)\r\n")
    for argument in command {
      buffer.writeString("$\(argument.readableBytes)\r\n")
      buffer.writeImmutableBuffer(argument)
      buffer.writeString("\r\n")
    }
  }

  /// The number; integers in strings count.
  var asNumber: Int? {
    switch self {
    case .number(let number): number
    case .text(let text): Int(text)
    case .bytes(let bytes): Int(String(buffer: bytes))
    case .error, .array, .null: nil
    }
  }

  var asText: String? {
    switch self {
    case .text(let text): text
    case .bytes(let bytes): String(buffer: bytes)
    case .error, .number, .array, .null: nil
    }
  }

  var asBytes: [UInt8]? {
    guard case .bytes(let bytes) = self else { return nil }
    return Array(buffer: bytes)
  }

  var asArray: [RESP]? {
    guard case .array(let values) = self else { return nil }
    return values
  }
}

/// Bytes that are not RESP.
struct RESPError: Error, Equatable {
  let message: String
}

/// Parses values from bytes that arrive in any pieces.
///
/// It keeps the arrays that are not complete yet, and looks at no byte twice. After an error it
/// gives no more values.
struct RESPParser {
  /// The limits of the server's own protocol: more is an error, not a request for memory.
  static let longestLine = 64 * 1024
  static let longestString = 512 * 1024 * 1024
  static let longestArray = 1024 * 1024
  static let deepest = 32

  private var buffer = ByteBuffer()
  /// The arrays around the next value, from the outermost on.
  private var open: [(missing: Int, values: [RESP])] = []
  /// The length of a string whose bytes are next.
  private var string: Int?
  /// How many of the buffer's bytes are known to have no end of a line.
  private var searched = 0
  private var failure: RESPError?

  /// Whether there are no bytes and no unfinished values.
  var isEmpty: Bool { buffer.readableBytes == 0 && open.isEmpty && string == nil }

  mutating func feed(_ bytes: ByteBuffer) {
    if buffer.readableBytes == 0 {
      buffer = bytes
    } else {
      buffer.discardReadBytes()
      buffer.writeImmutableBuffer(bytes)
    }
  }

  /// The next value; `nil` if bytes are missing.
  mutating func next() throws(RESPError) -> RESP? {
    if let failure { throw failure }
    do throws(RESPError) {
      while let value = try part() {
        guard let whole = close(value) else { continue }
        return whole
      }
      return nil
    } catch {
      failure = error
      throw error
    }
  }

  /// Puts a value into the array that waits for it. The outermost value, when it is complete.
  private mutating func close(_ value: RESP) -> RESP? {
    var value = value
    while let last = open.indices.last {
      open[last].values.append(value)
      open[last].missing -= 1
      if open[last].missing > 0 { return nil }
      value = .array(open.removeLast().values)
    }
    return value
  }

  /// The next value that is no array, or is an empty one.
  private mutating func part() throws(RESPError) -> RESP? {
    while true {
      if let length = string {
        guard buffer.readableBytes >= length + 2 else { return nil }
        let bytes = buffer.readSlice(length: length)
        guard let bytes, buffer.readBytes(length: 2) == [13, 10] else {
          throw RESPError(message: "a string is longer than its length")
        }
        string = nil
        return .bytes(bytes)
      }
      guard var line = try line() else { return nil }
      let kind = line.readInteger(as: UInt8.self)
      let rest = String(buffer: line)
      switch kind {
      case UInt8(ascii: "+"): return .text(rest)
      case UInt8(ascii: "-"): return .error(rest)
      case UInt8(ascii: ":"): return .number(try integer(rest, in: Int.min...Int.max))
      case UInt8(ascii: "$"):
        let length = try integer(rest, in: -1...Self.longestString)
        if length < 0 { return .null }
        string = length
      case UInt8(ascii: "*"):
        let count = try integer(rest, in: -1...Self.longestArray)
        if count < 0 { return .null }
        if count == 0 { return .array([]) }
        guard open.count < Self.deepest else { throw RESPError(message: "arrays are too deep") }
        open.append((count, []))
      default: throw RESPError(message: "a value begins with '\(kind.map { "\($0)" } ?? "")'")
      }
    }
  }

  private mutating func line() throws(RESPError) -> ByteBuffer? {
    let bytes = buffer.readableBytesView
    guard let end = bytes.dropFirst(searched).firstIndex(of: 13) else {
      if bytes.count > Self.longestLine { throw RESPError(message: "a line has no end") }
      searched = bytes.count
      return nil
    }
    searched = end - bytes.startIndex
    guard end + 1 < bytes.endIndex else { return nil }
    guard bytes[end + 1] == 10 else { throw RESPError(message: "a line ends with half its end") }
    let line = buffer.readSlice(length: end - bytes.startIndex)
    buffer.moveReaderIndex(forwardBy: 2)
    searched = 0
    return line
  }

  /// Digits, perhaps after a minus.
  private func integer(_ text: String, in range: ClosedRange<Int>) throws(RESPError) -> Int {
    guard !text.hasPrefix("+"), let number = Int(text), range.contains(number) else {
      throw RESPError(message: "'\(text.prefix(32))' is no length or number here")
    }
    return number
  }
}
