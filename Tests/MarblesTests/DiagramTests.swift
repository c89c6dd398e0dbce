import Testing

@testable import marbles

@Suite("Marble diagrams: the catalogue shows the real behaviour", .timeLimit(.minutes(20)))
struct DiagramTests {
  @Test("the committed files are what a run writes")
  func committed() throws {
    let stale = try Command.stale()
    #expect(stale == [], "`swift run marbles` writes them")
  }

  @Test("a diagram is drawn alike each time", arguments: Diagram.all.map(\.name))
  func deterministic(_ name: String) throws {
    let diagram = try #require(Diagram.all.first { $0.name == name })
    let files = diagram.files().map(\.text)
    for _ in 0..<20 { #expect(diagram.files().map(\.text) == files) }
  }

  @Test("each diagram has a name of its own")
  func names() {
    #expect(Set(Diagram.all.map(\.name)).count == Diagram.all.count)
  }
}
