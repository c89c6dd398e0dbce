import TailraceSupport
public import Synchronization

/// Passes events of the engine to the observers that are added.
///
/// A list that is made while an observer is there reports its steps for as long as there is one. Others
/// report nothing, and cost nothing but a load of `running` when they are made and before each wait.
@usableFromInline
package enum Recorder {
  /// The number of observers.
  @usableFromInline static let running = Atomic(0)
  private static let observers = Locked<[any EngineObserver]>([])
  private static let lastSpan = Atomic(0)

  @inlinable static var isOn: Bool { running.load(ordering: .relaxed) != 0 }

  /// Something with a duration, from its beginning to its end; 0 without an observer.
  @usableFromInline package typealias Span = Int

  package enum Kind: Sendable {
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

  // MARK: Observers

  package static func add(_ observer: any EngineObserver) {
    observers.withLock { $0.append(observer) }
    running.add(1, ordering: .relaxed)
  }

  /// False if it was not there.
  package static func remove(_ observer: any EngineObserver) -> Bool {
    let isRemoved = observers.withLock { observers in
      guard let index = observers.firstIndex(where: { $0 === observer }) else { return false }
      observers.remove(at: index)
      return true
    }
    if isRemoved { running.subtract(1, ordering: .relaxed) }
    return isRemoved
  }

  // MARK: Events

  static func begin(_ kind: Kind, _ list: RecordedList, _ position: Int, behind: String? = nil)
    -> Span
  {
    let observers = observers.withLock { $0 }
    if observers.isEmpty { return 0 }
    let span = lastSpan.add(1, ordering: .relaxed).newValue
    for observer in observers { observer.begin(span, kind, list, position, behind) }
    return span
  }

  static func end(_ span: Span, count: Int = 0, _ outcome: String? = nil) {
    for observer in observers.withLock({ $0 }) { observer.end(span, count, outcome) }
  }

  static func note(_ kind: Kind, _ list: RecordedList, _ position: Int) {
    for observer in observers.withLock({ $0 }) { observer.note(kind, list, position) }
  }
}

/// Learns what the engine does, in the task that does it, from when it is added to the ``Recorder`` until it
/// is removed.
package protocol EngineObserver: AnyObject, Sendable {
  /// Something with a duration begins.
  func begin(
    _ span: Recorder.Span, _ kind: Recorder.Kind, _ list: RecordedList, _ position: Int,
    _ behind: String?)

  /// It ends, having given some elements.
  func end(_ span: Recorder.Span, _ count: Int, _ outcome: String?)

  /// Something without a duration.
  func note(_ kind: Recorder.Kind, _ list: RecordedList, _ position: Int)
}

/// A list, as an observer knows it.
package struct RecordedList: Sendable {
  /// Retained by the observer, so that no other object gets its address. It retains neither cells nor
  /// elements.
  package let identity: (any RecordedObject)?
  private let text: String

  init(_ object: any RecordedObject) { (identity, text) = (object, "") }
  init(_ title: String) { (identity, text) = (nil, title) }

  package var title: String { identity?.recordedTitle ?? text }
}

package protocol RecordedObject: AnyObject, Sendable {
  /// The name, or else the operator.
  var recordedTitle: String { get }
}
