/// A Server-Sent Event.
struct ServerSentEvent: Equatable, Sendable {
  /// `message`, unless the event has a name.
  var name: String
  /// The lines of data, with line feeds between them.
  var data: [UInt8]
  /// The last identifier so far; empty if there was none.
  var lastID: String
}

/// Reads Server-Sent Events: a value that takes bytes, wherever they are cut.
///
/// It follows the rules of the HTML standard: lines end with CR, LF or CRLF, one byte order mark is
/// skipped, an identifier with a null is ignored, and an event without its empty line does not count.
struct EventParser: Sendable {
  /// At most how many bytes an event may have.
  let limit: Int
  /// How long to wait before connecting again, in milliseconds, if the server said so.
  private(set) var reconnectionTime: Int?

  private var line: [UInt8] = []
  private var isFirstLine = true
  /// The last byte was CR: LF after it belongs to the same end of a line.
  private var isAfterReturn = false

  private var name = ""
  private var data: [UInt8] = []
  private var lastID = ""

  private static let (lf, cr, colon) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: ":"))

  init(limit: Int) { self.limit = limit }

  /// Takes bytes, and returns the events that they complete.
  ///
  /// - Throws: if an event is too large. The parser must not be used after that.
  mutating func take(_ bytes: [UInt8]) throws(EventTooLarge) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      if isAfterReturn {
        isAfterReturn = false
        if bytes[start] == Self.lf {
          start += 1
          continue
        }
      }
      let end =
        bytes[start...].firstIndex { $0 == Self.lf || $0 == Self.cr } ?? bytes.endIndex
      line += bytes[start..<end]
      if line.count + data.count > limit { throw EventTooLarge(limit: limit) }
      guard end < bytes.endIndex else { break }
      isAfterReturn = bytes[end] == Self.cr
      start = end + 1
      if let event = endLine() { events.append(event) }
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    var text = line[...]
    if isFirstLine {
      isFirstLine = false
      if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    }
    defer { line.removeAll(keepingCapacity: true) }
    if text.isEmpty { return dispatch() }
    let colon = text.firstIndex(of: Self.colon)
    // A line that begins with a colon is a comment: its field has no name.
    let field = String(decoding: text[..<(colon ?? text.endIndex)], as: UTF8.self)
    var value = colon.map { text[($0 + 1)...] } ?? []
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    switch field {
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data":
      data += value
      data.append(Self.lf)
    case "id" where !value.contains(0): lastID = String(decoding: value, as: UTF8.self)
    case "retry" where !value.isEmpty && value.allSatisfy(ListOffset.isDigit):
      reconnectionTime = Int(String(decoding: value, as: UTF8.self)) ?? reconnectionTime
    default: break
    }
    return nil
  }

  private mutating func dispatch() -> ServerSentEvent? {
    defer {
      name = ""
      data = []
    }
    if data.isEmpty { return nil }
    return ServerSentEvent(
      name: name.isEmpty ? "message" : name, data: Array(data.dropLast()), lastID: lastID)
  }
}

/// An event, or a line of one, is larger than a client wants to hold.
struct EventTooLarge: Error, Equatable {
  let limit: Int
}
