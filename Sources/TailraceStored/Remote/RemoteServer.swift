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

  // MARK: Requests

  /// Runs a conversation, unless it is silent for too long.
  ///
  /// - Parameter isIdle: called now and then; returns after which time at most it wants to be called.
  nonisolated(nonsending) func listening<Value: Sendable>(
    whileIdle isIdle: (@Sendable () -> Duration)? = nil,
    _ body: @escaping @Sendable (RemoteEar) async throws -> Value
  ) async throws -> Value {
    let ear = RemoteEar(now)
    return try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body(ear) }
      group.addTask {
        while true {
          let rest = silence - (now() - ear.last)
          guard rest > .zero else { throw RemoteAnswerError.silent(silence) }
          try await clock.sleep(for: min(rest, isIdle?() ?? rest))
        }
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() ?? nil else { throw CancellationError() }
      return value
    }
  }

  func request(
    _ method: String = "GET", offset: String?, limit: Int? = nil, live: String? = nil,
    cursor: String? = nil
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
      method: method, path: path + separator + query.joined(separator: "&"),
      headers: ["Accept": accept])
  }

  private static func encoded(_ value: String) -> String {
    let plain = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return value.addingPercentEncoding(withAllowedCharacters: plain) ?? value
  }

  /// The list's extent; `nil` if the server is no endpoint of ours.
  func extent(_ ear: RemoteEar) async throws -> ListExtent? {
    let response = try await transport(request("HEAD", offset: nil))
    ear.hears()
    try await check(response, isLive: false, ear)
    guard Self.isOurs(response) else { return nil }
    guard let next = response["Stream-Next-Offset"].flatMap(ListOffset.init) else {
      throw RemoteAnswerError.corrupt("the server names no offset")
    }
    let first = response["Stream-First-Offset"].flatMap(ListOffset.init)?.position ?? 0
    return ListExtent(
      identity: next.identity, first: first, count: next.position,
      isEnded: Self.isTrue(response["Stream-Closed"]))
  }

  /// A page of elements, or the answer to a long poll.
  func page(
    from offset: String, limit: Int?, cursor: String?, isLive: Bool, _ ear: RemoteEar
  ) async throws -> RemoteReply<Element> {
    let response = try await transport(
      request(
        offset: offset, limit: limit, live: isLive ? "long-poll" : nil, cursor: cursor))
    ear.hears()
    try await check(response, isLive: isLive, ear)
    var elements: [Element] = []
    if response.status != 204 {
      var bytes: [UInt8] = []
      for try await piece in response.body {
        ear.hears()
        bytes += piece
        if bytes.count > byteLimit { throw tooLarge }
      }
      elements = try decoded(bytes)
    }
    guard let next = response["Stream-Next-Offset"] else {
      throw RemoteAnswerError.corrupt("the server names no next offset")
    }
    return RemoteReply(
      answer: RemoteContents.Answer(
        elements: elements, next: next,
        isUpToDate: response.status == 204 || Self.isTrue(response["Stream-Up-To-Date"]),
        isClosed: Self.isTrue(response["Stream-Closed"]), isOurs: Self.isOurs(response),
        isLive: isLive), cursor: response["Stream-Cursor"])
  }

  /// Reads events.
  ///
  /// - Parameters:
  ///   - opened: called when the response has begun.
  ///   - reply: gets the elements up to an offset. Returns whether there may be more.
  func events(
    from offset: String, cursor: String?, _ ear: RemoteEar, opened: () -> Void,
    reply: (RemoteReply<Element>) throws -> Bool
  ) async throws {
    let response = try await transport(request(offset: offset, live: "sse", cursor: cursor))
    ear.hears()
    try await check(response, isLive: true, ear)
    guard response["Content-Type"]?.lowercased().hasPrefix("text/event-stream") ?? false else {
      throw RemoteAnswerError.unsupported(
        status: response.status, body: "the response has no events")
    }
    opened()
    let isOurs = Self.isOurs(response)
    var parser = EventParser(limit: byteLimit)
    // Elements count when the offset behind them is known.
    var (pending, size) = ([Element](), 0)
    for try await piece in response.body {
      ear.hears()
      let events: [ServerSentEvent]
      do { events = try parser.take(piece) } catch { throw tooLarge }
      for event in events {
        switch event.name {
        case "data":
          size += event.data.count
          if size > byteLimit { throw tooLarge }
          pending += try decoded(event.data)
        case "control":
          let control: RemoteControl
          do {
            control = try JSONDecoder().decode(RemoteControl.self, from: Data(event.data))
          } catch {
            throw RemoteAnswerError.corrupt("a control event cannot be read")
          }
          let answer = RemoteContents.Answer(
            elements: pending, next: control.streamNextOffset,
            isUpToDate: control.upToDate ?? false, isClosed: control.streamClosed ?? false,
            isOurs: isOurs, isLive: true)
          (pending, size) = ([], 0)
          guard
            try reply(
              RemoteReply(
                answer: answer, cursor: control.streamCursor,
                pause: parser.reconnectionTime.map { .milliseconds($0) }))
          else { return }
        default: break
        }
      }
    }
  }

  // MARK: Responses

  private var tooLarge: RemoteAnswerError {
    .remote(.malformed("the server sends more than \(byteLimit) bytes at once"))
  }

  static func isOurs(_ response: RemoteResponse) -> Bool {
    response[ListOffset.field] == ListOffset.form
  }

  private static func isTrue(_ field: String?) -> Bool { field?.lowercased() == "true" }

  private func decoded(_ bytes: [UInt8]) throws(RemoteAnswerError) -> [Element] {
    guard let ranges = JSONArray.elements(of: bytes) else {
      throw .corrupt("the elements are no JSON array")
    }
    do {
      return try bytes.withUnsafeBytes { bytes in
        try ranges.map { range in
          try element.decode(
            UnsafeRawBufferPointer(rebasing: bytes[range]), element.versions.upperBound)
        }
      }
    } catch {
      throw .corrupt("an element is no \(Element.self): \(error)")
    }
  }

  /// - Throws: why a response is no answer.
  private func check(
    _ response: RemoteResponse, isLive: Bool, _ ear: RemoteEar
  ) async throws {
    let status = response.status
    switch status {
    case 200, 204: return
    case 410:
      guard Self.isOurs(response), let next = response["Stream-Next-Offset"] else { break }
      guard let first = ListOffset(next) else { break }
      throw RemoteGone(first: first)
    case 408, 425, 429, 500, 502...599:
      throw RemoteAnswerError.later(
        "status \(status)",
        pause: response["Retry-After"].flatMap(Int.init).map { .seconds(max(0, min($0, 300))) })
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
    throw RemoteAnswerError.remote(.refused(status: status, body: text))
  }
}

/// An endpoint of ours says that an offset is of no element, and where its list begins.
struct RemoteGone: Error {
  let first: ListOffset
}

/// An answer, and what the server wants to hear with the next live request.
struct RemoteReply<Element: Sendable>: Sendable {
  var answer: RemoteContents<Element>.Answer
  var cursor: String?
  /// How long the server wants a client to pause that has lost its connection.
  var pause: Duration?
}

/// The data of a control event.
private struct RemoteControl: Decodable {
  var streamNextOffset: String
  var streamCursor: String?
  var upToDate: Bool?
  var streamClosed: Bool?
}

/// When something was last heard of a connection.
final class RemoteEar: Sendable {
  private let now: @Sendable () -> Duration
  private let time: Locked<Duration>

  init(_ now: @escaping @Sendable () -> Duration) {
    self.now = now
    time = Locked(now())
  }

  var last: Duration { time.withLock { $0 } }

  func hears() {
    let now = now()
    time.withLock { $0 = now }
  }
}
