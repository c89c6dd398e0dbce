import Foundation
import Works

/// The part of `Benchmarks/README.md` that the comparison writes; the rest it leaves alone.
struct Readme {
  private static let begin = "<!-- compare: begin -->"
  private static let end = "<!-- compare: end -->"

  /// The folder of the package.
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Replaces tables and pictures.
  static func write(_ results: Results) throws {
    var pictures: [(file: String, chart: Chart)] = [("cost", results.costs)]
    if let sizes = results.sizes { pictures.append(("sizes", sizes)) }
    if let readers = results.readers { pictures.append(("readers", readers)) }
    let pictureFolder = folder.appending(path: "Pictures")
    try FileManager.default.createDirectory(at: pictureFolder, withIntermediateDirectories: true)
    for (file, chart) in pictures {
      let picture = pictureFolder.appending(path: "\(file).svg")
      try chart.svg.write(to: picture, atomically: true, encoding: .utf8)
    }
    let readme = folder.appending(path: "README.md")
    let text = try String(contentsOf: readme, encoding: .utf8)
    guard let start = text.range(of: begin), let stop = text.range(of: end) else {
      throw Flaw("\(readme.path) has lost the marks between which figures are written")
    }
    let figures = section(results, pictures).joined(separator: "\n\n")
    let rewritten =
      text[..<start.upperBound] + "\n\n" + figures + "\n\n" + text[stop.lowerBound...]
    try String(rewritten).write(to: readme, atomically: true, encoding: .utf8)
  }

  private static func section(
    _ results: Results, _ pictures: [(file: String, chart: Chart)]
  ) -> [String] {
    var parts = ["## What came out", results.surroundings]
    parts += pictures.map { "![\($0.chart.title)](Pictures/\($0.file).svg)" }
    parts += ["### Against the peers", markdown(results.ratios)]
    if let growth = results.growth {
      parts += ["### How cost grows", markdown(growth)]
    }
    if let quantities = results.quantities {
      parts += ["### Memory and allocations", markdown(quantities)]
    }
    parts += [
      "### Every size",
      "<details><summary>All times, in nanoseconds per element and reader</summary>",
      markdown(results.times), "</details>",
    ]
    return parts
  }

  private static func markdown(_ table: Table) -> String { table.lines.joined(separator: "\n") }
}
