import Foundation
import Testing

@Suite("Standard streams", .timeLimit(.minutes(20)))
struct StandardStreamTests {
  @Test(
    "one that is closed is an error at once, as for wc",
    arguments: [
      ("- <&-", "(standard input): Bad file descriptor"),
      ("file >&-", "standard output: Bad file descriptor"),
    ])
  func closed(_ arguments: String, _ note: String) async throws {
    let playground = try Playground()
    let path = try playground.file("file", "a b\n")
    let result = try await playground.run(arguments.replacing("file", with: "'\(path)'"))
    #expect(result.status == 1)
    #expect(result.notes == ["textscan: \(note)"])
  }

  @Test("a closed one is nobody else's: the rest is read")
  func others() async throws {
    let playground = try Playground()
    let path = try playground.file("file", "a b\n")
    let result = try await playground.run("--json --only lines - '\(path)' <&-")
    #expect(result.status == 1)
    #expect(result.notes == ["textscan: (standard input): Bad file descriptor"])
    #expect(result.output.contains("\"words\":2") || result.output.contains("\"words\" : 2"))
  }

  @Test("all that is closed is survived, and standard input is read where it is open")
  func open() async throws {
    let playground = try Playground()
    #expect(try await playground.run("- <&- >&-").status == 1)
    let path = try playground.file("file", "a b\n")
    let result = try await playground.run("--json --only lines - <'\(path)'")
    #expect(result.status == 0)
    #expect(result.notes == [])
  }
}
