import Testing

@testable import textscan

@Suite("The command line")
struct CommandTests {
  private func options(_ arguments: [String]) throws -> Options? {
    if case .scan(let options) = try Command(arguments) { options } else { nil }
  }

  @Test(
    "selects readers, in the order of the table",
    arguments: [
      ([], ReaderName.allCases),
      (["--only", "find,lines"], [.lines, .find]),
      (["--only=words", "--only", "duplicates"], [.words, .duplicates]),
      (["--only", "lines", "--only", "lines"], [.lines]),
    ])
  func readers(arguments: [String], expected: [ReaderName]) throws {
    #expect(try options(arguments)?.readers == expected)
  }

  @Test(
    "names paths",
    arguments: [
      ([], ["."]),
      (["-", "a"], ["-", "a"]),
      (["a", "--json", "b"], ["a", "b"]),
      (["--", "--json", "-x"], ["--json", "-x"]),
    ])
  func paths(arguments: [String], expected: [String]) throws {
    #expect(try options(arguments)?.paths == expected)
  }

  @Test(
    "takes a pattern",
    arguments: [
      ([], "TODO"),
      (["--find", "--json"], "--json"),
      (["--find="], ""),
      (["--find=a=b"], "a=b"),
    ])
  func pattern(arguments: [String], expected: String) throws {
    #expect(try options(arguments)?.pattern == expected)
  }

  @Test("asks for help", arguments: [["--help"], ["a", "-h"]])
  func help(arguments: [String]) throws { #expect(try options(arguments) == nil) }

  @Test(
    "is refused with a reason",
    arguments: [
      (["--bogus"], "unknown option --bogus"),
      (["-x"], "unknown option -x"),
      (["--trace"], "--trace needs a value"),
      (["--json", "--diagram"], "--diagram and --json would be printed into one another"),
      (["--only"], "--only needs a value"),
      (["--only", "lines,"], "--only does not know the reader ''"),
      (["--json=1"], "--json takes no value"),
      (["--find", "x", "--only", "lines"], "--find has no effect without the reader 'find'"),
    ])
  func misuse(arguments: [String], reason: String) {
    #expect { try Command(arguments) } throws: { ($0 as? UsageError)?.message == reason }
  }
}
