import Foundation
import Works

/// The part of `Benchmarks/README.md` that the comparison writes; the rest it leaves alone.
struct Readme {
  private static let begin = "<!-- compare: begin -->"
  private static let end = "<!-- compare: end -->"

  /// The folder of the package.
  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Replaces tables and pictures.
  static func write(_ results: Results) throws {
    let pictureFolder = folder.appending(path: "Pictures")
    try FileManager.default.createDirectory(at: pictureFolder, withIntermediateDirectories: true)
    for (file, chart) in results.pictures {
      let picture = pictureFolder.appending(path: "\(file).svg")
      try chart.svg.write(to: picture, atomically: true, encoding: .utf8)
    }
    let readme = folder.appending(path: "README.md")
    let text = try String(contentsOf: readme, encoding: .utf8)
    guard let start = text.range(of: begin), let stop = text.range(of: end) else {
      throw Flaw("\(readme.path) has lost the marks between which figures are written")
    }
    let figures = section(results).joined(separator: "\n\n")
    let rewritten =
      text[..<start.upperBound] + "\n\n" + figures + "\n\n" + text[stop.lowerBound...]
    try String(rewritten).write(to: readme, atomically: true, encoding: .utf8)
  }

  private static func section(_ results: Results) -> [String] {
    var parts = ["## What came out", results.surroundings]
    parts += results.pictures.map { "![\($0.chart.title)](Pictures/\($0.file).svg)" }
    for (heading, table) in results.tables {
      parts += ["### \(heading)", table.lines.joined(separator: "\n")]
    }
    parts += [
      "### Every size",
      "<details><summary>All times: medians, in nanoseconds</summary>",
      results.times.lines.joined(separator: "\n"), "</details>",
    ]
    return parts
  }
}
