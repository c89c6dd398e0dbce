import Measuring
import Foundation

/// The part of `Benchmarks/README.md` that the comparison writes; the rest it leaves alone.
struct Readme {
  /// The folder of the package.
  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Replaces tables and pictures.
  static func write(_ comparison: Comparison) throws {
    let pictureFolder = folder.appending(path: "Pictures")
    try FileManager.default.createDirectory(at: pictureFolder, withIntermediateDirectories: true)
    for (file, chart) in comparison.results.pictures {
      let picture = pictureFolder.appending(path: "\(file).svg")
      try chart.svg.write(to: picture, atomically: true, encoding: .utf8)
    }
    let readme = folder.appending(path: "README.md")
    try MarkedFile.write(section(comparison), into: readme)
    try MarkedFile.write(
      [comparison.summary.lines.joined(separator: "\n"), comparison.surroundings], into: readme,
      between: "ten rows")
  }

  private static func section(_ comparison: Comparison) -> [String] {
    var parts = ["## What came out", comparison.surroundings]
    parts += comparison.results.pictures.map { "![\($0.chart.title)](Pictures/\($0.file).svg)" }
    for (heading, table) in comparison.tables {
      parts += ["### \(heading)", table.lines.joined(separator: "\n")]
    }
    parts += [
      "### Every size",
      "<details><summary>All times: medians, in nanoseconds</summary>",
      comparison.results.times.lines.joined(separator: "\n"), "</details>",
    ]
    return parts
  }
}
