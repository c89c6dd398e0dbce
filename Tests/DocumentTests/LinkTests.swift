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

  @Test("README leads to every article")
  func everyArticle() throws {
    let links = Set(try Documents.links(in: "README.md"))
    let articles = Documents.articles().filter { article in
      let name = article.split(separator: "/").last?.dropLast(3) ?? ""
      // Pages of modules and of types are reached from the articles.
      return !article.contains("/Symbols/") && !name.hasPrefix("Tailrace")
        && !["Inside", "VirtualScheduler", "PerturbingExecutor"].contains(name)
    }
    for article in articles {
      #expect(links.contains(article), "README does not lead to \(article)")
    }
  }
}
