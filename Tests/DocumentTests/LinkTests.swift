import Foundation
import Testing

/// Articles link to one another as files, which a code host can follow; `.ci/docs` makes links of the
/// site of them.
@Suite("Links between documents")
struct LinkTests {
  static let documents =
    ["README.md", "CONTRIBUTING.md", "Benchmarks/README.md", "Benchmarks/Engines/README.md"]
    + Documents.files(below: ".github", ending: ".md") + Documents.articles()

  @Test("a link leads to a file", arguments: documents)
  func targets(_ document: String) throws {
    for link in try Documents.links(in: document) {
      let file = Documents.package.appending(path: link)
      #expect(
        FileManager.default.fileExists(atPath: file.path),
        "\(document) links to \(link), which is not there")
    }
  }

  @Test(
    "an article's text has no link that only the site can follow", arguments: Documents.articles())
  func readable(_ article: String) throws {
    let text = try Documents.text(article).components(separatedBy: "## Topics")[0]
    #expect(!Documents.prose(of: text).contains("<doc:"), "\(article)")
  }

  @Test("README, or a table of contents, leads to every article")
  func everyArticle() throws {
    let links = Set(try Documents.links(in: "README.md"))
    let tables = try Documents.articles().map(Documents.text).joined()
    for article in Documents.articles() where !article.contains("/Symbols/") {
      let name = article.split(separator: "/").last?.dropLast(3) ?? ""
      // The page of a module or of a type: the site has it by itself.
      guard try !Documents.text(article).hasPrefix("# ``") else { continue }
      #expect(
        links.contains(article) || tables.contains("- <doc:\(name)>"),
        "neither README nor a table of contents leads to \(article)")
    }
  }
}
