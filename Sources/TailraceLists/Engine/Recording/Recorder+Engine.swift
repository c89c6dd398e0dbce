import TailraceSupport

// The engine's calls of the recorder. None of this runs without a recording.

extension Evaluator {
  /// Runs a plain step, and records it.
  nonisolated func recordedStep(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ held: borrowing Held,
    _ absence: inout Absence, _ done: inout Producer<Element>?
  ) -> Bool {
    let span = Recorder.begin(.step, RecordedList(self), segment.start + seen.count)
    let isNew = step(segment, seen, demand, held, &absence, &done)
    if span == 0 { return isNew }
    let hasFailed = segment.mark != seen && segment.mark.hasFailed
    let reason = hasFailed ? "failed for now" : isNew ? nil : absence.recorded
    Recorder.end(span, count: newCount(segment, after: seen), reason)
    return isNew
  }

  /// How many elements a step has given: after a full segment they are in the next one of this list.
  /// The segment of a last element has no evaluator, and tells by where it begins.
  private nonisolated func newCount(_ segment: Cells, after seen: Published) -> Int {
    let mark = segment.mark
    guard mark.count == seen.count, seen.count == segment.capacity, mark.isClosed,
      case .more(let next, 0) = segment.link
    else { return mark.count - seen.count }
    let evaluator = next.evaluator
    let isOwn =
      evaluator === self || evaluator == nil && next.start == segment.start + seen.count
    return isOwn ? next.mark.count : 0
  }

  /// The list, as a recording knows it.
  nonisolated var recorded: RecordedList { steps.map { RecordedList($0) } ?? RecordedList(self) }
}

extension AsyncSteps {
  /// A running step is cancelled, because nothing can read its result.
  func noteAbandonment() { Recorder.note(.abandonment, RecordedList(self), executor.position) }

  /// The name of the task, if lists are named or recorded.
  @usableFromInline var taskName: String? {
    name.load()?.text ?? (Recorder.isOn ? recordedTitle : nil)
  }

  /// The task begins an asynchronous step.
  @usableFromInline
  func beginStep() -> Recorder.Span {
    Recorder.begin(.step, RecordedList(self), executor.position)
  }

  @usableFromInline
  func endStep(_ step: Step<Element>) {
    let span = executor.span
    executor.span = 0
    switch step {
    case .element, .last: Recorder.end(span, count: 1)
    case .become: Recorder.end(span, "goes on as another list")
    case .skip: Recorder.end(span, Absence.paused.recorded)
    case .nothing(let absence): Recorder.end(span, absence.recorded)
    }
  }

  /// A task makes the list's task continue.
  @usableFromInline
  func beginDemand() -> Recorder.Span {
    Recorder.begin(.demand, RecordedList(self), executor.position)
  }

  @usableFromInline
  func endDemand(_ span: Recorder.Span, isSuspended: Bool) {
    if isSuspended { Recorder.end(span, "suspended") } else { Recorder.end(span) }
  }
}

extension Absence {
  var recorded: String {
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

extension Segment {
  /// The list that a cursor here reads.
  var recorded: RecordedList { evaluator?.recorded ?? RecordedList(title.text) }
}

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

extension ResumeReason {
  var recorded: String {
    switch self {
    case .lookAgain: "there"
    case .takeJob: "drives on"
    case .failed: "a cycle"
    case .released: "given up"
    case .cancelled: "cancelled"
    case .unwaited: "awaited by nobody"
    }
  }
}

extension Recorder {
  /// A closure begins to run beside a list, for the element with that number.
  @usableFromInline
  static func beginBeside(_ number: Int) -> Span {
    begin(.beside, RecordedList("closure"), number)
  }

  @usableFromInline
  static func endBeside(_ span: Span, hasFailed: Bool) { end(span, hasFailed ? "failed" : nil) }
}
