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
/// response.headers["Stream-Next-Offset"]   // "0000000000000003"
/// ```
///
/// | request | response |
/// |---|---|
/// | `GET ?offset=-1` | the first elements, as a JSON array, and where to read on |
/// | `GET ?offset=0000000000000100` | the elements from there on; 304 if the client has them |
/// | `GET ?offset=…&live=long-poll` | the same; if there are none, it waits; then 204 |
/// | `GET ?offset=…&live=sse`, or `Accept: text/event-stream` | Server-Sent Events |
/// | `HEAD` | where the list ends |
///
/// This is the read path of the *durable streams* protocol, 1.0, in JSON mode, for clients that
/// speak it. A browser's `EventSource` needs nothing else: it gets events `data` (a JSON array) and
/// `control` (a JSON object with `streamNextOffset`, `upToDate`, `streamClosed`), and names its
/// position in `Last-Event-ID` when it connects again. When the list has ended, it is told not to.
///
/// `limit=100` asks for pages of at most a hundred elements. An unknown offset, limit or mode is
/// refused with 400, and another method with 405. If elements were discarded
/// (`ListStoreError.trimmed`), an offset before them is refused with 410, which names the first
/// offset kept; `-1` begins there.
///
/// - Isolation: any number of requests at a time. A response that waits blocks no thread. The events
///   are read as the server sends them, so a slow client holds one page.
/// - Failure: errors of the source but `trimmed`, for a server to answer with 500. An error after
///   some elements ends the page; the next request gets it.
public struct ListEndpoint<Source: ListSource>: Sendable {
  let source: Source
  private let id: String
  private let pageLimit: Int
  let pageBytes: Int
  private let isShared: Bool
  private let patience: Duration
  private let eventsEnd: Duration
  let clock: any Clock<Duration>
  /// The time since the endpoint was made.
  private let now: @Sendable () -> Duration
  let encode: @Sendable (Source.Element) throws -> Data
  /// The date, for cursors.
  var date: @Sendable () -> Date = { Date() }

  /// Creates an endpoint whose elements are encoded by a function.
  ///
  /// - Parameters:
  ///   - source: the list: a store, or `LazyList.source`.
  ///   - id: the list's name in entity tags. Change it if the address serves another list.
  ///   - pageLimit: at most how many elements a page has.
  ///   - pageBytes: a page has no more elements once it has so many bytes.
  ///   - isShared: whether caches between server and client may keep pages.
  ///   - patience: how long a long poll waits.
  ///   - eventsEnd: after how long a response of events ends. Clients connect again.
  ///   - clock: measures the last two.
  ///   - encode: returns an element as JSON: the same bytes each time.
  public init(
    _ source: Source, id: String = "list", pageLimit: Int = 1000, pageBytes: Int = 1 << 20,
    isShared: Bool = false, patience: Duration = .seconds(25), eventsEnd: Duration = .seconds(60),
    clock: any Clock<Duration> = ContinuousClock(),
    encode: @escaping @Sendable (Source.Element) throws -> Data
  ) {
    guard pageLimit > 0, pageBytes > 0 else {
      fatalError("ListEndpoint takes a pageLimit and pageBytes of 1 or more")
    }
    guard id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }) else {
      fatalError("ListEndpoint takes an id of visible ASCII without quotation marks, not \(id)")
    }
    self.source = source
    self.id = id
    self.pageLimit = pageLimit
    self.pageBytes = pageBytes
    self.isShared = isShared
    self.patience = patience
    self.eventsEnd = eventsEnd
    self.clock = clock
    now = timeFromNow(on: clock)
    self.encode = encode
  }

  /// Returns the response to a request.
  ///
  /// - Cancellation: throws `CancellationError` when the task is cancelled while it waits.
  public nonisolated(nonsending) func response(
    to request: ListRequest
  ) async throws -> ListResponse {
    let refusal: ListRefusal
    do {
      let query = try ListQuery(request, pageLimit: pageLimit)
      switch (query.method, query.mode) {
      case (.head, _): return try await metadata()
      case (.get, .catchUp): return try await catchUp(query, request)
      case (.get, .longPoll): return try await longPoll(query, request)
      case (.get, .events(let reconnects)):
        return try await events(query, request, reconnects: reconnects)
      }
    } catch let found as ListRefusal {
      refusal = found
    } catch ListStoreError.trimmed(let first) {
      refusal = .trimmed(first: first)
    }
    var response = refusal.response
    if request.method == ListMethod.head.rawValue { response.body = .none }
    return response
  }
}

extension ListEndpoint where Source.Element: Encodable {
  /// Creates an endpoint that encodes its elements by `JSONEncoder`, with sorted keys.
  ///
  /// - Parameters:
  ///   - source: the list: a store, or `LazyList.source`.
  ///   - id: the list's name in entity tags. Change it if the address serves another list.
  ///   - pageLimit: at most how many elements a page has.
  ///   - pageBytes: a page has no more elements once it has so many bytes.
  ///   - isShared: whether caches between server and client may keep pages.
  ///   - patience: how long a long poll waits.
  ///   - eventsEnd: after how long a response of events ends. Clients connect again.
  ///   - clock: measures the last two.
  public init(
    _ source: Source, id: String = "list", pageLimit: Int = 1000, pageBytes: Int = 1 << 20,
    isShared: Bool = false, patience: Duration = .seconds(25), eventsEnd: Duration = .seconds(60),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    let encoder = JSONEncoder()
    // An element has the same bytes each time: an entity tag stands for them.
    encoder.outputFormatting = .sortedKeys
    self.init(
      source, id: id, pageLimit: pageLimit, pageBytes: pageBytes, isShared: isShared,
      patience: patience, eventsEnd: eventsEnd, clock: clock
    ) { try encoder.encode($0) }
  }
}

// MARK: Responses

extension ListEndpoint {
  private nonisolated(nonsending) func metadata() async throws -> ListResponse {
    let end = try await end()
    var headers = end.headers
    headers["Stream-Up-To-Date"] = nil
    headers["Content-Type"] = "application/json"
    headers["Cache-Control"] = "no-store"
    return ListResponse(200, headers, .none)
  }

  private nonisolated(nonsending) func catchUp(
    _ query: ListQuery, _ request: ListRequest
  ) async throws -> ListResponse {
    let page = try await firstPage(query)
    let tag = page.tag(id)
    // The end moves: a tag of it would be true only once.
    if query.start != .end, request.ifNoneMatch.map({ Self.matches($0, tag) }) ?? false {
      return ListResponse(304, headers(page, query, request), .none)
    }
    return pageResponse(page, query, request)
  }

  private nonisolated(nonsending) func longPoll(
    _ query: ListQuery, _ request: ListRequest
  ) async throws -> ListResponse {
    let start = now()
    var page = try await firstPage(query)
    while page.count == 0, !page.isEnd {
      let isOver = try await !waitForMore(than: page.next, atMost: start + patience - now())
      if isOver { break }
      page = try await self.page(from: page.next, query.limit)
    }
    if page.count > 0 { return pageResponse(page, query, request) }
    var headers = page.headers
    headers["Stream-Cursor"] = StreamCursor.value(at: date(), after: request.cursor)
    headers["Cache-Control"] = "no-store"
    return ListResponse(204, headers, .none)
  }

  private nonisolated(nonsending) func events(
    _ query: ListQuery, _ request: ListRequest, reconnects: Bool
  ) async throws -> ListResponse {
    // Read before the status is sent, for the errors that have one.
    let page = try await firstPage(query)
    if reconnects, page.isEnd, page.count == 0 {
      // The one status that a browser takes for an answer: it does not connect again.
      return ListResponse(204, page.headers, .none)
    }
    let end = now() + eventsEnd
    let events = ListEvents(first: ListEventsState(page)) { state in
      while true {
        switch state.next(isOverdue: now() >= end) {
        case .send(let page):
          return state.opening
            + page.events(cursor: StreamCursor.value(at: date(), after: request.cursor))
        case .read(let position):
          state.didRead(try await self.page(from: position, query.limit))
        case .wait(let position):
          let mayHaveMore = try await waitForMore(
            than: position, atMost: end - now())
          if mayHaveMore { state.didRead(try await self.page(from: position, query.limit)) }
        case .end:
          return nil
        }
      }
    }
    return ListResponse(
      200, ["Content-Type": "text/event-stream", "Cache-Control": "no-store"], .events(events))
  }

  private func pageResponse(
    _ page: EncodedPage, _ query: ListQuery, _ request: ListRequest
  ) -> ListResponse {
    var headers = headers(page, query, request)
    headers["Content-Type"] = "application/json"
    return ListResponse(200, headers, .data(page.json))
  }

  private func headers(
    _ page: EncodedPage, _ query: ListQuery, _ request: ListRequest
  ) -> [String: String] {
    var headers = page.headers
    headers["Stream-Cursor"] = StreamCursor.value(at: date(), after: request.cursor)
    if query.start == .end {
      headers["Cache-Control"] = "no-store"
      return headers
    }
    headers["ETag"] = page.tag(id)
    // A page at the end grows; the others stay as they are.
    headers["Cache-Control"] =
      page.isUpToDate && !page.isEnd
      ? "no-cache"
      : "\(isShared ? "public" : "private"), max-age=60, stale-while-revalidate=300"
    return headers
  }

  /// Whether a header field `If-None-Match` names a tag.
  private static func matches(_ field: String, _ tag: String) -> Bool {
    field.split(separator: ",").contains { part in
      let candidate = part.trimmingCharacters(in: .whitespaces)
      return candidate == "*" || candidate == tag || candidate == "W/" + tag
    }
  }
}
