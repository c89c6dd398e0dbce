import Foundation
import Tailrace

@testable import textscan

/// A directory for one test, and what textscan says about it.
final class Playground: Sendable {
  let url: URL
  private let notesDescriptor: Int32

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "textscan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    notesDescriptor = open(url.path + ".notes", O_CREAT | O_WRONLY, 0o600)
  }

  deinit {
    close(notesDescriptor)
    try? FileManager.default.removeItem(atPath: url.path + ".notes")
    try? FileManager.default.removeItem(at: url)
  }

  var path: String { url.path }

  /// Writes a file, and the directories that it is in, and gives its path.
  @discardableResult
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file.path
  }

  @discardableResult
  func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: url.appending(path: name).path, withDestinationPath: target)
  }

  var console: Console { Console(error: notesDescriptor) }

  /// The lines written to standard error.
  var notes: [String] {
    get throws {
      // `String(contentsOfFile:)` leaks its buffer when the file is empty.
      let file = try FileHandle(forReadingFrom: URL(filePath: url.path + ".notes"))
      defer { try? file.close() }
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        .split(separator: "\n")
        .map { String($0).replacing("\(path)/", with: "") }
    }
  }

  /// The report for a command line.
  func report(_ arguments: String...) async throws -> Report {
    try await Self.report(arguments, console)
  }

  /// The status and the output of the program when a shell has run it with a redirection.
  func run(
    _ arguments: String
  ) async throws -> (status: Int32, output: String, notes: [String]) {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "textscan").path
    process.arguments = [
      "-c", "exec '\(program)' \(arguments) 3>&- 2>'\(path).notes'",
    ]
    let output = Pipe()
    process.standardOutput = output
    // A scan that hangs is ended with the test.
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { _ in continuation.resume() }
        do { try process.run() } catch { continuation.resume(throwing: error) }
      }
    } onCancel: {
      process.terminate()
    }
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self), try notes)
  }

  /// The report for a command line, and the output printed on the way.
  func output(_ arguments: String...) async throws -> (report: Report, output: String) {
    let file = url.path + ".output"
    let descriptor = open(file, O_CREAT | O_WRONLY, 0o600)
    defer {
      close(descriptor)
      try? FileManager.default.removeItem(atPath: file)
    }
    let report = try await Self.report(
      arguments, Console(output: descriptor, error: notesDescriptor))
    return (report, String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self))
  }

  static func report(_ arguments: [String], _ console: Console) async throws -> Report {
    guard case .scan(let options) = try Command(arguments) else { throw UnexpectedHelp() }
    return try await Scan(options, console).report()
  }

  struct UnexpectedHelp: Error {}
}

extension Report {
  /// Without what differs from run to run.
  var summary: [Int] { [counts?.lines ?? 0, counts?.words ?? 0, counts?.bytes ?? 0] }
}
