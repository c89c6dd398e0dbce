import Foundation
import PackagePlugin

/// Makes tests of the Swift blocks in the documentation, whenever one of its files has changed.
@main
struct SnippetPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) async throws -> [Command] {
    let package = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL
    let given = target.directoryURL.appending(path: "Given")
    let documents =
      try ["README.md", "Benchmarks/README.md"].map { package.appending(path: $0) }
      + files(below: package.appending(path: "Sources")) { $0.pathExtension == "md" }
      + files(below: package.appending(path: "Sources")) { url in
        url.pathExtension == "swift" && url.pathComponents.contains { $0.hasPrefix("Tailrace") }
      }
    let tool = try context.tool(named: "SnippetTool")
    return [
      .buildCommand(
        displayName: "Snippets of the documentation", executable: tool.url,
        arguments: [package.path, given.path, output.path] + documents.map(\.path),
        inputFiles: try documents + files(below: given) { $0.pathExtension == "swift" },
        outputFiles: ["ArticleSnippets.swift", "SymbolSnippets.swift"].map {
          output.appending(path: $0)
        })
    ]
  }

  private func files(below folder: URL, where isWanted: (URL) -> Bool) throws -> [URL] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? []).filter(isWanted).sorted { $0.path < $1.path }
  }
}
