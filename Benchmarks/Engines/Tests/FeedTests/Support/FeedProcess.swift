import Foundation

/// A folder with a stored list, and the processes that serve it.
///
/// Its calls wait for processes: on a thread of its own.
final class FeedFolder: Sendable {
  let url = URL.temporaryDirectory.appending(path: "feed-\(UUID().uuidString)")
  var list: URL { url.appending(path: "list") }

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Starts a server, and waits until it listens.
  func serve(port: Int = 0, _ options: [String]) throws -> FeedProcess {
    try FeedProcess([list.path, "--port", "\(port)"] + options)
  }
}

/// A running server.
// Guard: of `process`: Foundation's own lock; it is not changed once it runs. May touch it: all.
final class FeedProcess: @unchecked Sendable {
  private let process = Process()
  let port: Int

  var id: Int32 { process.processIdentifier }

  init(_ arguments: [String]) throws {
    let pipe = Pipe()
    // Beside the tests.
    process.executableURL = URL(filePath: CommandLine.arguments[0])
      .deletingLastPathComponent().appending(path: "feed")
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    // Our copy of its end: otherwise there would be no end to read.
    try pipe.fileHandleForWriting.close()
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let more = pipe.fileHandleForReading.availableData
      guard !more.isEmpty else { throw FeedProcessError.ended }
      line += more
    }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    guard text.hasPrefix("listening on "), let port = Int(text.drop { $0 != ":" }.dropFirst())
    else { throw FeedProcessError.said(text) }
    self.port = port
  }

  deinit { kill() }

  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks it to stop, waits, and returns its status.
  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Connects, and requests a path.
  func open(_ path: String) throws -> Socket {
    let socket = try Socket(port: port)
    try socket.request(path)
    return socket
  }

  /// A field of `/proc`, in kilobytes.
  func kilobytes(_ field: String) -> Int { FeedTests.kilobytes(field, of: "\(id)") }

  /// The number of open files and connections.
  var openFiles: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count) ?? 0
  }
}

/// A field of a process's `/proc`, in kilobytes; of this process, unless another is named.
func kilobytes(_ field: String, of process: String = "self") -> Int {
  let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") } ?? ""
  return Int(line.filter(\.isNumber)) ?? 0
}

enum FeedProcessError: Error {
  case ended
  case said(String)
}
