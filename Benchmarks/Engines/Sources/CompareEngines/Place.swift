import Foundation
import Measuring
import Synchronization

/// A temporary folder, and the programs that run for a comparison.
final class Place: Sendable {
  /// The ports of two servers.
  struct Ports: Sendable {
    /// Of one that writes to the disk every second.
    let process: Int
    /// Of one that writes to the disk before it replies.
    let machine: Int
  }

  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "engines-\(UUID().uuidString)", directoryHint: .isDirectory)
  /// All that were started, and may have been released since.
  private let programs = Mutex<[Weak]>([])
  /// Those that run until the end.
  private let servers = Mutex<[Program]>([])

  private struct Weak: Sendable {
    weak let program: Program?
  }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// A new name in the folder.
  func file() -> URL { folder.appending(path: UUID().uuidString) }

  /// Starts a program, which ends with this place at the latest.
  func start(_ executable: URL, _ arguments: [String]) throws -> Program {
    let program = try Program(executable, arguments)
    programs.withLock { $0.append(Weak(program: program)) }
    return program
  }

  /// Kills all programs, and removes the folder.
  func clear() {
    for entry in programs.withLock({ $0 }) { entry.program?.kill() }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts two servers; `nil` if none is installed.
  func startValkey() async throws -> Ports? {
    guard let program = Program.installed("valkey-server", "redis-server") else { return nil }
    return Ports(
      process: try await startServer(program, syncing: "everysec"),
      machine: try await startServer(program, syncing: "always"))
  }

  private func startServer(_ program: URL, syncing: String) async throws -> Int {
    let port = try Socket.freePort()
    let data = file()
    try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
    let server = try start(
      program,
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--dir", data.path, "--save", "",
        "--appendonly", "yes", "--appendfsync", syncing, "--auto-aof-rewrite-percentage", "0",
        "--loglevel", "warning",
      ])
    servers.withLock { $0.append(server) }
    // It says nowhere that it listens; ten seconds are for a busy machine.
    for _ in 0..<1000 {
      if let connection = try? await ConnectionByHand(port: port) {
        _ = try await connection.call([["PING"]])
        return port
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Flaw("\(program.path) does not answer on port \(port)")
  }
}
