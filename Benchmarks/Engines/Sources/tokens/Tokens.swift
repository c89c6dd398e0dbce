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
/// | `POST /runs/ID?prompt=TEXT` | the same with an ID of the client's: 200 if it was begun before |
/// | `GET /runs` | the runs, as JSON |
/// | `GET /runs/ID?offset=…` | the run's tokens, as `ListEndpoint` serves them |
/// | `POST /runs/ID/stop` | ends the run: 204 |
///
/// A run goes on when its readers leave, reload or come late, and after a restart of the service. Ended
/// ones are kept for a day, and up to a gigabyte.
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
    let runs = Runs(
      in: URL(filePath: folder),
      limits: StoredListLimits(
        producing: numbers.dropFirst().first ?? 4, age: .seconds(86_400), bytes: 1 << 30),
      generator: SlowGenerator(pause: .milliseconds(numbers.dropFirst(2).first ?? 50)))
    try await runs.open()
    try await application(runs, port: numbers.first ?? 8081) { port in
      print("listening on 127.0.0.1:\(port)")
      fflush(nil)
    }.runService()
  }

  static func application(
    _ runs: Runs, port: Int = 0, onRunning: @escaping @Sendable (Int) -> Void
  ) -> some ApplicationProtocol {
    let router = Router()
    let endpoint = StoredListsEndpoint(runs)
    router.post("/runs") { request, _ in
      try await begin(UUID().uuidString.lowercased(), request, runs)
    }
    router.post("/runs/:id") { request, context in
      try await begin(try context.parameters.require("id"), request, runs)
    }
    router.post("/runs/:id/stop") { _, context in
      let id = try context.parameters.require("id")
      guard try await runs.store(id) != nil else { throw HTTPError(.notFound) }
      try await runs.stop(id)
      return Response(status: .noContent)
    }
    router.get("/runs") { _, _ in
      let lines = try await runs.all().map { run in
        "{\"id\":\"\(run.key)\",\"count\":\(run.count),\"ended\":\(run.status == .ended)}"
      }
      return Response(
        status: .ok, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: "[\(lines.joined(separator: ","))]")))
    }
    for method in [HTTPRequest.Method.get, .head, .options] {
      router.on("/runs/:id", method: method) { request, context in
        let id = try context.parameters.require("id")
        return try await Response.answering(request) {
          try await endpoint.response(to: $0, key: id)
        }
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

  private static func begin(
    _ id: String, _ request: Request, _ runs: Runs
  ) async throws -> Response {
    guard id.wholeMatch(of: /[A-Za-z0-9-]{1,64}/) != nil else {
      throw HTTPError(.badRequest, message: "an ID has 1 to 64 letters, digits and -")
    }
    let prompt = request.uri.queryParameters["prompt"].map(String.init) ?? ""
    do {
      let isNew = try await runs.start(id, state: RunState(prompt: prompt))
      return Response(
        status: isNew ? .created : .ok, headers: [.location: "/runs/\(id)"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: "/runs/\(id)\n")))
    } catch is TooManyListsError {
      return Response(status: .tooManyRequests, headers: [.retryAfter: "5"])
    }
  }
}

/// Lets the runs end with the server: they go on when it is started again.
struct RunsService: Service {
  let runs: Runs

  func run() async throws {
    try? await gracefulShutdown()
    await runs.close()
  }
}
