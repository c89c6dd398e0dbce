import Foundation
import Testing

@testable import textscan

@Suite("A scan")
struct ScanTests {
  @Test("reads every line once, for five readers")
  func once() async throws {
    let playground = try Playground()
    for name in ["a", "b", "c"] {
      try playground.file(name, String(repeating: "some words in a line\n", count: 50_000))
    }
    let reading = try await playground.report(playground.path).reading
    #expect(reading.lines == 150_000)
    #expect(reading.linesProduced == 150_000)
    #expect(reading.linesUsed == 750_000)
    #expect(reading.bytesRead == 150_000 * 21)
  }

  @Test("stops reading at the tenth match, if nobody else reads")
  func early() async throws {
    let playground = try Playground()
    let path = try playground.file("a", String(repeating: "no\nTODO\n", count: 100_000))
    let report = try await playground.report(path, "--only", "find")
    #expect(report.find?.matches.map(\.line) == Array(stride(from: 2, through: 20, by: 2)))
    #expect(report.find?.stoppedEarly == true)
    #expect(report.reading.linesProduced == 20)
    #expect(report.reading.bytesRead == 65_536)
  }

  @Test("goes on for the others when one reader is satisfied")
  func others() async throws {
    let playground = try Playground()
    let path = try playground.file("a", String(repeating: "TODO\n", count: 100_000))
    let report = try await playground.report(path, "--only", "find,lines")
    #expect(report.counts?.lines == 100_000)
    #expect(report.reading.linesUsed == 100_010)
  }

  @Test("names what it skips and what it cannot read, and counts the rest")
  func notes() async throws {
    let playground = try Playground()
    try playground.file("binary", [0x41, 0x00, 0x42])
    try playground.file("text", "text\n")
    let report = try await playground.report(playground.path, playground.path + "/missing")
    #expect(report.summary == [1, 1, 5])
    #expect(report.reading.skipped == 1)
    #expect(report.reading.failures == 1)
    #expect(
      try playground.notes == [
        "textscan: binary: binary file, skipped", "textscan: missing: No such file or directory",
      ])
  }

  @Test("reads a pipe as it reads a file")
  func pipe() async throws {
    let playground = try Playground()
    let path = playground.path + "/pipe"
    #expect(mkfifo(path, 0o600) == 0)
    let text = String(repeating: "some words in a line\n", count: 50_000) + "end"
    // Blocks until the pipe is read, on a thread of its own.
    Thread.detachNewThread { try? text.write(toFile: path, atomically: false, encoding: .utf8) }
    let report = try await playground.report(path)
    #expect(report.summary == [50_000, 250_001, 50_000 * 21 + 3])
    #expect(report.reading.linesProduced == 50_001)
  }

  @Test("ends when it is cancelled, also while a pipe is silent")
  func cancellation() async throws {
    let playground = try Playground()
    let path = playground.path + "/pipe"
    #expect(mkfifo(path, 0o600) == 0)
    // Opened for both, a pipe has a writer for as long as the test wants.
    let writer = open(path, O_RDWR)
    defer { close(writer) }
    let console = playground.console
    let scan = Task { try await Playground.report([path], console) }
    scan.cancel()
    await #expect(throws: CancellationError.self) { try await scan.value }
  }

  @Test("prints JSON that says the same")
  func json() async throws {
    let playground = try Playground()
    try playground.file("quo\"te", "\"\\\u{1}\t/é\u{2028}\n")
    let report = try await playground.report(playground.path, "--find", "\"")
    let decoded = try JSONSerialization.jsonObject(with: Data(report.json().utf8))
    let find = (decoded as? [String: Any])?["find"] as? [String: Any]
    let match = (find?["matches"] as? [[String: Any]])?.first
    #expect(match?["text"] as? String == "\"\\\u{1}\t/é\u{2028}")
    #expect(match?["path"] as? String == playground.path + "/quo\"te")
    #expect(find?["pattern"] as? String == "\"")
  }

  @Test("leaves out of its table what was not asked for")
  func table() async throws {
    let playground = try Playground()
    try playground.file("a", "a \u{1B}[31m\n")
    let all = try await playground.report(playground.path).table()
    #expect(all.contains("Longest line: 7 bytes"))
    #expect(all.contains("a \\u{1B}[31m"))
    #expect(all.contains("Lines with \"TODO\": none"))
    let some = try await playground.report(playground.path, "--only", "lines").table()
    #expect(some.contains("1  lines"))
    #expect(!some.contains("Longest"))
    #expect(some.contains("by 1 reader"))
  }
}
