import Foundation
import Tailrace
import Testing

/// A trace as a viewer reads it.
struct Trace: Decodable {
  struct Event: Decodable {
    struct Arguments: Decodable {
      let name: String?
      let list: String?
      let listNumber: Int?
      let position: Int?
      let elements: Int?
      let outcome: String?
      let waitsFor: String?
      let isGoingOn: Bool?
    }

    let ph: String
    let name: String
    let cat: String?
    let tid: Int?
    let ts: Double?
    let dur: Double?
    let id: Int?
    let args: Arguments?

    /// In nanoseconds.
    var start: Int { Int(((ts ?? 0) * 1000).rounded()) }
    var end: Int { start + Int(((dur ?? 0) * 1000).rounded()) }
  }

  struct Other: Decodable { let droppedEvents: Int }

  let traceEvents: [Event]
  let otherData: Other

  init(_ recording: Recording) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(recording.chromeTrace().utf8))
  }

  func events(_ category: String, of list: String) -> [Event] {
    traceEvents.filter { $0.cat == category && $0.args?.list == list }
  }

  /// The positions that were computed, each as often as it was.
  func computed(_ list: String) -> [Int] {
    events("compute", of: list).flatMap { event -> [Int] in
      guard let position = event.args?.position, let count = event.args?.elements else { return [] }
      return Array(position..<position + count)
    }.sorted()
  }

  var tracks: [String] {
    traceEvents.filter { $0.name == "thread_name" }.compactMap { $0.args?.name }
  }

  /// Whether what happens on a track is nested or apart, but never crosses.
  var isNested: Bool {
    for (_, events) in Dictionary(grouping: traceEvents.filter { $0.ph == "X" }, by: { $0.tid }) {
      var open: [Event] = []
      for event in events.sorted(by: { ($0.start, -$0.end) < ($1.start, -$1.end) }) {
        while let last = open.last, last.end <= event.start { open.removeLast() }
        if let last = open.last, last.end < event.end { return false }
        open.append(event)
      }
    }
    return true
  }

  /// Whether each arrow begins and ends once, inside of something.
  var hasWholeArrows: Bool {
    let starts = traceEvents.filter { $0.ph == "s" }
    let ends = traceEvents.filter { $0.ph == "f" }
    guard starts.map(\.id) == ends.map(\.id), Set(starts.map(\.id)).count == starts.count else {
      return false
    }
    for (_, events) in Dictionary(grouping: traceEvents.filter { $0.ts != nil }, by: { $0.tid }) {
      var end = Int.min
      for event in events.sorted(by: {
        ($0.start, $0.dur == nil ? 1 : 0) < ($1.start, $1.dur == nil ? 1 : 0)
      }) {
        if event.ph == "X" { end = max(end, event.end) }
        if event.ph == "s" || event.ph == "f", event.start > end { return false }
      }
    }
    return true
  }
}
