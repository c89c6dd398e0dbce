import Foundation
import TailraceLists
import TailraceSupport

// The responses of an endpoint, by the mode of the request.
extension ListEndpoint {
  nonisolated(nonsending) func metadata() async throws -> ListResponse {
    let extent = try await extent()
    var headers = [
      "Stream-Next-Offset": ListOffset(extent.identity, extent.count).name,
      "Stream-First-Offset": ListOffset(extent.identity, extent.first).name,
      "Content-Type": "application/json", "Cache-Control": "no-store",
    ]
    if extent.isEnded { headers["Stream-Closed"] = "true" }
    return ListResponse(200, headers, .empty)
  }

  nonisolated(nonsending) func catchUp(
    _ query: ListQuery, _ request: ListRequest
  ) async throws -> ListResponse {
    let page = try await page(from: query.start, query.limit)
    let tag = page.tag(id)
    // The end moves: a tag of it would be true only once.
    if query.start != .end, request.ifNoneMatch.map({ Self.matches($0, tag) }) ?? false {
      return ListResponse(304, headers(page, query, request), .empty)
    }
    return pageResponse(page, query, request)
  }

  nonisolated(nonsending) func longPoll(
    _ query: ListQuery, _ request: ListRequest
  ) async throws -> ListResponse {
    let end = tail.now() + patience
    var page = try await page(from: query.start, query.limit)
    while page.count == 0, !page.isEnd, tail.now() < end {
      let outcome = try await wait(than: page.nextOffset, until: end)
      if case .timedOut = outcome { break }
      page = try await self.page(behind: page.nextOffset, query.limit)
    }
    if page.count > 0 { return pageResponse(page, query, request) }
    return nothing(page, request)
  }

  nonisolated(nonsending) func events(
    _ query: ListQuery, _ request: ListRequest, reconnects: Bool
  ) async throws -> ListResponse {
    // Read before the status is sent, for the errors that have one.
    let page = try await page(from: query.start, query.limit)
    // The one status that a browser takes for an answer: it does not connect again.
    if reconnects, page.isEnd, page.count == 0 { return nothing(page, request) }
    let (tail, date) = (tail, date)
    let end = tail.now() + eventsEnd * (0.9 + chance() / 10)
    let first = ListEventsState(page, retry: 500 + Int(1000 * chance()))
    let events = ListEvents(
      first: first, sendPatience: sendPatience, clock: tail.clock, now: tail.now
    ) { state in
      while true {
        func cursor() -> String { StreamCursor.value(at: date(), after: request.cursor) }
        switch state.next(isOverdue: tail.now() >= end) {
        case .send(let page): return state.opening + tail.events(page, cursor: cursor())
        case .sendComment: return Data(":\n\n".utf8)
        case .sendControl(let page): return page.control(cursor: cursor())
        case .read(let offset):
          do {
            state.didRead(try await self.page(behind: offset, query.limit))
          } catch is ListRefusal {
            state.didChange()
          }
        case .wait(let offset):
          switch try await wait(than: offset, until: min(tail.now() + heartbeat, end)) {
          case .timedOut: state.didPause()
          case .changed: state.didChange()
          case .more: state.didRead(try await self.page(behind: offset, query.limit))
          }
        case .end: return nil
        }
      }
    }
    return ListResponse(
      200,
      [
        "Content-Type": "text/event-stream",
        // A proxy that compresses, or waits until a buffer is full, would hold events back.
        "Cache-Control": "no-cache, no-store, no-transform", "X-Accel-Buffering": "no",
      ], .events(events))
  }

  /// The elements behind those that the client has: shared, if the response has waited for them.
  private nonisolated(nonsending) func page(
    behind offset: ListOffset, _ limit: Int
  ) async throws -> EncodedPage {
    if let page = tail.page(offset.identity, from: offset.position, limit) { return page }
    return try await page(from: .offset(offset), limit)
  }

  private enum News {
    case more
    case changed
    case timedOut
  }

  private nonisolated(nonsending) func wait(
    than offset: ListOffset, until deadline: Duration
  ) async throws -> News {
    switch await tail.wait(offset.identity, than: offset.position, until: deadline) {
    case .more: return .more
    case .changed: return .changed
    case .timedOut: return .timedOut
    case .failed(let error): throw error
    case .cancelled: throw CancellationError()
    }
  }

  private func pageResponse(
    _ page: EncodedPage, _ query: ListQuery, _ request: ListRequest
  ) -> ListResponse {
    var headers = headers(page, query, request)
    headers["Content-Type"] = "application/json"
    return ListResponse(200, headers, .data(page.json))
  }

  /// Nothing has come, and where the list ends.
  private func nothing(_ page: EncodedPage, _ request: ListRequest) -> ListResponse {
    var headers = page.headers
    headers["Stream-Cursor"] = StreamCursor.value(at: date(), after: request.cursor)
    headers["Cache-Control"] = "no-store"
    return ListResponse(204, headers, .empty)
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
    // A page at the end grows; the others stay as they are. An address without an identity is one of
    // whatever list is there.
    let isOfOneList = query.start != .first && page.identity != nil
    let grows = page.isUpToDate && !page.isEnd
    headers["Cache-Control"] =
      isOfOneList && !grows
      ? "\(isShared ? "public" : "private"), max-age=60, stale-while-revalidate=300"
      : isShared ? "no-cache" : "private, no-cache"
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
