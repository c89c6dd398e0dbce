import Foundation

/// An HTTP response, as far as it has arrived: a value that takes bytes.
struct PartialResponse {
  private enum Part {
    case head
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case body(left: Int)
    case done
  }

  private(set) var status = 0
  private(set) var headers: [String: String] = [:]
  /// The body, without its transfer coding. The reader may take bytes away.
  var body: [UInt8] = []
  private var part = Part.head
  private var bytes: [UInt8] = []

  var hasHead: Bool { status > 0 }
  var isComplete: Bool { if case .done = part { true } else { false } }

  mutating func take(_ more: some Sequence<UInt8>) {
    bytes += more
    while step() {}
  }

  /// False if more bytes are needed.
  private mutating func step() -> Bool {
    switch part {
    case .head:
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
      readHead(String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
      bytes.removeFirst(end.upperBound)
    case .chunkSize:
      guard let end = bytes.firstRange(of: Array("\r\n".utf8)) else { return false }
      let size = Int(String(decoding: bytes[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
      bytes.removeFirst(end.upperBound)
      part = size == 0 ? .done : .chunk(left: size)
    case .chunk(let left):
      guard let taken = takeBody(left) else { return false }
      part = taken == left ? .chunkEnd : .chunk(left: left - taken)
    case .chunkEnd:
      guard bytes.count >= 2 else { return false }
      bytes.removeFirst(2)
      part = .chunkSize
    case .body(let left):
      guard let taken = takeBody(left) else { return false }
      part = taken == left ? .done : .body(left: left - taken)
    case .done:
      return false
    }
    return true
  }

  private mutating func takeBody(_ left: Int) -> Int? {
    if bytes.isEmpty { return nil }
    let count = min(left, bytes.count)
    body += bytes.prefix(count)
    bytes.removeFirst(count)
    return count
  }

  private mutating func readHead(_ text: String) {
    var lines = text.split(separator: "\r\n")
    status = Int(lines.removeFirst().split(separator: " ")[1]) ?? 0
    for line in lines {
      let colon = line.firstIndex(of: ":") ?? line.endIndex
      headers[line[..<colon].lowercased()] =
        line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
    }
    let length = Int(headers["content-length"] ?? "0") ?? 0
    if headers["transfer-encoding"] == "chunked" {
      part = .chunkSize
    } else {
      part = length > 0 ? .body(left: length) : .done
    }
  }
}

/// A Server-Sent Event.
struct StreamEvent: Equatable {
  var name = "message"
  var id: String?
  var data = ""

  /// Takes the complete events away from a body.
  static func take(from body: inout [UInt8]) -> [StreamEvent] {
    guard let last = body.lastRange(of: Array("\n\n".utf8)) else { return [] }
    let text = String(decoding: body[..<last.upperBound], as: UTF8.self)
    body.removeFirst(last.upperBound)
    return text.components(separatedBy: "\n\n").compactMap { block in
      var event = StreamEvent()
      for line in block.split(separator: "\n") {
        let value = String(line.drop { $0 != ":" }.dropFirst().drop { $0 == " " })
        switch line.prefix(while: { $0 != ":" }) {
        case "event": event.name = value
        case "id": event.id = value
        case "data": event.data += event.data.isEmpty ? value : "\n" + value
        default: break
        }
      }
      return event.data.isEmpty ? nil : event
    }
  }
}

extension [UInt8] {
  fileprivate func lastRange(of other: [UInt8]) -> Range<Int>? {
    guard count >= other.count else { return nil }
    for start in stride(from: count - other.count, through: 0, by: -1)
    where self[start..<start + other.count].elementsEqual(other) {
      return start..<start + other.count
    }
    return nil
  }
}
