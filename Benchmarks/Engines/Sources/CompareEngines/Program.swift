import Foundation

/// A program that was started, and its lines. It is killed when it is released.
final class Program: Sendable {
  /// The lines of its standard output.
  let lines: AsyncStream<String>
  private let process = Process()

  init(_ executable: URL, _ arguments: [String]) throws {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    self.lines = lines
    let pipe = Pipe()
    process.executableURL = executable
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    // This process's copy of the writing end: with it the output would never end.
    try pipe.fileHandleForWriting.close()
    let output = pipe.fileHandleForReading
    // Reading blocks.
    Thread.detachNewThread {
      var part: [UInt8] = []
      while case let data = output.availableData, !data.isEmpty {
        part += data
        while let end = part.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: part[..<end], as: UTF8.self))
          part.removeFirst(end + 1)
        }
      }
      continuation.finish()
    }
  }

  deinit { kill() }

  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The folder of this program, where those built with it are.
  static let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

  /// This program: it is its own follower and server.
  static let own = URL(filePath: CommandLine.arguments[0])

  /// An installed program.
  static func installed(_ names: String...) -> URL? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let files = names.flatMap { name in folders.map { URL(filePath: "\($0)/\(name)") } }
    return files.first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}
