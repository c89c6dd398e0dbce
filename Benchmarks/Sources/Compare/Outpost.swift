import Foundation
import Measuring

/// A test run that takes samples for the comparison.
final class Outpost {
  private let pipes: SamplePipes
  private let process = Process()

  init() throws {
    pipes = try SamplePipes()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // Testable imports would be another build, and other code than what runs out here.
    process.arguments = [
      "swift", "test", "-c", "release", "--disable-testable-imports", "--disable-xctest",
      "--package-path", Readme.folder.path,
    ]
    process.environment = ProcessInfo.processInfo.environment
      .merging([SamplePipes.variable: pipes.path]) { $1 }
    process.standardOutput = FileHandle.standardError
    let path = pipes.path
    process.terminationHandler = { _ in SamplePipes.giveUp(in: path) }
    try process.run()
  }

  func sample(_ topic: Topic, _ row: Row, by stopwatch: Stopwatch) throws -> Double {
    try pipes.sample(topic, row, by: stopwatch)
  }

  func close() {
    pipes.end()
    process.waitUntilExit()
  }
}
