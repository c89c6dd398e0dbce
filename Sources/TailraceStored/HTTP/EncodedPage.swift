import Foundation

/// Some elements of a list, as a JSON array.
struct EncodedPage: Sendable {
  /// The list's identity, if it has one.
  private(set) var identity: String?
  /// The position of the first element.
  let start: Int
  /// The array, without its closing bracket until it is complete.
  private(set) var json = Data("[".utf8)
  private(set) var count = 0
  /// Whether no more elements are stored.
  var isUpToDate = false
  /// Whether the list ends with this page.
  var isEnd = false
  /// The position of the list's first element, in a page that tells where the list is.
  var first: Int?

  /// The position after the last element.
  var next: Int { start + count }
  var nextOffset: ListOffset { ListOffset(identity, next) }

  init(_ identity: String?, from start: Int) {
    self.identity = identity
    self.start = start
  }

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

  /// The same elements, of a list whose identity is known now.
  func named(_ identity: String?) -> EncodedPage {
    var page = self
    page.identity = identity
    return page
  }

  /// The entity tag: it differs when the elements or the lists differ, or when the list has ended since.
  func tag(_ id: String) -> String {
    "\"\(id):\(ListOffset(identity, start).name):\(nextOffset.name)\(isEnd ? ":c" : "")\""
  }

  /// The header fields that describe where the page ends.
  var headers: [String: String] {
    var headers = ["Stream-Next-Offset": nextOffset.name]
    if isUpToDate { headers["Stream-Up-To-Date"] = "true" }
    if isEnd { headers["Stream-Closed"] = "true" }
    if let first { headers["Stream-First-Offset"] = ListOffset(identity, first).name }
    return headers
  }

  /// The page as Server-Sent Events: its elements, and where it ends.
  ///
  /// Both have an ID, so that a browser which connects again names it in `Last-Event-ID`.
  func events(cursor: String) -> Data {
    var bytes = Data()
    if count > 0 { bytes.append(event: "data", id: nextOffset.name, json) }
    bytes.append(control(cursor: cursor))
    return bytes
  }

  /// The event that says where the page ends.
  func control(cursor: String) -> Data {
    var control = "{\"streamNextOffset\":\"\(nextOffset.name)\""
    if !isEnd { control += ",\"streamCursor\":\"\(cursor)\"" }
    if isUpToDate { control += ",\"upToDate\":true" }
    if isEnd { control += ",\"streamClosed\":true" }
    var bytes = Data()
    bytes.append(event: "control", id: nextOffset.name, Data((control + "}").utf8))
    return bytes
  }
}

extension Data {
  /// Appends a Server-Sent Event. Each line of its data becomes a field.
  ///
  /// The data follow the name, without a space behind the colon: some clients look for just that.
  fileprivate mutating func append(event: String, id: String, _ data: Data) {
    append(contentsOf: "event: \(event)\n".utf8)
    let breaks = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    // Mostly there is one line: an encoder breaks none if it is not told to.
    let lines =
      breaks.contains(where: data.contains) ? data.split(whereSeparator: breaks.contains) : [data]
    for line in lines {
      append(contentsOf: "data:".utf8)
      // A client takes one space away.
      if line.first == UInt8(ascii: " ") { append(UInt8(ascii: " ")) }
      append(line)
      append(UInt8(ascii: "\n"))
    }
    append(contentsOf: "id: \(id)\n\n".utf8)
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
