import TailraceLists
import TailraceSupport

/// Records which task requested, computed and awaited which element of which list, and when.
///
/// ```swift
/// let recording = Recording.start()
/// let squares = LazyList(1...3).map { $0 * $0 }.named("squares")
/// async let first = squares.array()
/// async let second = squares.array()
/// _ = await (first, second)
/// recording.stop()
/// recording.chromeTrace().hasPrefix("{")   // true; as a viewer of traces opens it
/// ```
///
/// The recording opens in [Perfetto](https://ui.perfetto.dev) and in other viewers of Chrome's
/// trace format. Each task is a track; see <doc:LookingAtAList>.
///
/// A recording sees the steps of lists that are made while a recording runs, and the waits for all lists.
/// Several recordings may run at a time; each sees everything.
///
/// - Complexity: up to a microsecond for each event during a recording. Without one, steps cost nothing, and
///   a list that is made and a wait an atomic load each.
public final class Recording: Sendable {
  let state: Locked<RecordingState>
  private let start: ContinuousClock.Instant
  /// Selects the recorded lists by name; `nil` records all.
  private let isRecorded: (@Sendable (String) -> Bool)?

  private init(limit: Int, _ isRecorded: (@Sendable (String) -> Bool)?) {
    state = Locked(RecordingState(limit: limit))
    start = .now
    self.isRecorded = isRecorded
  }

  /// Starts recording.
  ///
  /// The recording continues until it is stopped, even after it was released.
  ///
  /// - Parameters:
  ///   - limit: how many events are kept: the first ones. Each takes about a hundred bytes, and each
  ///     list that has one is kept in memory, without its elements. Later events are only counted
  ///     (``droppedCount``). 0 or more.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public static func start(
    limit: Int = 250_000, file: StaticString = #fileID, line: UInt = #line
  ) -> Recording {
    require(
      limit >= 0, "Recording.start(limit:) keeps 0 or more events, not \(limit)", file: file,
      line: line)
    return start(limit: limit, of: nil)
  }

  /// Starts recording selected lists.
  static func start(limit: Int, of isRecorded: (@Sendable (String) -> Bool)?) -> Recording {
    let recording = Recording(limit: limit, isRecorded)
    Recorder.add(recording)
    return recording
  }

  private func records(_ list: RecordedList) -> Bool { isRecorded.map { $0(list.title) } ?? true }

  /// Ends the recording. Events still in progress are recorded up to now.
  public func stop() {
    guard Recorder.remove(self) else { return }
    let time = time
    state.withLock { $0.stop(at: time) }
  }

  /// How many events were not kept, because of the limit.
  public var droppedCount: Int { state.withLock { $0.dropped } }

  /// Nanoseconds since the beginning.
  private var time: Int {
    let (seconds, attoseconds) = start.duration(to: .now).components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
  }
}

extension Recording: EngineObserver {
  package func begin(
    _ span: Recorder.Span, _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int,
    _ behind: String?
  ) {
    guard records(list) else { return }
    let (track, time) = (Track.current, time)
    state.withLock { $0.begin(span, kind, list, position, track, behind, at: time) }
  }

  package func end(_ span: Recorder.Span, _ count: Int, _ outcome: String?) {
    let time = time
    state.withLock { $0.end(span, count, outcome, at: time) }
  }

  package func note(_ kind: Recorder.Kind, _ list: RecordedList, _ position: Int) {
    guard records(list) else { return }
    let (track, time) = (Track.current, time)
    state.withLock { $0.note(kind, list, position, track, at: time) }
  }
}

/// The task of an event.
struct Track: Hashable, Sendable {
  /// Distinguishes tasks that exist at the same time.
  let task: Int?
  let name: String?

  static var current: Track {
    let task = withUnsafeCurrentTask { $0?.hashValue }
    guard task != nil,
      #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    else { return Track(task: task, name: nil) }
    return Track(task: task, name: Task.name)
  }
}

/// The recorded events, as a value.
struct RecordingState: Sendable {
  struct Event: Sendable {
    let kind: Recorder.Kind
    let list: Int
    let position: Int
    let track: Int
    /// In nanoseconds, as the duration.
    let start: Int
    var duration = 0
    var count = 0
    var outcome: String?
    var behind: String?
    /// The event was in progress when the recording was stopped.
    var isOpen = false
  }

  let limit: Int
  private(set) var events: [Event] = []
  private(set) var dropped = 0
  private(set) var lists: [RecordedList] = []
  private(set) var tracks: [Track] = []
  private var open: [Recorder.Span: Event] = [:]
  private var listNumbers: [ObjectIdentifier: Int] = [:]
  private var titleNumbers: [String: Int] = [:]
  private var trackNumbers: [Track: Int] = [:]
  private var isStopped = false

  init(limit: Int) { self.limit = limit }

  mutating func begin(
    _ span: Recorder.Span, _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int,
    _ track: Track, _ behind: String?, at time: Int
  ) {
    guard hasRoom() else { return }
    open[span] = Event(
      kind: kind, list: number(of: list), position: position, track: number(of: track),
      start: time, behind: behind)
  }

  mutating func end(_ span: Recorder.Span, _ count: Int, _ outcome: String?, at time: Int) {
    guard !isStopped, var event = open.removeValue(forKey: span) else { return }
    event.duration = time - event.start
    event.count = count
    event.outcome = outcome
    events.append(event)
  }

  mutating func note(
    _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int, _ track: Track,
    at time: Int
  ) {
    guard hasRoom() else { return }
    events.append(
      Event(
        kind: kind, list: number(of: list), position: position, track: number(of: track),
        start: time))
  }

  mutating func stop(at time: Int) {
    isStopped = true
    for (_, var event) in open {
      event.duration = time - event.start
      event.isOpen = true
      events.append(event)
    }
    open = [:]
  }

  private mutating func hasRoom() -> Bool {
    if isStopped { return false }
    if events.count + open.count < limit { return true }
    dropped += 1
    return false
  }

  private mutating func number(of list: RecordedList) -> Int {
    let known =
      list.identity.map { listNumbers[ObjectIdentifier($0)] } ?? titleNumbers[list.title]
    if let known { return known }
    lists.append(list)
    if let identity = list.identity {
      listNumbers[ObjectIdentifier(identity)] = lists.count - 1
    } else {
      titleNumbers[list.title] = lists.count - 1
    }
    return lists.count - 1
  }

  private mutating func number(of track: Track) -> Int {
    if let known = trackNumbers[track] { return known }
    tracks.append(track)
    trackNumbers[track] = tracks.count - 1
    return tracks.count - 1
  }
}
