import Foundation
import Testing

@Suite("Standard streams", .timeLimit(.minutes(20)))
struct StandardStreamTests {
  /// What the program says and returns when a shell has run it with a redirection.
  private func run(
    _ arguments: String, _ playground: Playground
  ) async throws -> (status: Int32, output: String, notes: [String]) {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "textscan").path
    process.arguments = [
      "-c", "exec '\(program)' \(arguments) 3>&- 2>'\(playground.path).notes'",
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
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self), try playground.notes)
  }

  @Test(
    "one that is closed is an error at once, as for wc",
    arguments: [
      ("- <&-", "(standard input): Bad file descriptor"),
      ("file >&-", "standard output: Bad file descriptor"),
    ])
  func closed(_ arguments: String, _ note: String) async throws {
    let playground = try Playground()
    let path = try playground.file("file", "a b\n")
    let result = try await run(arguments.replacing("file", with: "'\(path)'"), playground)
    #expect(result.status == 1)
    #expect(result.notes == ["textscan: \(note)"])
  }

  @Test("a closed one is nobody else's: the rest is read")
  func others() async throws {
    let playground = try Playground()
    let path = try playground.file("file", "a b\n")
    let result = try await run("--json --only lines - '\(path)' <&-", playground)
    #expect(result.status == 1)
    #expect(result.notes == ["textscan: (standard input): Bad file descriptor"])
    #expect(result.output.contains("\"words\":2") || result.output.contains("\"words\" : 2"))
  }

  @Test("all that is closed is survived, and standard input is read where it is open")
  func open() async throws {
    let playground = try Playground()
    #expect(try await run("- <&- >&-", playground).status == 1)
    let path = try playground.file("file", "a b\n")
    let result = try await run("--json --only lines - <'\(path)'", playground)
    #expect(result.status == 0)
    #expect(result.notes == [])
  }
}
