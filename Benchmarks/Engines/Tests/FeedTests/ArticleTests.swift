import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdLists
import Tailrace
import TailraceFoundation
import TailraceStored
import TailraceTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transports of the article *Lists over HTTP*: the same text, compiled, and used.
@Suite("Transports of the article", .serialized, .timeLimit(.minutes(2)))
struct ArticleTests {
  // begin AsyncHTTPClient
  private static func asyncHTTPClient(_ server: String) -> RemoteTransport {
    let transport: RemoteTransport = { request in
      var message = HTTPClientRequest(url: server + request.path)
      message.method = .RAW(value: request.method)
      for (name, value) in request.headers { message.headers.add(name: name, value: value) }
      let response = try await HTTPClient.shared.execute(message, timeout: .seconds(60))
      return RemoteResponse(
        status: Int(response.status.code),
        headers: response.headers.map { (key: $0.name, value: $0.value) },
        body: response.body.map { Array($0.readableBytesView) })
    }
    return transport
  }
  // end

  // begin URLSession
  private static func urlSession(_ server: String) -> RemoteTransport {
    let transport: RemoteTransport = { request in
      var message = URLRequest(url: URL(string: server + request.path)!)
      message.httpMethod = request.method
      message.allHTTPHeaderFields = request.headers
      message.cachePolicy = .reloadIgnoringLocalCacheData
      let (bytes, response) = try await URLSession.shared.bytes(for: message)
      guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      return RemoteResponse(
        status: response.statusCode,
        headers: response.allHeaderFields.map { (key: "\($0.key)", value: "\($0.value)") },
        body: bytes.map { CollectionOfOne($0) })
    }
    return transport
  }
  // end

  @Test("each has the article's text", arguments: ["AsyncHTTPClient", "URLSession"])
  func text(_ library: String) throws {
    func lines(_ text: some StringProtocol) -> [String] {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let article = try String(
      contentsOf: tests.appending(
        path: "../../../../Sources/TailraceStored/TailraceStored.docc/ListsOverHTTP.md"),
      encoding: .utf8)
    let call = library == "URLSession" ? "URLSession.shared" : "HTTPClient.shared"
    let block = try #require(
      article.components(separatedBy: "```swift\n").dropFirst()
        .map { $0.components(separatedBy: "```")[0] }
        .first { $0.contains(call) })
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let function = source.components(separatedBy: "// begin \(library)\n")[1]
      .components(separatedBy: "// end\n")[0]
    // Without the function around it.
    let compiled = lines(function).dropFirst().dropLast(3)
    #expect(Array(compiled) == lines(block.replacing("\"https://example.com\"", with: "server")))
  }

  @Test(
    "each reads a list that grows, as events and as long polls",
    arguments: ["AsyncHTTPClient", "URLSession"])
  func reading(_ library: String) async throws {
    let store = MemoryStore<Int, Int>(Array(0..<100))
    let router = Router()
    router.list("list", ListEndpoint(store, patience: .seconds(1)))
    _ = try await store.acquireLease()
    try await withServer(router) { port in
      let server = "http://127.0.0.1:\(port)"
      let transport =
        library == "URLSession" ? Self.urlSession(server) : Self.asyncHTTPClient(server)
      let list = LazyList(
        reading: RemoteList(transport, path: "/list", element: .json as ByteCoding<Int>))
      #expect(try await list.prefix(100).array() == Array(0..<100))
      for count in 100..<110 {
        async let element = list.element(at: count)
        try await store.append(ListCommit([count], state: count, isEnd: count == 109), at: count)
        #expect(try await element == count)
      }
      #expect(try await list.count() == 110)
    }
  }
}

#if canImport(FoundationNetworking)
  extension URLSession {
    /// What Foundation has on Apple's platforms alone: a response whose bytes come as they arrive.
    fileprivate func bytes(
      for request: URLRequest
    ) async throws -> (AsyncThrowingStream<UInt8, any Error>, URLResponse) {
      let (bytes, input) = AsyncThrowingStream<UInt8, any Error>.makeStream()
      let response = try await withCheckedThrowingContinuation { continuation in
        let session = URLSession(
          configuration: .ephemeral, delegate: Arrival(input, continuation), delegateQueue: nil)
        let task = session.dataTask(with: request)
        input.onTermination = { _ in task.cancel() }
        task.resume()
        session.finishTasksAndInvalidate()
      }
      return (bytes, response)
    }
  }

  // Guard: the session's queue, which is serial. May touch it: its calls.
  private final class Arrival: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let input: AsyncThrowingStream<UInt8, any Error>.Continuation
    private var head: CheckedContinuation<URLResponse, any Error>?

    init(
      _ input: AsyncThrowingStream<UInt8, any Error>.Continuation,
      _ head: CheckedContinuation<URLResponse, any Error>
    ) {
      self.input = input
      self.head = head
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
      head.take()?.resume(returning: response)
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      for byte in data { input.yield(byte) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      head.take()?.resume(throwing: error ?? URLError(.badServerResponse))
      input.finish(throwing: error)
    }
  }
#endif
