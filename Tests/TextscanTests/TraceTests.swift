import Foundation
import Testing
import TraceReading

@testable import textscan

@Suite("A scan that is looked at")
struct TraceTests {
  @Test("writes a trace in which five readers share each line")
  func trace() async throws {
    let playground = try Playground()
    for name in ["a", "b", "c"] {
      try playground.file("in/\(name)", String(repeating: "some words in a line\n", count: 677))
    }
    let path = playground.path + "/trace.json"
    // As a process of its own: a recording sees all of its process.
    let result = try await playground.run("--trace '\(path)' '\(playground.path)/in'")
    #expect(result.status == 0)

    let trace = try ViewedTrace(json: Data(contentsOf: URL(filePath: path)))
    let slices = trace.traceEvents.filter { $0.ph == "X" }
    for slice in slices {
      for value in [slice.tid, slice.args?.listNumber, slice.args?.position] {
        _ = try #require(value)
      }
      for time in [slice.ts, slice.dur] { _ = try #require(time) }
    }
    let steps = Dictionary(grouping: slices.filter { $0.cat == "compute" }) { $0.args?.listNumber }
    var complete = 0
    for (_, steps) in steps {
      let positions = steps.flatMap(\.computed)
      #expect(Set(positions).count == positions.count, "no element is computed twice")
      if positions.sorted() == Array(0..<2031) { complete += 1 }
    }
    #expect(
      complete == 2, "each line is computed: by the list of lines, and by the list in step over it")
    #expect(slices.filter { $0.cat == "wait" }.allSatisfy { $0.start <= $0.end })
    #expect(trace.isNested)
    #expect(!Set(trace.tracks).isDisjoint(with: ReaderName.allCases.map(\.rawValue)))
    #expect(trace.otherData.droppedEvents == 0)
  }

  private static let places = [
    ("missing/trace", "No such file or directory"), ("", "Is a directory"),
    // A device that is full, where there is one.
    ("/dev/full", "No space left on device"),
  ].filter { $0.0 != "/dev/full" || FileManager.default.fileExists(atPath: $0.0) }

  @Test(
    "a trace that cannot be written is noted, and makes the exit status 1", arguments: places)
  func unwritable(_ name: String, _ reason: String) async throws {
    let playground = try Playground()
    let path = try playground.file("a", "text\n")
    let trace = name.hasPrefix("/") ? name : "\(playground.path)/\(name)"
    let result = try await playground.run("--json --trace '\(trace)' '\(path)'")
    #expect(result.status == 1)
    #expect(result.notes == ["textscan: \(name): \(reason)"])
    // The rest is as it would be without.
    #expect(result.output.contains("\"lines\" : 1"))
  }

  @Test("draws what computes the lines")
  func diagram() async throws {
    let playground = try Playground()
    let path = try playground.file("a", "text\nmore\n")
    let (report, output) = try await playground.output("--diagram", path)
    #expect(report.reading.linesProduced == 2)
    #expect(output.contains(#"["lines<br/>1 evaluated, unresolved"]"#), "\(output)")
    #expect(output.contains(#"["concurrentMap"]"#), "\(output)")
  }
}
