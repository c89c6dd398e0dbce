import Testing

@testable import Tailrace

struct Picture: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let diagram: @Sendable () async throws -> String
  let expected: String

  init(
    _ name: String, _ expected: String, _ diagram: @escaping @Sendable () async throws -> String
  ) {
    testDescription = name
    self.expected = expected
    self.diagram = diagram
  }
}

@Suite struct DiagramTests {
  @Test("A diagram shows what a list is made of", arguments: pictures)
  func diagram(_ picture: Picture) async throws {
    let text = try await picture.diagram()
    #expect(text == "flowchart TD\n\(picture.expected)\n", "\(text)")
  }

  static let pictures = [
    Picture("the empty list", #"  value0(["empty list"])"#) { LazyList<Int, Never>.empty.diagram() },
    Picture("an array", #"  value0(["3 values"])"#) { [1, 2, 3].lazyList.diagram() },
  ]
}
