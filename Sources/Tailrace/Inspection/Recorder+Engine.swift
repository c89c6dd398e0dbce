// The engine's calls of the recorder. None of this runs without a recording.

extension Evaluator {
  /// Runs a plain step, and records it.
  nonisolated func recordedStep(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ absence: inout Absence,
    _ done: inout Producer<Element>?
  ) -> DemandOutcome {
    let span = Recorder.begin(.step, RecordedList(self), segment.start + seen.count)
    let outcome = step(segment, seen, demand, &absence, &done)
    let count = newCount(segment, after: seen)
    let reason =
      switch outcome {
      case .new: String?.none
      case .failedBehind: "failed for now"
      case .nothing: absence.recorded
      }
    Recorder.end(span, count: count, reason)
    return outcome
  }

  /// How many elements a step has given: after a full segment they are in another one.
  private nonisolated func newCount(_ segment: Cells, after seen: Published) -> Int {
    let mark = segment.published.load(ordering: .acquiring)
    guard mark.count == seen.count, seen.count == segment.capacity, mark.isClosed,
      case .more(let next, 0) = segment.link
    else { return mark.count - seen.count }
    let last = next.published.load(ordering: .acquiring)
    if next.source.evaluator === self { return last.count }
    guard case .end = next.link, next.storage == nil, next.label == nil else { return 0 }
    return last == Published(count: 1, isClosed: true) ? 1 : 0
  }

  /// The list's task begins an asynchronous step.
  @usableFromInline
  nonisolated func beginStep(of task: StepTask) -> Recorder.Span {
    Recorder.begin(.step, RecordedList(self), task.position)
  }

  @usableFromInline
  nonisolated func endStep(_ step: Step<Element>, of task: StepTask) {
    let span = task.span
    task.span = 0
    switch step {
    case .element, .last: Recorder.end(span, count: 1)
    case .become: Recorder.end(span, "goes on as another list")
    case .nothing(let absence): Recorder.end(span, absence.recorded)
    }
  }

  /// A task makes the list's task continue.
  @usableFromInline
  nonisolated func beginDemand(at position: Int) -> Recorder.Span {
    Recorder.begin(.demand, RecordedList(self), position)
  }

  @usableFromInline
  nonisolated func endDemand(_ span: Recorder.Span, _ drive: StepTask.Drive) {
    if case .suspended = drive { Recorder.end(span, "suspended") } else { Recorder.end(span) }
  }

  nonisolated func noteAbandonment() {
    guard let task else { return }
    Recorder.note(.abandonment, RecordedList(self), task.position)
  }

  /// The name of the list's task, if lists are named or recorded.
  @usableFromInline nonisolated var taskName: String? {
    name.load()?.text ?? (Recorder.isOn ? recordedTitle : nil)
  }
}

extension Absence {
  var recorded: String {
    switch self {
    case .end: "the end"
    case .failed: "failed"
    case .failedTransiently: "failed for now"
    case .missing(let cell): "needs \(cell.cells.title) \(cell.position)"
    case .released: "released"
    case .cancelled: "cancelled"
    case .paused: "paused"
    }
  }
}

extension Segment {
  /// The list that a cursor here reads.
  var recorded: RecordedList { source.evaluator.map { RecordedList($0) } ?? RecordedList(title) }
}

extension Cursor {
  /// The cursor is about to wait.
  @usableFromInline
  func beginWait(_ missing: MissingCell) -> Recorder.Span {
    let behind = "\(missing.cells.title) \(missing.position)"
    guard let segment else {
      return Recorder.begin(.wait, RecordedList(missing.cells.title), missing.position)
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
    case .retry: "there"
    case .drive: "drives on"
    case .cancelled: "cancelled"
    case .failedTransiently, .failedBehind: "failed for now"
    case .abandoned: "given up"
    case .cycle: "a cycle"
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
