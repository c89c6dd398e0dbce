/// A record of who demanded, computed and waited for which element of which list, and when.
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
/// What it has recorded opens in [Perfetto](https://ui.perfetto.dev) and in other viewers of Chrome's
/// trace format. Each task is a track; see <doc:LookingAtAList>.
///
/// It sees what the program does while it runs: lists that are made then, and those that were there
/// before, from the next piece of their cells on (at most 128 elements later). Several recordings may
/// run at a time; each sees everything.
///
/// - Complexity: up to a microsecond for each event, while one runs. While none does, plain steps cost
///   nothing for it, and asynchronous ones and waits an atomic load each.
public final class Recording: Sendable {
  let state: Locked<RecordingState>
  private let start: ContinuousClock.Instant
  /// The lists that are recorded, by what they are called; all, if there is none.
  private let isRecorded: (@Sendable (String) -> Bool)?

  private init(limit: Int, _ isRecorded: (@Sendable (String) -> Bool)?) {
    state = Locked(RecordingState(limit: limit))
    start = .now
    self.isRecorded = isRecorded
  }

  /// Begins to record.
  ///
  /// The recording goes on until it is stopped, also when nobody holds it.
  ///
  /// - Parameters:
  ///   - limit: how many events are kept, at about a hundred bytes each: the first ones. Those that come
  ///     later are counted only (``droppedCount``). 0 or more.
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

  /// Begins to record some lists of many.
  static func start(limit: Int, of isRecorded: (@Sendable (String) -> Bool)?) -> Recording {
    let recording = Recording(limit: limit, isRecorded)
    Recorder.add(recording)
    return recording
  }

  private func records(_ list: RecordedList) -> Bool {
    isRecorded.map { $0(list.identity?.recordedTitle ?? list.title) } ?? true
  }

  /// Ends the recording. What is going on then is recorded as far as it has come.
  public func stop() {
    guard Recorder.remove(self) else { return }
    let time = time
    state.withLock { $0.stop(at: time) }
  }

  /// How many events were not kept, because there were too many.
  public var droppedCount: Int { state.withLock { $0.dropped } }

  /// Nanoseconds since the beginning.
  private var time: Int {
    let (seconds, attoseconds) = start.duration(to: .now).components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
  }

  // MARK: Events

  func begin(
    _ span: Recorder.Span, _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int,
    _ track: Recorder.Track, _ behind: String?
  ) {
    guard records(list) else { return }
    let time = time
    state.withLock { $0.begin(span, kind, list, position, track, behind, at: time) }
  }

  func end(_ span: Recorder.Span, _ count: Int, _ outcome: String?) {
    let time = time
    state.withLock { $0.end(span, count, outcome, at: time) }
  }

  func note(
    _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int, _ track: Recorder.Track
  ) {
    guard records(list) else { return }
    let time = time
    state.withLock { $0.note(kind, list, position, track, at: time) }
  }
}

/// What has been recorded, as a value.
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
    /// It was going on when the recording was stopped.
    var isOpen = false
  }

  let limit: Int
  private(set) var events: [Event] = []
  private(set) var dropped = 0
  private(set) var lists: [RecordedList] = []
  private(set) var tracks: [Recorder.Track] = []
  private var open: [Recorder.Span: Event] = [:]
  private var listNumbers: [ObjectIdentifier: Int] = [:]
  private var titleNumbers: [String: Int] = [:]
  private var trackNumbers: [Recorder.Track: Int] = [:]
  private var isStopped = false

  init(limit: Int) { self.limit = limit }

  mutating func begin(
    _ span: Recorder.Span, _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int,
    _ track: Recorder.Track, _ behind: String?, at time: Int
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
    _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int, _ track: Recorder.Track,
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

  private mutating func number(of track: Recorder.Track) -> Int {
    if let known = trackNumbers[track] { return known }
    tracks.append(track)
    trackNumbers[track] = tracks.count - 1
    return tracks.count - 1
  }
}
