import Foundation
import Testing

@Suite("The view and the table that the article shows", .timeLimit(.minutes(15)))
struct ShapeTests {
  @Test(
    "the article shows this code",
    arguments: [
      ("SwiftUIShape", "Order"), ("SwiftUIShape", "OrdersView"), ("UIKitShape", "OrdersController"),
    ])
  func shown(_ name: String, _ type: String) throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let file = try String(contentsOf: here.appending(path: "\(name).swift"), encoding: .utf8)
    let code = try #require(file.components(separatedBy: "  // begin \(type)\n").dropFirst().first)
      .components(separatedBy: "  // end\n")[0]
      .split(separator: "\n", omittingEmptySubsequences: false).map { $0.dropFirst(2) }
      .joined(separator: "\n")
    let article = try String(
      contentsOf: here.appending(
        path: "../../Sources/TailraceObservation/TailraceObservation.docc/Pagination.md"),
      encoding: .utf8)
    #expect(article.contains("```swift\n" + code + "```"))
  }
}
