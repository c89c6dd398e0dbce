import Tailrace
import TailraceSupport
import Foundation
import TailraceTesting

@testable import TailraceStored

/// A way to an endpoint that loses, repeats and delays parts of what is sent, as a test orders it.
final class FaultyTransport: Sendable {
  /// What happens to one response.
  enum Fault: Sendable {
    case none
    /// There is no response.
    case unreachable
    /// A response of another server on the way.
    case status(Int, body: String = "", headers: [String: String] = [:])
    /// The body ends after so many bytes, with an error or as if that were all.
    case cut(after: Int, isError: Bool = true)
    /// Nothing comes after so many bytes.
    case silent(after: Int)
    /// The piece with this number comes twice.
    case twice(piece: Int)
    /// The body comes in pieces of so many bytes.
    case pieces(of: Int)
  }

  struct Lost: Error {}

  private let endpoint: Locked<RemoteTransport>
  private let faults: Locked<@Sendable (_ number: Int, RemoteRequest) -> Fault>
  let requests = Probe<RemoteRequest>()
  /// Connections of events that are open.
  let open = Locked(0)
  let closed = Probe<Void>()

  init(
    _ endpoint: @escaping RemoteTransport,
    _ faults: @escaping @Sendable (_ number: Int, RemoteRequest) -> Fault = { _, _ in .none }
  ) {
    self.endpoint = Locked(endpoint)
    self.faults = Locked(faults)
  }

  func order(_ faults: @escaping @Sendable (_ number: Int, RemoteRequest) -> Fault) {
    self.faults.withLock { $0 = faults }
  }

  func lead(to endpoint: @escaping RemoteTransport) { self.endpoint.withLock { $0 = endpoint } }

  var events: Int { requests.values.count { $0.path.contains("live=sse") } }

  var transport: RemoteTransport {
    { [self] request in
      requests.record(request)
      let fault = faults.withLock { $0 }(requests.count, request)
      switch fault {
      case .unreachable: throw Lost()
      case .status(let status, let body, let headers):
        return RemoteResponse(status: status, headers: headers, body: [Array(body.utf8)])
      default: break
      }
      let response = try await endpoint.withLock { $0 }(request)
      let isEvents = response["Content-Type"] == "text/event-stream"
      if isEvents { open.withLock { $0 += 1 } }
      return RemoteResponse(
        status: response.status, headers: response.headers,
        body: FaultyBody(body: response.body, fault: fault) { [self] in
          guard isEvents else { return }
          open.withLock { $0 -= 1 }
          closed.record(())
        })
    }
  }
}

/// The bytes of a response with a fault.
private struct FaultyBody: AsyncSequence, Sendable {
  let body: RemoteBody
  let fault: FaultyTransport.Fault
  let onEnd: @Sendable () -> Void

  func makeAsyncIterator() -> Iterator {
    Iterator(iterator: body.makeAsyncIterator(), fault: fault, mark: EndMark(onEnd: onEnd))
  }

  final class EndMark: Sendable {
    let onEnd: @Sendable () -> Void
    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
  }

  struct Iterator: AsyncIteratorProtocol {
    var iterator: RemoteBody.Iterator
    let fault: FaultyTransport.Fault
    let mark: EndMark
    var sent = 0
    var pieces = 0
    var rest: [[UInt8]] = []

    mutating func next() async throws -> [UInt8]? { try await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
      if !rest.isEmpty { return rest.removeFirst() }
      if case .silent(let limit) = fault, sent >= limit { try await Gate().waitUntilCancelled() }
      if case .cut(let limit, let isError) = fault, sent >= limit {
        if isError { throw FaultyTransport.Lost() }
        return nil
      }
      guard var piece = try await iterator.next(isolation: actor) else { return nil }
      switch fault {
      case .cut(let limit, _), .silent(let limit): piece = Array(piece.prefix(limit - sent))
      case .twice(let number) where number == pieces: rest = [piece]
      case .pieces(let size) where piece.count > size:
        rest = stride(from: 0, to: piece.count, by: size).map {
          Array(piece[$0..<Swift.min($0 + size, piece.count)])
        }
        piece = rest.removeFirst()
      default: break
      }
      sent += piece.count
      pieces += 1
      return piece
    }
  }
}

/// A clock whose time goes on by pauses only, and by each of them at once.
///
/// A sleep that is longer than any pause is a limit that nothing reaches: it ends by cancellation.
final class PauseClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let time = Locked(Duration.zero)
  private let longest: Duration

  init(longestPause: Duration = .seconds(25)) { longest = longestPause }

  var now: Instant { Instant(offset: time.withLock { $0 }) }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let isPause = time.withLock { time in
      guard deadline.offset - time <= longest else { return false }
      time = max(time, deadline.offset)
      return true
    }
    if !isPause { try await Gate().waitUntilCancelled() }
    try Task.checkCancellation()
  }
}

/// A server of another make: its offsets have no structure, and it tells no identity.
final class ForeignServer: Sendable {
  struct Contents: Sendable {
    var elements: [Int]
    var isClosed = false
    var pageSize = 3
    var hasEvents = true
  }

  let contents: Locked<Contents>

  init(_ elements: [Int], isClosed: Bool = false) {
    contents = Locked(Contents(elements: elements, isClosed: isClosed))
  }

  /// Ascending, but not in even steps.
  private static func name(_ position: Int) -> String {
    "z\(1_000_000_000 + position * position * 3 + position)"
  }

  private static func position(_ offset: String?, _ contents: Contents) -> Int? {
    if offset == nil || offset == "-1" { return 0 }
    if offset == "now" { return contents.elements.count }
    return (0...contents.elements.count).first { name($0) == offset }
  }

  var transport: RemoteTransport {
    { [self] request in
      let items = URLComponents(string: request.path)?.queryItems ?? []
      func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
      let contents = contents.withLock { $0 }
      guard let start = Self.position(value("offset"), contents) else {
        return RemoteResponse(status: 400, headers: [:], body: [Array("no such offset".utf8)])
      }
      let isEvents = value("live") == "sse"
      if isEvents, !contents.hasEvents { return RemoteResponse(status: 501, headers: [:]) }
      let page = contents.elements.dropFirst(start).prefix(isEvents ? .max : contents.pageSize)
      let next = start + page.count
      let isLast = next == contents.elements.count
      let json = Array("[\(page.map(String.init).joined(separator: ","))]".utf8)
      if isEvents {
        var control =
          #"{"streamNextOffset":"\#(Self.name(next))","streamCursor":"1","upToDate":true"#
        if contents.isClosed { control += #","streamClosed":true"# }
        let data = page.isEmpty ? [] : Array("event: data\ndata: ".utf8) + json + Array("\n\n".utf8)
        return RemoteResponse(
          status: 200, headers: ["content-type": "text/event-stream"],
          body: [data, Array("event: control\ndata: \(control)}\n\n".utf8)])
      }
      var headers = ["stream-next-offset": Self.name(next)]
      if isLast { headers["stream-up-to-date"] = "true" }
      if isLast, contents.isClosed { headers["stream-closed"] = "true" }
      return RemoteResponse(status: 200, headers: headers, body: [json])
    }
  }
}

/// A list of a server, for a client whose pauses take no time.
func remote(
  _ transport: @escaping RemoteTransport, patience: Duration? = nil,
  lingering: Duration = .seconds(100), byteLimit: Int = 1 << 20,
  clock: any Clock<Duration> = PauseClock()
) -> RemoteList<Int> {
  RemoteList(
    transport, path: "/list", element: .json, patience: patience, lingering: lingering,
    byteLimit: byteLimit, clock: clock)
}

func remote(_ faulty: FaultyTransport) -> RemoteList<Int> { remote(faulty.transport) }

extension VirtualScheduler {
  /// Goes on in steps, as often as somebody sleeps, while a body runs.
  func advancing<Value: Sendable>(
    by step: Duration, while body: () async throws -> Value
  ) async throws -> Value {
    let steps = Task {
      while !Task.isCancelled {
        await waitForSleepers(1)
        advance(by: step)
      }
    }
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    steps.cancel()
    // For the task of the steps, if it waits.
    let last = Task { try? await clock.sleep(for: step) }
    await steps.value
    last.cancel()
    return try result.get()
  }
}
