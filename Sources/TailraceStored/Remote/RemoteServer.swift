import Foundation
import TailraceLists
import TailraceSupport

/// A server of a list: makes requests, and understands responses. It has no state.
struct RemoteServer<Element: Sendable>: Sendable {
  let transport: RemoteTransport
  let path: String
  let element: ByteCoding<Element>
  /// How long a connection may be silent.
  let silence: Duration
  /// At most how many bytes a page or an event may have.
  let byteLimit: Int
  let clock: any Clock<Duration>
  let now: @Sendable () -> Duration
  /// A random number of 0 to 1.
  let chance: @Sendable () -> Double
  /// The date, for a server that names one.
  var date: @Sendable () -> Date = { Date() }

  // MARK: Requests

  /// Runs a conversation, unless it is silent for too long.
  ///
  /// - Parameter isIdle: called now and then; returns after which time at most it wants to be called.
  nonisolated(nonsending) func listening<Value: Sendable>(
    whileIdle isIdle: (@Sendable () -> Duration)? = nil,
    _ body: @escaping @Sendable (ActivityTimer) async throws -> Value
  ) async throws -> Value {
    let timer = ActivityTimer(now)
    timer.restart()
    return try await timer.run(
      atMost: silence, on: clock, otherwise: RemoteAnswerError.silent(silence), whileIdle: isIdle
    ) { try await body(timer) }
  }

  func request(
    offset: String, limit: Int? = nil, live: String? = nil, cursor: String? = nil
  ) -> RemoteRequest {
    // In the order of their names, for caches.
    let parameters = [
      ("cursor", cursor), ("limit", limit.map(String.init)), ("live", live), ("offset", offset),
    ]
    let query = parameters.compactMap { name, value in
      value.map { "\(name)=\(Self.encoded($0))" }
    }
    let separator = query.isEmpty ? "" : path.contains("?") ? "&" : "?"
    let accept = live == "sse" ? "text/event-stream" : "application/json"
    return RemoteRequest(
      path: path + separator + query.joined(separator: "&"),
      headers: ["Accept": accept])
  }

  private static func encoded(_ value: String) -> String {
    let plain = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return value.addingPercentEncoding(withAllowedCharacters: plain) ?? value
  }

  /// The list's extent; `nil` if the server is no endpoint of ours.
  ///
  /// It is asked for with a GET that no cache keeps: some caches make a GET of every HEAD, and answer from
  /// what they keep.
  func extent(_ timer: ActivityTimer) async throws -> ListExtent? {
    let response = try await transport(request(offset: "now"))
    timer.restart()
    try await check(response, isLive: false, timer)
    let name = try Self.next(response)
    guard Self.isOurs(response) else { return nil }
    guard let next = ListOffset(name) else {
      throw RemoteAnswerError.corrupt("\(name) is no offset")
    }
    let first = response["Stream-First-Offset"].flatMap(ListOffset.init)?.position ?? 0
    return ListExtent(
      identity: next.identity, first: first, count: next.position,
      isEnded: Self.isTrue(response["Stream-Closed"]))
  }

  /// A page of elements, or the answer to a long poll.
  func page(
    from offset: String, limit: Int?, cursor: String?, isLive: Bool, _ timer: ActivityTimer
  ) async throws -> RemoteContents<Element>.Answer {
    let response = try await transport(
      request(
        offset: offset, limit: limit, live: isLive ? "long-poll" : nil, cursor: cursor))
    timer.restart()
    try await check(response, isLive: isLive, timer)
    let next = try Self.next(response)
    var found = Elements()
    if response.status != 204 {
      var bytes: [UInt8] = []
      for try await piece in response.body {
        timer.restart()
        bytes += piece
        if bytes.count > byteLimit { throw tooLarge }
      }
      found = try decoded(bytes)
    }
    return RemoteContents.Answer(
      elements: found.elements, sizes: found.sizes, next: next,
      isUpToDate: response.status == 204 || Self.isTrue(response["Stream-Up-To-Date"]),
      isClosed: Self.isTrue(response["Stream-Closed"]), isOurs: Self.isOurs(response),
      isLive: isLive, cursor: response["Stream-Cursor"])
  }

  /// Reads events.
  ///
  /// - Parameters:
  ///   - opened: called when the response has begun.
  ///   - take: gets the elements up to an offset. Returns whether there may be more.
  func events(
    from offset: String, cursor: String?, _ timer: ActivityTimer, opened: () -> Void,
    take: (RemoteContents<Element>.Answer) throws -> Bool
  ) async throws {
    let response = try await transport(request(offset: offset, live: "sse", cursor: cursor))
    timer.restart()
    try await check(response, isLive: true, timer)
    guard response["Content-Type"]?.lowercased().hasPrefix("text/event-stream") ?? false else {
      // It is of this list, or of somebody else on the way.
      _ = try Self.next(response)
      throw RemoteAnswerError.unsupported(
        status: response.status, body: "the response has no events")
    }
    opened()
    let isOurs = Self.isOurs(response)
    var parser = EventParser(limit: byteLimit)
    // Elements count when the offset behind them is known.
    var (pending, size) = (Elements(), 0)
    for try await piece in response.body {
      timer.restart()
      let events: [ServerSentEvent]
      do { events = try parser.take(piece) } catch { throw tooLarge }
      for event in events {
        switch event.name {
        case "data":
          size += event.data.count
          if size > byteLimit { throw tooLarge }
          let found = try decoded(event.data)
          pending.elements += found.elements
          pending.sizes += found.sizes
        case "control":
          let control: RemoteControl
          do {
            control = try JSONDecoder().decode(RemoteControl.self, from: Data(event.data))
          } catch {
            throw RemoteAnswerError.corrupt("a control event cannot be read")
          }
          let answer = RemoteContents.Answer(
            elements: pending.elements, sizes: pending.sizes, next: control.streamNextOffset,
            isUpToDate: control.upToDate ?? false, isClosed: control.streamClosed ?? false,
            isOurs: isOurs, isLive: true, cursor: control.streamCursor,
            pause: parser.reconnectionTime.map { .milliseconds($0) })
          (pending, size) = (Elements(), 0)
          guard try take(answer) else { return }
        default: break
        }
      }
    }
  }

  // MARK: Responses

  private var tooLarge: RemoteAnswerError {
    .final(.remote(.malformed("the server sends more than \(byteLimit) bytes at once")))
  }

  static func isOurs(_ response: RemoteResponse) -> Bool {
    response[ListOffset.field] == ListOffset.form
  }

  private static func isTrue(_ field: String?) -> Bool { field?.lowercased() == "true" }

  /// The offset behind a response. Every server of the protocol names it, and nobody else does.
  private static func next(_ response: RemoteResponse) throws(RemoteAnswerError) -> String {
    guard let next = response["Stream-Next-Offset"] else {
      throw .corrupt("the server names no next offset: it may be another one on the way")
    }
    return next
  }

  /// Elements, and how many bytes each has.
  private struct Elements {
    var elements: [Element] = []
    var sizes: [Int] = []
  }

  private func decoded(_ bytes: [UInt8]) throws(RemoteAnswerError) -> Elements {
    guard let ranges = JSONArray.elements(of: bytes) else {
      throw .corrupt("the elements are no JSON array")
    }
    do {
      let elements = try bytes.withUnsafeBytes { bytes in
        try ranges.map { range in
          try element.decode(
            UnsafeRawBufferPointer(rebasing: bytes[range]), element.versions.upperBound)
        }
      }
      return Elements(elements: elements, sizes: ranges.map(\.count))
    } catch {
      // The array is whole: to ask again would bring the same.
      throw .final(.remote(.malformed("an element is no \(Element.self): \(error)")))
    }
  }

  /// - Throws: why a response is no answer.
  private func check(
    _ response: RemoteResponse, isLive: Bool, _ timer: ActivityTimer
  ) async throws {
    let status = response.status
    switch status {
    case 200, 204: return
    case 410:
      guard Self.isOurs(response), let next = response["Stream-Next-Offset"] else { break }
      guard let first = ListOffset(next) else { break }
      throw RemoteGone(first: first)
    case 408, 425, 429, 500, 502...599:
      let now = response["Date"].flatMap(RetryAfter.date) ?? date()
      throw RemoteAnswerError.later(
        "status \(status)",
        retryAfter: response["Retry-After"].flatMap { RetryAfter.pause($0, at: now) })
    default: break
    }
    var body: [UInt8] = []
    // The status says more than a body that does not come.
    do {
      for try await piece in response.body {
        body += piece
        if body.count > 200 { break }
      }
    } catch {}
    let text = String(decoding: body.prefix(200), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    if isLive, [400, 405, 406, 415, 501].contains(status) {
      throw RemoteAnswerError.unsupported(status: status, body: text)
    }
    throw RemoteAnswerError.final(.remote(.refused(status: status, body: text)))
  }
}

/// An endpoint of ours says that an offset is of no element, and where its list begins.
struct RemoteGone: Error {
  let first: ListOffset
}

/// The data of a control event.
private struct RemoteControl: Decodable {
  var streamNextOffset: String
  var streamCursor: String?
  var upToDate: Bool?
  var streamClosed: Bool?
}
