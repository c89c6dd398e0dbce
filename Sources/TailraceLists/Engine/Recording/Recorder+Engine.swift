import TailraceSupport

// The engine's calls of the recorder. None of this runs without an observer, but for lists that were made
// while there was one.

// MARK: Plain steps

extension Evaluator: RecordedObject {
  package nonisolated var recordedTitle: String { name.load()?.text ?? stage?.text ?? title.text }

  /// The list, as an observer knows it.
  nonisolated var recorded: RecordedList { steps.map { RecordedList($0) } ?? RecordedList(self) }

  /// The list is made while there is an observer: its producer reports its runs. Asynchronous steps report
  /// themselves.
  // Before another task can see the evaluator. The producer then retains it, until it is released itself,
  // when the list has ended, has failed, or cannot be read any more.
  @usableFromInline @inline(never)
  nonisolated func recordSteps() {
    guard steps == nil, let producer, !producer.isRecorded else { return }
    self.producer = producer.recorded(as: recorded)
  }
}

extension Producer {
  /// A producer that reports the runs of this one.
  fileprivate func recorded(as list: RecordedList) -> Producer {
    // Guard: as the producer's.
    let given = Owned(0)
    return Producer(
      { (demand, sink) in
        let span = Recorder.isOn ? Recorder.begin(.step, list, given.state) : 0
        var count = 0
        let ending = self.run(demand) { element in
          count += 1
          return sink(element)
        }
        given.state += count
        if span != 0 { Recorder.end(span, count: count, ending.recorded(after: count)) }
        return ending
      }, of: concatenation, stage: stage, upstream: upstream, givesAhead: givesAhead,
      isRecorded: true)
  }
}

extension Ending {
  fileprivate func recorded(after count: Int) -> String? {
    switch self {
    case .stopped: count > 0 ? nil : Absence.paused.recorded
    case .become: becomingAnother
    case .nothing(let absence): absence.recorded
    }
  }
}

private let becomingAnother = "goes on as another list"

// MARK: Asynchronous steps

extension AsyncSteps: RecordedObject {
  package var recordedTitle: String { name.load()?.text ?? stage?.text ?? title.text }

  /// A running step is cancelled, because nothing can read its result.
  func noteAbandonment() { Recorder.note(.abandonment, RecordedList(self), executor.position) }

  /// The name of the task, if lists are named or recorded.
  @usableFromInline var taskName: String? {
    name.load()?.text ?? (recording == nil ? nil : recordedTitle)
  }

  /// The task begins an asynchronous step.
  @usableFromInline @inline(never)
  func beginStep() {
    recording?.span =
      Recorder.isOn ? Recorder.begin(.step, RecordedList(self), executor.position) : 0
  }

  @usableFromInline @inline(never)
  func endStep(_ step: Step<Element>) {
    guard let recording, recording.span != 0 else { return }
    let span = recording.span
    recording.span = 0
    switch step {
    case .element, .last: Recorder.end(span, count: 1)
    case .become: Recorder.end(span, becomingAnother)
    case .skip: Recorder.end(span, Absence.paused.recorded)
    case .nothing(let absence): Recorder.end(span, absence.recorded)
    }
  }

  /// A task makes the list's task continue.
  @usableFromInline @inline(never)
  func beginDemand() -> Recorder.Span {
    Recorder.isOn ? Recorder.begin(.demand, RecordedList(self), executor.position) : 0
  }

  @usableFromInline
  func endDemand(_ span: Recorder.Span, isSuspended: Bool) {
    if isSuspended { Recorder.end(span, "suspended") } else { Recorder.end(span) }
  }
}

/// The running step of a list that was made while there was an observer.
// Guard: as the step's: written and read by the list's task.
@usableFromInline
final class RecordedStep: @unchecked Sendable {
  @exclusivity(unchecked) fileprivate var span: Recorder.Span = 0

  /// `nil` without an observer.
  @usableFromInline
  static func ifObserved() -> RecordedStep? { Recorder.isOn ? RecordedStep() : nil }
}

extension Absence {
  fileprivate var recorded: String {
    switch self {
    case .end: "the end"
    case .failed: "failed"
    case .failedTransiently: "failed for now"
    case .missing(let cell): "needs \(cell.place.title) \(cell.position)"
    case .released: "released"
    case .cancelled: "cancelled"
    case .paused: "paused"
    }
  }
}

// MARK: Readers

extension Cursor {
  /// The cursor is about to wait.
  @usableFromInline
  func beginWait(_ missing: MissingCell) -> Recorder.Span {
    let behind = "\(missing.place.title) \(missing.position)"
    guard let segment else {
      return Recorder.begin(.wait, RecordedList(missing.place.title.text), missing.position)
    }
    return Recorder.begin(.wait, segment.recorded, segment.start + index, behind: behind)
  }

  @usableFromInline
  func endWait(_ span: Recorder.Span, _ wake: ResumeReason) { Recorder.end(span, wake.recorded) }

  /// The reader gets no element because its task is cancelled.
  @usableFromInline
  func noteCancellation() {
    guard Recorder.isOn, let segment else { return }
    Recorder.note(.cancellation, segment.recorded, segment.start + index)
  }
}

extension Segment {
  /// The list that a cursor here reads.
  fileprivate var recorded: RecordedList { evaluator?.recorded ?? RecordedList(title.text) }
}

extension ResumeReason {
  fileprivate var recorded: String {
    switch self {
    case .lookAgain: "there"
    case .failed: "a cycle"
    case .released: "given up"
    case .cancelled: "cancelled"
    case .unwaited: "awaited by nobody"
    }
  }
}

// MARK: Closures beside a list

extension Recorder {
  /// A closure begins to run beside a list, for the element with that number.
  @usableFromInline
  static func beginBeside(_ number: Int) -> Span {
    begin(.beside, RecordedList("closure"), number)
  }

  @usableFromInline
  static func endBeside(_ span: Span, hasFailed: Bool) { end(span, hasFailed ? "failed" : nil) }
}
