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
    case offset(ListOffset)
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

    let wantsEvents = request.accept.map(Self.wantsEvents) ?? false
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

  /// Whether a header field `Accept` wants events: it names them, and JSON no more than them.
  private static func wantsEvents(_ accept: String) -> Bool {
    let types = accept.lowercased().split(separator: ",").map {
      part -> (name: String, weight: Double) in
      let fields = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let weight = fields.dropFirst().first { $0.hasPrefix("q=") }.map {
        Double($0.dropFirst(2)) ?? 0
      }
      return (fields.first ?? "", weight ?? 1)
    }
    func weight(_ name: String) -> Double? { types.first { $0.name == name }?.weight }
    guard let events = weight("text/event-stream"), events > 0 else { return false }
    return events >= weight("application/json") ?? 0
  }

  private static func start(_ offset: String) throws(ListRefusal) -> Start {
    switch offset {
    case ListOffset.beginning: return .first
    case "now": return .end
    default:
      guard let offset = ListOffset(offset) else {
        throw .parameter("there is no offset \(offset)")
      }
      return .offset(offset)
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

/// A reason to refuse a request.
enum ListRefusal: Error, Equatable {
  case method
  case parameter(String)
  /// The offset is of no element of the list: why, and where the list begins.
  case gone(Absence, first: ListOffset)

  enum Absence: Equatable {
    /// It was discarded.
    case trimmed
    /// The offset is of another list.
    case otherList
    /// It is beyond the end.
    case beyond
  }

  var response: ListResponse {
    var headers = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]
    let (status, text): (Int, String)
    switch self {
    case .method:
      (status, text) = (405, "the list can be read with GET and HEAD")
      headers["Allow"] = "GET, HEAD"
    case .parameter(let reason):
      (status, text) = (400, reason)
    case .gone(let absence, let first):
      let why =
        switch absence {
        case .trimmed: "the elements before offset \(first.name) were discarded"
        case .otherList: "the offset is of another list than this one"
        case .beyond: "the offset is beyond the end of the list"
        }
      (status, text) = (410, "\(why): read on from offset \(first.name), or from -1")
      headers["Stream-Next-Offset"] = first.name
    }
    return ListResponse(status, headers, .data(Data((text + "\n").utf8)))
  }
}
