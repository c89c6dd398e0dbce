import Foundation
import Hummingbird
import HummingbirdLists
import Logging
import ServiceLifecycle
import Tailrace
import TailraceFoundation
import TailraceStored

/// Serves a stored list over HTTP, with a page that shows it.
///
/// The list is at `/stream`, for clients of durable streams and of Server-Sent Events; the page is
/// at `/`. If the program is killed and started again, the list continues, and every reader gets
/// each element once.
@main
struct Feed {
  static func main() async throws {
    let options: FeedOptions
    do throws(UsageError) {
      options = try FeedOptions(CommandLine.arguments.dropFirst())
    } catch {
      say("\(error)", .standardError)
      exit(64)
    }
    let store = FeedItem.store(options.file)
    let application = application(
      serving: ListEndpoint(store, isShared: options.isShared, origins: options.origins),
      host: options.host, port: options.port,
      services: [FeedWriter(store: store, options: options)]
    ) { port in
      say("listening on \(options.host):\(port)", .standardOutput)
    }
    try await application.runService()
  }

  /// Writes a line at once. If nobody reads it, the server still serves.
  private static func say(_ line: String, _ output: FileHandle) {
    try? output.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Returns a server of a list and its page.
  ///
  /// - Parameter onRunning: gets the port, when the server accepts connections.
  static func application<Source>(
    serving endpoint: ListEndpoint<Source>, host: String = "127.0.0.1", port: Int = 0,
    services: [any Service] = [], onRunning: @escaping @Sendable (Int) -> Void
  ) -> some ApplicationProtocol {
    let router = Router(options: .autoGenerateHeadEndpoints)
    router.get("/") { _, _ in FeedPage.response }
    router.list("stream", endpoint)
    var logger = Logger(label: "feed")
    logger.logLevel = .warning
    return Application(
      router: router,
      // Releases connections whose client stays connected and requests nothing.
      server: .http1(configuration: .init(idleTimeout: .seconds(60))),
      configuration: .init(address: .hostname(host, port: port), backlog: 1024),
      services: services,
      onServerRunning: { channel in onRunning(channel.localAddress?.port ?? port) },
      logger: logger)
  }
}

/// Computes the list, or follows the process that does.
struct FeedWriter: Service {
  let store: FileStore<FeedItem, FeedItem.Maker>
  let options: FeedOptions

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await write() }
      // The list has ended, and is still served.
      try await gracefulShutdown()
    } catch is CancellationError {}
  }

  private func write() async throws {
    // No variable retains the list: that would retain all elements.
    for try await item in FeedItem.list(
      in: store, every: options.every, upTo: options.count ?? .max)
    {
      guard let keep = options.keep, item.n > 0, item.n.isMultiple(of: keep) else { continue }
      do {
        try await store.trim(before: item.n - keep + 1)
      } catch ListStoreError.inUse {
        // Another process writes the list. It decides what is kept.
      }
    }
  }
}
