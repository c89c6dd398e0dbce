import Foundation

/// A trace as a viewer reads it.
package struct ViewedTrace: Decodable {
  package struct Event: Decodable {
    package struct Arguments: Decodable {
      package let name: String?
      package let list: String?
      package let listNumber: Int?
      package let position: Int?
      package let elements: Int?
      package let outcome: String?
      package let waitsFor: String?
      package let isGoingOn: Bool?
    }

    package let ph: String
    package let name: String
    package let cat: String?
    package let tid: Int?
    package let ts: Double?
    package let dur: Double?
    package let id: Int?
    package let args: Arguments?

    /// The positions that a step has computed.
    package var computed: [Int] {
      guard let position = args?.position, let count = args?.elements else { return [] }
      return Array(position..<position + count)
    }

    /// In nanoseconds.
    package var start: Int { Int(((ts ?? 0) * 1000).rounded()) }
    package var end: Int { start + Int(((dur ?? 0) * 1000).rounded()) }
  }

  package struct Other: Decodable { package let droppedEvents: Int }

  package let traceEvents: [Event]
  package let otherData: Other

  package init(json: Data) throws {
    self = try JSONDecoder().decode(Self.self, from: json)
  }

  package func events(_ category: String, of list: String) -> [Event] {
    traceEvents.filter { $0.cat == category && $0.args?.list == list }
  }

  /// The positions that were computed, each as often as it was.
  package func computed(_ list: String) -> [Int] {
    events("compute", of: list).flatMap(\.computed).sorted()
  }

  package var tracks: [String] {
    traceEvents.filter { $0.name == "thread_name" }.compactMap { $0.args?.name }
  }

  /// Whether what happens on a track is nested or apart, but never crosses.
  package var isNested: Bool {
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
  package var hasWholeArrows: Bool {
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
