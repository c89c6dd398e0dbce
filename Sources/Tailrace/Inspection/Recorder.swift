public import Synchronization

/// What the engine tells the recordings that run, and nobody else.
///
/// While there is none, all that is left of it is a load of `running`: once for each list, segment,
/// asynchronous step and wait, and never for a plain element.
@usableFromInline
enum Recorder {
  /// How many recordings run.
  @usableFromInline static let running = Atomic(0)
  private static let recordings = Locked<[Recording]>([])
  private static let lastSpan = Atomic(0)

  @inlinable static var isOn: Bool { running.load(ordering: .relaxed) != 0 }

  /// Something that takes time, from its beginning to its end; 0 when nobody records.
  @usableFromInline typealias Span = Int

  @usableFromInline
  enum Kind: Sendable {
    /// A list has elements computed, by the demand itself or in the list's task.
    case step
    /// A task has an asynchronous step of a list go on.
    case demand
    /// A task waits for an element.
    case wait
    /// A closure runs beside the list that its result is for.
    case beside
    /// A task did not get an element because it is cancelled.
    case cancellation
    /// A step in flight was cancelled, because nobody can read what it would give.
    case abandonment
  }

  // MARK: Recordings

  static func add(_ recording: Recording) {
    recordings.withLock { $0.append(recording) }
    running.add(1, ordering: .relaxed)
  }

  /// False if it did not run.
  static func remove(_ recording: Recording) -> Bool {
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

  /// Who does something: a task.
  struct Track: Hashable, Sendable {
    /// Tells the tasks apart that exist at a time.
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

/// A list, as a recording knows it.
struct RecordedList: Sendable {
  /// Kept by the recording, so that no other gets its address: it keeps neither cells nor sources.
  let identity: (any RecordedObject)?
  /// What it is called, where there is no such object.
  let title: String

  init(_ object: any RecordedObject) { (identity, title) = (object, "") }
  init(_ title: String) { (identity, self.title) = (nil, title) }
}

protocol RecordedObject: AnyObject, Sendable {
  var recordedTitle: String { get }
}

extension Evaluator: RecordedObject {
  /// The name, or else the operator.
  nonisolated var recordedTitle: String { name.load()?.text ?? stage?.text ?? title }
}
