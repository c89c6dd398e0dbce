public import Foundation
import TailraceLists
import TailraceSupport

/// Serves a list over HTTP: a request's values in, a response's values out.
///
/// It works with every server, because it knows none:
///
/// ```swift
/// let prices = MemoryStore<Int, Int>([17, 18, 21])
/// let endpoint = ListEndpoint(prices, id: "prices")
/// let response = try await endpoint.response(to: ListRequest(offset: "-1"))
/// response.status   // 200; the body is [17,18,21]
/// let identity = try await prices.extent().identity ?? ""
/// response.headers["Stream-Next-Offset"] == "\(identity)_0000000000000003"   // true
/// ```
///
/// | request | response |
/// |---|---|
/// | `GET ?offset=-1` | the first elements, as a JSON array, and the offset where to read on |
/// | `GET ?offset=OFFSET` | the elements from there on; 304 if the client has them |
/// | `GET ?offset=…&live=long-poll` | the same; if there are none, it waits; then 204 |
/// | `GET ?offset=…&live=sse`, or `Accept: text/event-stream` | Server-Sent Events |
/// | `HEAD` | where the list begins and ends |
///
/// This is the read path of the *durable streams* protocol, 1.0, in JSON mode, for clients that
/// speak it; `RemoteList` is one. Events are `data` (a JSON array) and `control` (a JSON object with
/// `streamNextOffset`, `upToDate`, `streamClosed`). A browser's `EventSource` names its position in
/// `Last-Event-ID` when it connects again. When the list has ended, it is told not to.
///
/// An offset is of one list: it has the list's identity. An offset of a list that was there before, of
/// elements that were discarded, or beyond the end is answered with 410, which names the first offset. An
/// unknown offset, limit or mode is refused with 400, and another method with 405. `limit=100` asks for
/// pages of at most a hundred elements. `If-Match`, the conditions with dates, and ranges are ignored: an
/// offset and `If-None-Match` say what a client has.
///
/// Responses that wait for the next elements share one reader: an element is read and encoded once, for
/// whatever number of clients. They make a list compute one element at a time; other responses compute
/// nothing. See <doc:ListsOverHTTP>.
///
/// - Isolation: any number of requests at a time. A response that waits blocks no thread. The events
///   are read as the server sends them, so a slow client holds one page.
/// - Failure: errors of the source but `trimmed`, for a server to answer with 500. An error after
///   some elements ends the page; the next request gets it.
public struct ListEndpoint<Source: ListSource>: Sendable {
  /// The source, its encoding, and the clock, for all responses.
  let tail: TailReader<Source>
  let id: String
  private let pageLimit: Int
  let pageBytes: Int
  let isShared: Bool
  private let origins: AllowedOrigins
  let patience: Duration
  let heartbeat: Duration
  let eventsEnd: Duration
  let sendPatience: Duration
  /// The date, for cursors.
  var date: @Sendable () -> Date = { Date() }
  /// A random number of 0 to 1, so that clients do not all come again at the same time.
  var chance: @Sendable () -> Double = { .random(in: 0...1) }

  /// Creates an endpoint whose elements are encoded by a function.
  ///
  /// - Parameters:
  ///   - source: the list: a store, or `LazyList.source`.
  ///   - id: the list's name in entity tags. They stand for bytes: if elements get other bytes, such as by a
  ///     new field, take another name. Otherwise clients that have the former bytes are answered with 304.
  ///   - pageLimit: at most how many elements a page has.
  ///   - pageBytes: a page has no more elements once it has so many bytes.
  ///   - isShared: whether caches between server and client may keep pages.
  ///   - origins: the other sites whose pages may read the list in a browser.
  ///   - patience: how long a long poll waits.
  ///   - heartbeat: after how long a silence a response of events says that it is alive.
  ///   - eventsEnd: after how long a response of events ends, or up to a tenth earlier. Clients connect
  ///     again.
  ///   - sendPatience: how long a client of `ListEvents.send` may not read.
  ///   - clock: measures these times.
  ///   - encode: returns an element as JSON: the same bytes each time.
  public init(
    _ source: Source, id: String = "list", pageLimit: Int = 1000, pageBytes: Int = 1 << 20,
    isShared: Bool = false, origins: AllowedOrigins = .sameOrigin,
    patience: Duration = .seconds(25),
    heartbeat: Duration = .seconds(15), eventsEnd: Duration = .seconds(55),
    sendPatience: Duration = .seconds(30),
    clock: any Clock<Duration> = ContinuousClock(),
    encode: @escaping @Sendable (Source.Element) throws -> Data
  ) {
    guard pageLimit > 0, pageBytes > 0 else {
      fatalError("ListEndpoint takes a pageLimit and pageBytes of 1 or more")
    }
    guard id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.separators.contains($0) }) else {
      fatalError(
        "ListEndpoint takes an id of visible ASCII without quotation marks and commas, not \(id)")
    }
    guard heartbeat > .zero else { fatalError("ListEndpoint takes a heartbeat of more than zero") }
    tail = TailReader(
      source, pageLimit: pageLimit, pageBytes: pageBytes, clock: clock, encode: encode)
    self.id = id
    self.pageLimit = pageLimit
    self.pageBytes = pageBytes
    self.isShared = isShared
    self.origins = origins
    self.patience = patience
    self.heartbeat = heartbeat
    self.eventsEnd = eventsEnd
    self.sendPatience = sendPatience
  }

  /// They separate entity tags in a header field.
  private static var separators: [UInt8] { [UInt8(ascii: "\""), UInt8(ascii: ",")] }

  /// Returns the response to a request.
  ///
  /// - Cancellation: throws `CancellationError` when the task is cancelled while it waits.
  public nonisolated(nonsending) func response(
    to request: ListRequest
  ) async throws -> ListResponse {
    if let preflight = origins.preflight(request) { return preflight }
    var response: ListResponse
    do {
      response = try await answer(to: request)
    } catch let refusal as ListRefusal {
      response = refusal.response
      if request.method == ListMethod.head.rawValue { response.body = .empty }
    }
    return origins.answering(request, response)
  }

  private nonisolated(nonsending) func answer(
    to request: ListRequest
  ) async throws -> ListResponse {
    let query = try ListQuery(request, pageLimit: pageLimit)
    return switch (query.method, query.mode) {
    case (.head, _): try await metadata()
    case (.get, .catchUp): try await catchUp(query, request)
    case (.get, .longPoll): try await longPoll(query, request)
    case (.get, .events(let reconnects)):
      try await events(query, request, reconnects: reconnects)
    }
  }
}

extension ListEndpoint where Source.Element: Encodable {
  /// Creates an endpoint that encodes its elements by `JSONEncoder`, with sorted keys.
  ///
  /// - Parameters:
  ///   - source: the list: a store, or `LazyList.source`.
  ///   - id: the list's name in entity tags. They stand for bytes: if elements get other bytes, such as by a
  ///     new field, take another name. Otherwise clients that have the former bytes are answered with 304.
  ///   - pageLimit: at most how many elements a page has.
  ///   - pageBytes: a page has no more elements once it has so many bytes.
  ///   - isShared: whether caches between server and client may keep pages.
  ///   - origins: the other sites whose pages may read the list in a browser.
  ///   - patience: how long a long poll waits.
  ///   - heartbeat: after how long a silence a response of events says that it is alive.
  ///   - eventsEnd: after how long a response of events ends, or up to a tenth earlier. Clients connect
  ///     again.
  ///   - sendPatience: how long a client of `ListEvents.send` may not read.
  ///   - clock: measures these times.
  public init(
    _ source: Source, id: String = "list", pageLimit: Int = 1000, pageBytes: Int = 1 << 20,
    isShared: Bool = false, origins: AllowedOrigins = .sameOrigin,
    patience: Duration = .seconds(25),
    heartbeat: Duration = .seconds(15), eventsEnd: Duration = .seconds(55),
    sendPatience: Duration = .seconds(30),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    let encoder = JSONEncoder()
    // An element has the same bytes each time: an entity tag stands for them.
    encoder.outputFormatting = .sortedKeys
    self.init(
      source, id: id, pageLimit: pageLimit, pageBytes: pageBytes, isShared: isShared,
      origins: origins, patience: patience, heartbeat: heartbeat, eventsEnd: eventsEnd,
      sendPatience: sendPatience,
      clock: clock
    ) { try encoder.encode($0) }
  }
}
