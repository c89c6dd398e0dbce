public import Synchronization

// The asynchronous part: steps that may suspend, in the list's own task.
extension Evaluator {
  /// Lets the list's task compute the cell after the front of `segment`, until it suspends. If
  /// there is nothing new to read, `absence` says why.
  @inlinable @inline(never)
  nonisolated func demand(
    _ segment: Cells, after mark: Published, of task: StepTask, isBulk: Bool = false,
    isOutermost: Bool, _ absence: inout Absence
  ) -> DemandOutcome {
    guard claim.take() else {
      absence = .missing(MissingCell(segment, mark: mark, isBulk: isBulk))
      return .nothing
    }
    guard segment.published.load(ordering: .relaxed) == mark else {
      letGo()
      return .new
    }
    let position = segment.start + mark.count
    let attempt = beginAttempt()
    task.computed.store(position, ordering: .relaxed)
    if isBulk {
      task.wantAll(from: position, before: segment.end(after: mark))
    } else {
      task.wanted.store(position + 1, ordering: .relaxed)
    }
    borrowed = .passUnretained(segment)
    if !task.isStarted { start(task) }
    let span = Recorder.isOn ? beginDemand(at: position) : 0
    let drive = task.drive(isOutermost: isOutermost)
    if span != 0 { endDemand(span, drive) }
    switch drive {
    case .suspended:
      task.wanted.store(0, ordering: .relaxed)
      serveWhenSuspended(task)
      absence = .missing(MissingCell(segment, mark: mark, isBulk: isBulk, attempt: attempt))
      return .nothing
    case .parked:
      let isPast = segment.published.load(ordering: .relaxed) != mark
      switch letGoOfTask(isPast: isPast, isBulk: isBulk) {
      case .failedTransiently(let failure):
        absence = .failedTransiently(failure)
        return .nothing
      case .failedBehind(let attempt): return .failedBehind(attempt)
      case .abandoned:
        absence = .released
        return .nothing
      case .retry, .drive, .cancelled, .cycle: return .new
      }
    }
  }

  /// The task has parked, and its driver releases the claim. Returns the outcome for the driver:
  /// that of its own cell, or, if it wanted several, of the first missing one.
  ///
  /// A task that went on for other readers has told them the outcome.
  @inlinable
  nonisolated func letGoOfTask(isPast: Bool, isBulk: Bool) -> ResumeReason {
    assert(claim.isHeld)
    guard let undelivered = undelivered.take() else {
      letGo()
      return .retry
    }
    var outcome = undelivered
    if isPast {
      outcome = .retry
      if isBulk, case .failedTransiently(let failure) = undelivered, let task {
        outcome = .failedBehind(failedAttempt(at: task.position, failure))
      }
    }
    letGo()
    return outcome
  }

  /// A reader that has waited drives the task on. Returns the outcome for it; or the attempt that goes on,
  /// if the step has suspended again.
  @usableFromInline
  nonisolated func driveOn(
    _ task: StepTask, wanting end: Int, isBulk: Bool, isThere: () -> Bool
  ) -> Waited {
    // Retained here while it is borrowed.
    let held = open
    borrowed = held.map(Unmanaged.passUnretained)
    task.wanted.store(end, ordering: .relaxed)
    let attempt = attempts
    return withExtendedLifetime(held) {
      if case .parked = task.driveOn() {
        // Another reader may have begun this attempt.
        keepUndelivered()
        return .over(letGoOfTask(isPast: isThere(), isBulk: isBulk))
      }
      task.wanted.store(0, ordering: .relaxed)
      serveWhenSuspended(task)
      return .suspended(attempt: attempt)
    }
  }

  /// What a reader has waited for.
  @usableFromInline
  enum Waited {
    case over(ResumeReason)
    /// The reader has driven the step on, which has suspended again.
    case suspended(attempt: UInt32)
  }

  /// A driver leaves a suspended step, which may wait for a reader of the cells before it. Readers
  /// that came to wait for these cells while the task went on without a fence are woken.
  @usableFromInline
  nonisolated func serveWhenSuspended(_ task: StepTask) {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if claim.isContested { _ = serve(before: task.position) }
  }

  /// For the holder of the claim.
  @usableFromInline
  nonisolated func start(_ task: StepTask) {
    assert(claim.isHeld)
    guard let asyncProducer else { fatalError(Anchor<Element>.releasedText) }
    task.start(self) {
      Task(name: taskName, executorPreference: task) {
        await WorkerToken.withToken(task) { await asyncProducer.run(TaskSteps(self, task)) }
      }
    }
  }

  /// A step has been taken. True if the task has to park now. For the holder of the claim, which is
  /// the task.
  @inlinable
  nonisolated func finish(_ step: Step<Element>, of task: StepTask) -> Bool {
    assert(claim.isHeld)
    switch write(step, of: task) {
    case .over:
      if let leftover = leftover() { ReleaseQueue.release(leftover) }
      return false
    case .leftOpen: break
    case .wrote(let position):
      var wanted = task.wanted.load(ordering: .relaxed)
      // The cell is published before the waiters' mark is read; waiters set the mark before they
      // look for the cell (`enter`). Without a fence on both sides each could miss the other. A
      // driver makes up for it when the next step suspends (`serveWhenSuspended`).
      if !task.isDriven { atomicMemoryFence(ordering: .sequentiallyConsistent) }
      if claim.isContested {
        // First the waiters for published cells: the next step may wait for them.
        wanted = max(wanted, serve(before: position))
        if claim.isAbandoned { wanted = 0 }
      }
      if position < wanted {
        task.computed.store(position, ordering: .relaxed)
        return false
      }
    }
    task.willPark()
    return true
  }

  @usableFromInline
  enum Progress {
    /// The cells before this position are written.
    case wrote(Int)
    case leftOpen
    case over
  }

  /// Writes the result of a step. For the holder of the claim.
  @inlinable
  nonisolated func write(_ step: Step<Element>, of task: StepTask) -> Progress {
    assert(claim.isHeld)
    if task.isDriven, let borrowed {
      return borrowed._withUnsafeGuaranteedRef { write(step, into: $0) }
    }
    // Nothing can read any more.
    guard let open else { return .over }
    return write(step, into: open)
  }

  @inlinable @inline(__always)
  nonisolated func write(_ step: Step<Element>, into segment: Cells) -> Progress {
    let mark = segment.published.load(ordering: .relaxed)
    let isFull = mark.count == segment.capacity
    switch step {
    case .element(let element):
      if isFull { extend(segment, with: element) } else { segment.append(element, to: mark) }
      return .wrote(segment.start + mark.count + 1)
    case .last(let element):
      if isFull {
        let last = Cells(evaluated: CollectionOfOne(element), link: .end)
        segment.close(.more(last, 0), at: mark)
      } else {
        segment.append(element, to: mark)
        segment.close(.end, at: mark.appended)
      }
    case .become(let list): segment.close(list.destination(from: segment), at: mark)
    case .nothing(.end): segment.close(.end, at: mark)
    case .nothing(.failed(let failure)): segment.close(.failed(failure), at: mark)
    case .nothing(.cancelled) where !claim.isAbandoned:
      // Only the step itself can have cancelled its task.
      segment.close(.failed(CancellationError()), at: mark)
    case .nothing(.failedTransiently(let failure)): return leave(.failedTransiently(failure))
    case .nothing(.released): return leave(.abandoned)
    case .nothing: return .leftOpen
    }
    return .over
  }

  /// The step has written nothing: the waiters are told why now, and the driver later.
  @usableFromInline @inline(never)
  nonisolated func leave(_ why: ResumeReason) -> Progress {
    undelivered = why
    if claim.isContested { dismiss(why) }
    return .leftOpen
  }
}

/// The steps of a list with a task. The closure of an asynchronous operator takes them one after
/// the other, for the lifetime of the list.
///
/// The task holds the list's claim whenever it runs.
@usableFromInline
struct TaskSteps<Element: Sendable>: Sendable {
  @usableFromInline let evaluator: Evaluator<Element>
  @usableFromInline let task: StepTask

  @usableFromInline
  init(_ evaluator: Evaluator<Element>, _ task: StepTask) {
    self.evaluator = evaluator
    self.task = task
  }

  /// Takes a step, and as many more as are wanted, and waits for the next demand, until there are
  /// no more steps, or nothing can read.
  // A loop without a closure saves a return, at which the runtime looks up where to continue, under
  // a lock: `map` has one ("Async steps").
  @inlinable @inline(__always)
  nonisolated(nonsending) func take(
    _ step: nonisolated(nonsending) () async -> Step<Element>
  ) async {
    while begin() {
      if finish(await step()) { await task.park() }
    }
  }

  /// False if there is no other step to take; then the task has ended.
  @inlinable @inline(__always)
  func begin() -> Bool {
    if evaluator.asyncProducer == nil {
      task.end()
      return false
    }
    if Recorder.isOn { task.span = evaluator.beginStep(of: task) }
    return true
  }

  /// How many elements after the written ones the demand that runs the task wants. None once the
  /// demand has left because a step has suspended, or was cancelled.
  @inlinable
  var wanted: Int {
    max(0, task.wanted.load(ordering: .relaxed) - task.computed.load(ordering: .relaxed))
  }

  /// A step has been taken. True if the task has to park now, until the next demand.
  ///
  /// The step is consumed: a parked task must retain no element.
  @inlinable @inline(__always)
  func finish(_ step: consuming Step<Element>) -> Bool {
    if task.span != 0 { evaluator.endStep(step, of: task) }
    return evaluator.finish(step, of: task)
  }
}

extension Evaluator: SteppingList {
  @usableFromInline nonisolated var title: String {
    name.load()?.text ?? "LazyList<\(Element.self)>"
  }

  @usableFromInline
  nonisolated func isLeft() {
    let segment = borrowed?.takeUnretainedValue()
    if open !== segment { open = segment }
  }

  @usableFromInline
  nonisolated func hasParked() {
    keepUndelivered()
    undelivered = nil
    letGo()
  }
}
