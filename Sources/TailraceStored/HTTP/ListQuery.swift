import Foundation

/// The meaning of a request: a part of a list, and whether to wait for more.
struct ListQuery: Equatable {
  enum Mode: Equatable {
    /// Only what is stored.
    case catchUp
    /// The same; if there is nothing, the first elements that come.
    case longPoll
    /// All that is stored, and all that comes. `reconnects` if a browser connects again by itself.
    case events(reconnects: Bool)
  }

  enum Start: Equatable {
    case first
    case end
    case position(Int)
  }

  var method: ListMethod
  var mode: Mode
  var start: Start
  var limit: Int

  /// Reads a request.
  ///
  /// - Throws: a refusal, with its status.
  init(_ request: ListRequest, pageLimit: Int) throws(ListRefusal) {
    guard let method = ListMethod(rawValue: request.method) else { throw .method }
    self.method = method

    let wantsEvents = request.accept.map(Self.namesEventStream) ?? false
    mode =
      switch request.live {
      case nil: wantsEvents ? .events(reconnects: request.lastEventID != nil) : .catchUp
      case "long-poll": .longPoll
      case "sse": .events(reconnects: request.lastEventID != nil)
      case let other?: throw .parameter("live is long-poll or sse, not \(other)")
      }

    // A browser that connects again repeats the address of its first request.
    var offset = request.offset
    if case .events = mode, let last = request.lastEventID, !last.isEmpty { offset = last }
    if offset == nil, request.live != nil { throw .parameter("a live request names its offset") }
    start = try Self.start(offset ?? "-1")
    limit = try Self.limit(request.limit, atMost: pageLimit)
  }

  private static func namesEventStream(_ accept: String) -> Bool {
    accept.split(separator: ",").contains { type in
      type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == "text/event-stream"
    }
  }

  private static func start(_ offset: String) throws(ListRefusal) -> Start {
    switch offset {
    case "-1": return .first
    case "now": return .end
    default:
      guard let position = ListOffset.position(offset) else {
        throw .parameter("there is no offset \(offset)")
      }
      return .position(position)
    }
  }

  private static func limit(_ limit: String?, atMost most: Int) throws(ListRefusal) -> Int {
    guard let limit else { return most }
    guard !limit.isEmpty, limit.utf8.allSatisfy(ListOffset.isDigit) else {
      throw .parameter("a limit is a number of elements, not \(limit)")
    }
    // Too large for an Int is too large for a page, too.
    let number = Int(limit) ?? .max
    guard number > 0 else { throw .parameter("a limit is 1 or more") }
    return min(number, most)
  }
}

/// A method that an endpoint answers.
enum ListMethod: String {
  case get = "GET"
  case head = "HEAD"
}

/// The names of positions: strings whose order is that of the positions.
enum ListOffset {
  static let digits = 16

  static func name(_ position: Int) -> String {
    let number = String(position)
    return String(repeating: "0", count: max(0, digits - number.utf8.count)) + number
  }

  static func position(_ name: String) -> Int? {
    guard name.utf8.count == digits, name.utf8.allSatisfy(isDigit) else { return nil }
    return Int(name)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte }
}

/// A reason to refuse a request.
enum ListRefusal: Error, Equatable {
  case method
  case parameter(String)
  /// The elements before `first` were discarded.
  case trimmed(first: Int)

  var response: ListResponse {
    var headers = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]
    let (status, text): (Int, String)
    switch self {
    case .method:
      (status, text) = (405, "the list can be read with GET and HEAD")
      headers["Allow"] = "GET, HEAD"
    case .parameter(let reason):
      (status, text) = (400, reason)
    case .trimmed(let first):
      (status, text) = (410, "the elements before offset \(ListOffset.name(first)) were discarded")
      headers["Stream-Next-Offset"] = ListOffset.name(first)
    }
    return ListResponse(status, headers, .data(Data((text + "\n").utf8)))
  }
}
