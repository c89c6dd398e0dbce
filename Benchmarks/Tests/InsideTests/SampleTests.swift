import Foundation
import Measuring
import Testing
import Works

/// Measures rows inside a test: `compare` starts this one, and asks it for samples.
@Test(.enabled(if: folder != nil, "compare asks for samples"))
func samples() async throws {
  let pipes = try SamplePipes(in: URL(filePath: try #require(folder)))
  try await pipes.serve(Topic.all)
}

private let folder = ProcessInfo.processInfo.environment[SamplePipes.variable]
