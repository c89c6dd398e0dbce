import Foundation

/// Some elements of a list, as a JSON array.
struct EncodedPage: Sendable {
  /// The array, without its closing bracket until it is complete.
  private(set) var json = Data("[".utf8)
  private(set) var count = 0
  /// The position of the first element.
  let start: Int
  /// Whether no more elements are stored.
  private(set) var isUpToDate = false
  /// Whether the list ends with this page.
  private(set) var isEnd = false

  /// The position after the last element.
  var next: Int { start + count }

  init(from start: Int) { self.start = start }

  mutating func append(_ element: Data) {
    if count > 0 { json.append(UInt8(ascii: ",")) }
    json.append(element)
    count += 1
  }

  /// Nothing more belongs to the page.
  mutating func close(isUpToDate: Bool, isEnd: Bool) {
    json.append(UInt8(ascii: "]"))
    self.isUpToDate = isUpToDate
    self.isEnd = isEnd
  }

  /// The entity tag: it differs when the elements differ, or when the list has ended since.
  func tag(_ id: String) -> String {
    "\"\(id):\(ListOffset.name(start)):\(ListOffset.name(next))\(isEnd ? ":c" : "")\""
  }

  /// The header fields that describe where the page ends.
  var headers: [String: String] {
    var headers = ["Stream-Next-Offset": ListOffset.name(next)]
    if isUpToDate { headers["Stream-Up-To-Date"] = "true" }
    if isEnd { headers["Stream-Closed"] = "true" }
    return headers
  }

  /// The page as Server-Sent Events: its elements, and where it ends.
  ///
  /// Both have an ID, so that a browser which connects again names it in `Last-Event-ID`.
  func events(cursor: String) -> Data {
    var bytes = Data()
    if count > 0 { bytes.append(event: "data", id: ListOffset.name(next), json) }
    var control = "{\"streamNextOffset\":\"\(ListOffset.name(next))\""
    if !isEnd { control += ",\"streamCursor\":\"\(cursor)\"" }
    if isUpToDate { control += ",\"upToDate\":true" }
    if isEnd { control += ",\"streamClosed\":true" }
    bytes.append(event: "control", id: ListOffset.name(next), Data((control + "}").utf8))
    return bytes
  }
}

extension Data {
  /// Appends a Server-Sent Event. Each line of its data becomes a field.
  fileprivate mutating func append(event: String, id: String, _ data: Data) {
    append(contentsOf: "event: \(event)\nid: \(id)\n".utf8)
    let breaks = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    // Mostly there is one line: an encoder breaks none if it is not told to.
    let lines =
      breaks.contains(where: data.contains) ? data.split(whereSeparator: breaks.contains) : [data]
    for line in lines {
      append(contentsOf: "data: ".utf8)
      append(line)
      append(UInt8(ascii: "\n"))
    }
    append(UInt8(ascii: "\n"))
  }
}

/// The cursor of live responses: it changes with time, so that no cache answers for ever.
enum StreamCursor {
  static let interval = 20.0
  /// 2024-10-09, 00:00 UTC.
  static let epoch = 1_728_432_000.0

  /// The number of the interval; more than the client's if that is not less.
  static func value(at date: Date, after client: String?) -> String {
    let current = Int((date.timeIntervalSince1970 - epoch) / interval)
    // A number that leaves no room is none of ours.
    guard let client = client.flatMap(Int.init), client >= current, client < .max / 2 else {
      return String(current)
    }
    return String(client + Int.random(in: 1...180))
  }
}
