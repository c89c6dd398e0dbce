import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdLists
import Logging
import ServiceLifecycle
import Tailrace
import TailraceFoundation
import TailraceStored

/// Generates texts token by token, and serves them while they grow: an example of a service whose work
/// belongs to no connection.
///
/// | request | response |
/// |---|---|
/// | `POST /runs?prompt=TEXT` | begins a run: 201, and its address; 429 if too many run |
/// | `GET /runs/ID?offset=…` | the run's tokens, as `ListEndpoint` serves them |
/// | `POST /runs/ID/stop` | ends the run: 204 |
///
/// A run goes on when its readers leave, reload or come late, and after a restart of the service.
@main
struct Tokens {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let folder = arguments.first, !folder.hasPrefix("-") else {
      try? FileHandle.standardError.write(
        contentsOf: Data("usage: tokens FOLDER [PORT] [RUNS AT A TIME] [MILLISECONDS]\n".utf8))
      exit(64)
    }
    let numbers = arguments.dropFirst().compactMap(Int.init)
    let runs = try Runs(
      in: URL(filePath: folder), atOnce: numbers.dropFirst().first ?? 4,
      generator: SlowGenerator(pause: .milliseconds(numbers.dropFirst(2).first ?? 50)))
    try await application(runs, port: numbers.first ?? 8081) { port in
      print("listening on 127.0.0.1:\(port)")
      fflush(nil)
    }.runService()
  }

  static func application(
    _ runs: Runs, port: Int = 0, onRunning: @escaping @Sendable (Int) -> Void
  ) -> some ApplicationProtocol {
    let router = Router()
    router.post("/runs") { request, _ in
      let prompt = request.uri.queryParameters["prompt"].map(String.init) ?? ""
      guard let id = try runs.begin(prompt) else {
        return Response(status: .tooManyRequests, headers: [.retryAfter: "5"])
      }
      return Response(
        status: .created, headers: [.location: "/runs/\(id)"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: "/runs/\(id)\n")))
    }
    router.post("/runs/:id/stop") { _, context in
      guard runs.stop(try context.parameters.require("id")) else { throw HTTPError(.notFound) }
      return Response(status: .noContent)
    }
    for method in [HTTPRequest.Method.get, .head] {
      router.on("/runs/:id", method: method) { request, context in
        guard let endpoint = runs.endpoint(try context.parameters.require("id")) else {
          throw HTTPError(.notFound)
        }
        return try await endpoint.response(to: request)
      }
    }
    var logger = Logger(label: "tokens")
    logger.logLevel = .warning
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      services: [RunsService(runs: runs)],
      onServerRunning: { channel in onRunning(channel.localAddress?.port ?? port) },
      logger: logger)
  }
}

/// Lets the runs end with the server: they go on when it is started again.
struct RunsService: Service {
  let runs: Runs

  func run() async throws {
    try? await gracefulShutdown()
    runs.close()
  }
}
