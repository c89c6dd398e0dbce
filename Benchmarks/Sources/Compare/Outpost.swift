import Foundation
import Measuring
import Works

/// A test run that takes samples for the comparison.
final class Outpost {
  private let pipes: SamplePipes
  private let process = Process()

  init() throws {
    pipes = try SamplePipes()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swift", "test", "-c", "release", "--disable-xctest", "--package-path", Readme.folder.path,
    ]
    process.environment = ProcessInfo.processInfo.environment
      .merging([SamplePipes.variable: pipes.path]) { $1 }
    process.standardOutput = FileHandle.standardError
    let path = pipes.path
    process.terminationHandler = { _ in SamplePipes.giveUp(in: path) }
    try process.run()
  }

  func sample(_ topic: Topic, _ row: Row) throws -> Double { try pipes.sample(topic, row) }

  func close() {
    pipes.end()
    process.waitUntilExit()
  }
}
