import TailraceLists

extension Recording {
  /// Returns the recording in the Trace Event Format, as JSON text.
  ///
  /// Write it to a file, and open the file in [Perfetto](https://ui.perfetto.dev).
  ///
  /// - Complexity: O(*events*). During the recording it returns the events that have ended by
  ///   then.
  public func chromeTrace() -> String {
    let state = state.withLock { $0 }
    return ChromeTrace(state).text
  }
}

/// Events, as lines of JSON.
private struct ChromeTrace {
  private let state: RecordingState
  private let titles: [String]
  private(set) var text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
  private var arrows = 0

  init(_ state: RecordingState) {
    self.state = state
    titles = state.lists.map(\.title)
    add(#"{"ph":"M","pid":1,"name":"process_name","args":{"name":"Tailrace"}}"#)
    for (number, track) in state.tracks.enumerated() { add(track, number) }
    // Events with the same beginning are nested in the order of their ends.
    let events = state.events.sorted {
      ($0.start, -$0.duration) < ($1.start, -$1.duration)
    }
    for event in events { add(event) }
    addArrows(events)
    text.removeLast(2)
    text += "\n],\"otherData\":{\"droppedEvents\":\(state.dropped)}}\n"
  }

  private mutating func add(_ line: String) {
    text += line
    text += ",\n"
  }

  private mutating func add(_ track: Track, _ number: Int) {
    let name = track.name ?? (track.task == nil ? "no task" : "task \(number + 1)")
    add(
      "{\"ph\":\"M\",\"pid\":1,\"tid\":\(number + 1),\"name\":\"thread_name\","
        + "\"args\":{\"name\":\(name.json)}}")
  }

  private mutating func add(_ event: RecordingState.Event) {
    let title = titles[event.list]
    var arguments = "\"list\":\(title.json),\"listNumber\":\(event.list + 1),"
    arguments += "\"position\":\(event.position)"
    if case .step = event.kind { arguments += ",\"elements\":\(event.count)" }
    if let outcome = event.outcome { arguments += ",\"outcome\":\(outcome.json)" }
    if let behind = event.behind { arguments += ",\"waitsFor\":\(behind.json)" }
    if event.isOpen { arguments += ",\"isGoingOn\":true" }
    let (name, category) = event.kind.words
    let place = "\"pid\":1,\"tid\":\(event.track + 1),\"ts\":\(event.start.microseconds)"
    let phase =
      switch event.kind {
      case .cancellation, .abandonment: #""ph":"i","s":"t""#
      default: "\"ph\":\"X\",\"dur\":\(event.duration.microseconds)"
      }
    let range = event.count > 1 ? "…\(event.position + event.count - 1)" : ""
    let what =
      if case .beside = event.kind { name } else { "\(name) \(title) \(event.position)\(range)" }
    add("{\(phase),\(place),\"name\":\(what.json),\"cat\":\"\(category)\",\"args\":{\(arguments)}}")
  }

  /// From demands to the steps that they began, and from steps to the tasks that waited for them.
  private mutating func addArrows(_ events: [RecordingState.Event]) {
    var steps: [Int: [RecordingState.Event]] = [:]
    for event in events {
      if case .step = event.kind, event.count > 0 { steps[event.list, default: []].append(event) }
    }
    for event in events {
      // Elements of a list are computed in order.
      guard let own = steps[event.list] else { continue }
      let index = own.firstIndexSorted { $0.position + $0.count > event.position }
      guard index < own.count, own[index].position <= event.position else { continue }
      let step = own[index]
      switch event.kind {
      case .demand where step.track != event.track && step.start >= event.start:
        addArrow("demand", event.track, event.start, step.track, step.start)
      case .wait where step.track != event.track && event.duration > 0:
        let end = event.start + event.duration - 1
        if step.start <= end { addArrow("result", step.track, step.start, event.track, end) }
      default: break
      }
    }
  }

  private mutating func addArrow(
    _ name: String, _ from: Int, _ start: Int, _ to: Int, _ end: Int
  ) {
    arrows += 1
    let what = "\"pid\":1,\"id\":\(arrows),\"name\":\"\(name)\",\"cat\":\"\(name)\""
    add("{\"ph\":\"s\",\"tid\":\(from + 1),\"ts\":\(start.microseconds),\(what)}")
    add("{\"ph\":\"f\",\"bp\":\"e\",\"tid\":\(to + 1),\"ts\":\(end.microseconds),\(what)}")
  }
}

extension Recorder.Kind {
  fileprivate var words: (name: String, category: String) {
    switch self {
    case .step: ("compute", "compute")
    case .demand: ("demand", "demand")
    case .wait: ("wait for", "wait")
    case .beside: ("closure", "beside")
    case .cancellation: ("cancelled before", "cancel")
    case .abandonment: ("given up", "cancel")
    }
  }
}

extension Array {
  /// The first index that satisfies a predicate; all later ones must satisfy it, too.
  fileprivate func firstIndexSorted(where isThere: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isThere(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Int {
  /// Nanoseconds, as microseconds.
  fileprivate var microseconds: String {
    let rest = String(self % 1000)
    return "\(self / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}

extension String {
  /// As a JSON string.
  fileprivate var json: String {
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
