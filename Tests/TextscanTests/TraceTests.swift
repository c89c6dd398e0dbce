import Foundation
import Testing

@testable import textscan

@Suite("A scan that is looked at")
struct TraceTests {
  private struct Slice {
    let list: Int
    let track: Int
    let position: Int
    let elements: Int
    let start: Int
    let end: Int
  }

  private static func slices(_ events: [[String: Any]], _ category: String? = nil) throws -> [Slice]
  {
    try events.compactMap { event in
      guard event["ph"] as? String == "X", category == nil || event["cat"] as? String == category
      else { return nil }
      let arguments = try #require(event["args"] as? [String: Any])
      let start = try #require(event["ts"] as? Double)
      let duration = try #require(event["dur"] as? Double)
      return Slice(
        list: try #require(arguments["listNumber"] as? Int),
        track: try #require(event["tid"] as? Int),
        position: try #require(arguments["position"] as? Int),
        elements: arguments["elements"] as? Int ?? 0,
        start: Int((start * 1000).rounded()), end: Int(((start + duration) * 1000).rounded()))
    }
  }

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

    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
    let trace = try #require(json as? [String: Any])
    let events = try #require(trace["traceEvents"] as? [[String: Any]])
    let steps = Dictionary(grouping: try Self.slices(events, "compute"), by: \.list)
    var complete = 0
    for (_, steps) in steps {
      let positions = steps.flatMap { Array($0.position..<$0.position + $0.elements) }
      #expect(Set(positions).count == positions.count, "no element is computed twice")
      if positions.sorted() == Array(0..<2031) { complete += 1 }
    }
    #expect(complete == 1, "each line is computed")
    #expect(try Self.slices(events, "wait").allSatisfy { $0.start <= $0.end })
    for (_, slices) in Dictionary(grouping: try Self.slices(events), by: \.track) {
      #expect(Self.areNested(slices))
    }
    let tracks = events.filter { $0["name"] as? String == "thread_name" }
      .compactMap { ($0["args"] as? [String: Any])?["name"] as? String }
    #expect(!Set(tracks).isDisjoint(with: ReaderName.allCases.map(\.rawValue)))
    let other = try #require(trace["otherData"] as? [String: Any])
    #expect(other["droppedEvents"] as? Int == 0)
  }

  /// Whether slices are apart, or one in the other.
  private static func areNested(_ slices: [Slice]) -> Bool {
    var open: [Slice] = []
    for slice in slices.sorted(by: { ($0.start, -$0.end) < ($1.start, -$1.end) }) {
      while let last = open.last, last.end <= slice.start { open.removeLast() }
      if let last = open.last, last.end < slice.end { return false }
      open.append(slice)
    }
    return true
  }

  @Test("notes that the trace cannot be written")
  func unwritable() async throws {
    let playground = try Playground()
    let path = try playground.file("a", "text\n")
    let result = try await playground.run("--trace '\(playground.path)/missing/trace' '\(path)'")
    #expect(result.notes == ["textscan: missing/trace: No such file or directory"])
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
