import TailraceSupport
public import Synchronization

/// Passes events of the engine to the running recordings.
///
/// Without a recording, it costs only a load of `running`: once for each list, segment,
/// asynchronous step and wait, and never for a plain element.
@usableFromInline
enum Recorder {
  /// How many recordings run.
  @usableFromInline static let running = Atomic(0)
  private static let recordings = Locked<[any EngineObserver]>([])
  private static let lastSpan = Atomic(0)

  @inlinable static var isOn: Bool { running.load(ordering: .relaxed) != 0 }

  /// Something with a duration, from its beginning to its end; 0 without a recording.
  @usableFromInline typealias Span = Int

  @usableFromInline
  enum Kind: Sendable {
    /// A list computes elements, in the demand itself or in the list's task.
    case step
    /// A task makes an asynchronous step of a list continue.
    case demand
    /// A task waits for an element.
    case wait
    /// A closure runs beside the list that gets its result.
    case beside
    /// A task got no element because it is cancelled.
    case cancellation
    /// A running step was cancelled, because nothing can read its result.
    case abandonment
  }

  // MARK: Recordings

  static func add(_ recording: any EngineObserver) {
    recordings.withLock { $0.append(recording) }
    running.add(1, ordering: .relaxed)
  }

  /// False if it was not running.
  static func remove(_ recording: any EngineObserver) -> Bool {
    let isRemoved = recordings.withLock { recordings in
      guard let index = recordings.firstIndex(where: { $0 === recording }) else { return false }
      recordings.remove(at: index)
      return true
    }
    if isRemoved { running.subtract(1, ordering: .relaxed) }
    return isRemoved
  }

  // MARK: Events

  static func begin(_ kind: Kind, _ list: RecordedList, _ position: Int, behind: String? = nil)
    -> Span
  {
    let recordings = recordings.withLock { $0 }
    if recordings.isEmpty { return 0 }
    let span = lastSpan.add(1, ordering: .relaxed).newValue
    let track = Track.current
    for recording in recordings {
      recording.begin(span, kind, list, position, track, behind)
    }
    return span
  }

  static func end(_ span: Span, count: Int = 0, _ outcome: String? = nil) {
    for recording in recordings.withLock({ $0 }) { recording.end(span, count, outcome) }
  }

  static func note(_ kind: Kind, _ list: RecordedList, _ position: Int) {
    let track = Track.current
    for recording in recordings.withLock({ $0 }) { recording.note(kind, list, position, track) }
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
}

/// Is told what the engine does, from when it is added to the ``Recorder`` until it is removed.
protocol EngineObserver: AnyObject, Sendable {
  /// Something with a duration begins.
  func begin(
    _ span: Recorder.Span, _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int,
    _ track: Recorder.Track, _ behind: String?)

  /// It ends, having given some elements.
  func end(_ span: Recorder.Span, _ count: Int, _ outcome: String?)

  /// Something without a duration.
  func note(
    _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int, _ track: Recorder.Track)
}

/// A list, as a recording knows it.
struct RecordedList: Sendable {
  /// Retained by the recording, so that no other object gets its address. It retains neither cells
  /// nor sources.
  let identity: (any RecordedObject)?
  /// Its title, if there is no such object.
  let title: String

  init(_ object: any RecordedObject) { (identity, title) = (object, "") }
  init(_ title: String) { (identity, self.title) = (nil, title) }
}

protocol RecordedObject: AnyObject, Sendable {
  var recordedTitle: String { get }
}

extension AsyncSteps: RecordedObject {
  var recordedTitle: String { name.load()?.text ?? stage?.text ?? title.text }
}

extension Evaluator: RecordedObject {
  /// The name, or else the operator.
  nonisolated var recordedTitle: String { name.load()?.text ?? stage?.text ?? title.text }
}
