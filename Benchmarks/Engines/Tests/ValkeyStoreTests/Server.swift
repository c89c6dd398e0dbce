import Foundation
import NIOCore
import Tailrace
import TailraceStored
import Testing

@testable import ValkeyStore

/// A server of its own for a test, on a free port and in a temporary folder.
final class Server: Sendable {
  /// A running server.
  private struct Life {
    let process: Process
    let ended: AsyncStream<Void>
    /// Kills the server when this process ends, however that is.
    let guardian: Guardian
  }

  let port: Int
  private let folder: URL
  private let options: [String]
  private let life = Locked<Life?>(nil)

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - isDurable: whether it syncs an append-only file at every command.
  ///   - options: more options of the server.
  init(isDurable: Bool = false, _ options: String...) async throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "valkey-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.options =
      [
        "--bind", "127.0.0.1", "--dir", folder.path, "--save", "",
        "--appendonly", isDurable ? "yes" : "no", "--appendfsync", "always",
        "--repl-diskless-sync-delay", "0",
      ] + options
    var (port, first) = (0, Life?.none)
    // Somebody else may take a port that was free.
    for _ in 0..<10 where first == nil {
      port = try await Proxy.freePort()
      first = try await Self.launch(self.options, port)
    }
    self.port = port
    let life = try #require(first, "the server ends: \(self.options)")
    self.life.withLock { $0 = life }
  }

  deinit {
    if let life = life.withLock({ $0 }) { Self.kill(life.process) }
    try? FileManager.default.removeItem(at: folder)
  }

  /// The server that is installed. A missing one is a failure: nothing would be tested.
  private static func program() throws -> URL {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for name in ["valkey-server", "redis-server"] {
      for folder in folders {
        let url = URL(filePath: "\(folder)/\(name)")
        if FileManager.default.isExecutableFile(atPath: url.path) { return url }
      }
    }
    throw NoServer()
  }

  struct NoServer: Error, CustomStringConvertible {
    let description = "install valkey-server or redis-server: these tests start one"
  }

  /// Starts a server, and waits until it answers. `nil` if it ends at once.
  private static func launch(_ options: [String], _ port: Int) async throws -> Life? {
    let process = Process()
    process.executableURL = try program()
    process.arguments = ["--port", "\(port)"] + options
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let (ended, continuation) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in continuation.finish() }
    try process.run()
    let life = Life(
      process: process, ended: ended, guardian: try Guardian(of: process.processIdentifier))
    for _ in 0..<2000 where process.isRunning {
      let connection = Connection(ValkeyServer(port: port))
      defer { connection.close() }
      do {
        let info = try await connection.call([["INFO", "server"].map { ByteBuffer(string: $0) }])[0]
        // Another server may have the port: then this one ends.
        let isOurs = info.asText?.contains("process_id:\(process.processIdentifier)\r") ?? false
        if isOurs { return life }
      } catch ValkeyError.refused(let code, _) where code != "LOADING" {
        return life
      } catch {
        // Not yet.
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    Self.kill(process)
    return nil
  }

  /// Starts it again, and waits until it answers.
  func start() async throws {
    let next = try #require(try await Self.launch(options, port), "the server ends: \(options)")
    life.withLock { $0 = next }
  }

  /// Kills it, and waits for its end.
  func kill() async {
    guard let life = life.withLock({ $0.take() }) else { return }
    Self.kill(life.process)
    for await _ in life.ended {}
  }

  private static func kill(_ process: Process) {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
  }

  func restart() async throws {
    await kill()
    try await start()
  }

  /// Runs a command on a connection of its own.
  @discardableResult
  func run(_ words: String..., more: [String] = []) async throws -> RESP {
    let connection = Connection(ValkeyServer(port: port))
    defer { connection.close() }
    return try await connection.call([(words + more).map { ByteBuffer(string: $0) }])[0]
  }

  /// Ends the lease of a list's writer, as if it had slept.
  func expire(_ key: String = "list") async throws {
    try await run("HSET", "{\(key)}:lease", "until", "0")
  }

  /// Makes it a replica of another server, and waits until it has everything.
  func follow(_ primary: Server) async throws {
    try await run("REPLICAOF", "127.0.0.1", "\(primary.port)")
    for (server, word) in [(self, "master_link_status:up"), (primary, "state=online")] {
      while try await server.run("INFO", "replication").asText?.contains(word) != true {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    try await primary.waitForReplica()
  }

  /// Waits until a replica of it has all that was written.
  func waitForReplica() async throws {
    let connection = Connection(ValkeyServer(port: port, timeout: .seconds(60)))
    defer { connection.close() }
    // A server counts the replicas that have this connection's last write, and no earlier ones.
    for command in [["SET", "written", "last"], ["WAIT", "1", "0"]] {
      _ = try await connection.call([command.map { ByteBuffer(string: $0) }])
    }
  }

  /// Makes it a primary.
  func lead() async throws { try await run("REPLICAOF", "NO", "ONE") }

  /// Stops its process, or lets it go on.
  func signal(_ signal: Int32) {
    if let life = life.withLock({ $0 }) { Foundation.kill(life.process.processIdentifier, signal) }
  }

  /// A store of texts, with a number as state.
  func store(
    _ key: String = "list", through port: Int? = nil, lease: Duration = .seconds(10),
    timeout: Duration = .seconds(5), replicas: Int = 0
  ) -> ValkeyStore<String, Int> {
    ValkeyStore(
      key, on: ValkeyServer(port: port ?? self.port, timeout: timeout), element: .text,
      state: .json, lease: lease, replicas: replicas)
  }
}

/// A process that kills another one when the process that made it has ended.
final class Guardian: Sendable {
  private let input: FileHandle

  init(of process: Int32) throws {
    let (guardian, pipe) = (Process(), Pipe())
    guardian.executableURL = URL(filePath: "/bin/sh")
    // The end of its input is the end of the tests.
    guardian.arguments = ["-c", "read line || kill -9 \(process)"]
    guardian.standardInput = pipe
    try guardian.run()
    input = pipe.fileHandleForWriting
  }

  /// The process is gone: another one may get its number.
  deinit { try? input.write(contentsOf: Data("over\n".utf8)) }
}

/// A value and its lock.
final class Locked<Value>: @unchecked Sendable {
  // Guard: the lock. May touch it: the body of `withLock`.
  private var value: Value
  private let lock = NSLock()

  init(_ value: sending Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

typealias Commit = ListCommit<String, Int>

extension ValkeyStore where Element == String, State == Int {
  /// All elements, and whether the list has ended.
  func all() async throws -> ListPage<String> {
    var all = ListPage<String>([])
    while !all.isEnd {
      let page = try await read(from: all.elements.count, upTo: 100)
      if page.elements.isEmpty && !page.isEnd { break }
      all.elements += page.elements
      all.isEnd = page.isEnd
    }
    return all
  }

  /// Appends elements named by their positions, each with a state.
  func fill(_ positions: Range<Int>) async throws {
    for position in positions {
      try await append(Commit(["\(position)"], state: position + 1), at: position)
    }
  }
}

extension Range<Int> {
  /// The elements at these positions.
  var texts: [String] { map { "\($0)" } }
}
