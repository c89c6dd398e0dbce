import Foundation
import Testing

/// `.ci/readme` runs README's commands as they stand; here is what can be seen without a build.
@Suite("README's commands")
struct ShellTests {
  @Test("what is killed is the program, not its build")
  func killed() throws {
    let blocks = try Documents.blocks(in: "sh", of: Documents.text("README.md"))
    let killing = blocks.filter { $0.contains("kill -9 $!") }
    #expect(killing.count == 1)
    for block in killing {
      let lines = block.split(separator: "\n")
      let background = try #require(lines.first { $0.hasSuffix(" &") })
      #expect(!background.contains("swift run") && !background.contains("swift build"))
      #expect(lines.first?.hasPrefix("swift build -c release --product recrawl") == true)
    }
  }

  @Test("the continuous integration runs them")
  func run() throws {
    #expect(try Documents.text(".ci/run").contains(".ci/readme"))
  }
}
