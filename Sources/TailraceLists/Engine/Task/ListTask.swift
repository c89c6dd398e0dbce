import TailraceSupport
public import Synchronization

/// The asynchronous steps of a list: the closure that takes them in the list's own task, and the
/// cells that the task writes.
///
/// A demand passes the list's claim to the task, and gets it back if the task parks. If a step has
/// really suspended, the task keeps the claim, writes its cells, and releases the claim itself when
/// it parks.
// Guard: the claim of the list. May touch it: its holder; and the list's task, to which the holder
// has passed the claim on.
@usableFromInline
package final class ListTask<Element: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Cells = Segment<Element>
  /// Takes the steps, one after the other, for the lifetime of the list.
  @usableFromInline
  package typealias Run = nonisolated(nonsending) (_ task: ListTask) async -> Void

  @usableFromInline package let executor = StepExecutor()
  /// Whether a step is cancelled when nobody waits for it.
  @usableFromInline let cancelsUnwaited: Bool
  /// The stage's name, and its source. Read only by inspection.
  @usableFromInline let stage: StageName?
  @exclusivity(unchecked) @usableFromInline var upstream: AnyObject?
  /// `nil` when there are no more steps.
  @exclusivity(unchecked) @usableFromInline var run: Run?
  /// Owns this object. Not retained: each demand retains it, and so does the running task.
  @exclusivity(unchecked) @usableFromInline var owner: Unmanaged<Evaluator<Element>>?

  /// Why the last step has written nothing, if no reader has seen that yet.
  @exclusivity(unchecked) @usableFromInline var undelivered: Absence?
  /// Numbers the times that the task was driven.
  @exclusivity(unchecked) @usableFromInline var attempts: UInt32 = 0
  /// Whether the queue keeps a failure for the reader that drove the failed attempt.
  @exclusivity(unchecked) @usableFromInline var keepsFailure = false
  /// The open segment, while a driver that retains it is there.
  @exclusivity(unchecked) @usableFromInline var borrowed: Unmanaged<Cells>?
  /// The open segment, once a step has really suspended: the task that writes its cells must not
  /// retain the list.
  @exclusivity(unchecked) @usableFromInline weak var open: Cells?

  @inlinable
  package init(
    stage: StageName? = nil, upstream: AnyObject? = nil, cancelsUnwaited: Bool = false,
    tellsUnwaited: Bool = false, _ run: @escaping Run
  ) {
    self.stage = stage
    self.cancelsUnwaited = cancelsUnwaited
    if cancelsUnwaited || tellsUnwaited { executor.tellUnwaited() }
    self.upstream = upstream
    self.run = run
  }

  /// Calls a closure with the list, without counting a reference.
  @inlinable @inline(__always)
  package func withList<Result>(_ body: (Evaluator<Element>) -> Result) -> Result {
    owner.unsafelyUnwrapped._withUnsafeGuaranteedRef(body)
  }

  /// Whether the invariants hold while the claim is about to be released: the task has parked, has
  /// ended, or was never started.
  @usableFromInline
  var isSound: Bool { executor.isAtRest && (attempts > 0 || !executor.isStarted) }

  // MARK: Demands

  /// Lets the task compute the cell after the front of `segment`, until it suspends. If there is
  /// nothing new to read, `absence` says why.
  ///
  /// `held` is `nil` afterwards if a step has suspended: the claim was passed on to the task.
  @inlinable
  func demand(
    _ segment: Cells, after mark: Published, _ amount: Amount, isOutermost: Bool,
    _ held: inout Held?, _ absence: inout Absence
  ) -> DemandOutcome {
    let position = segment.start + mark.count
    let attempt = beginAttempt()
    executor.computed.store(position, ordering: .relaxed)
    executor.wanted.store(segment.end(after: mark, amount), ordering: .relaxed)
    borrowed = .passUnretained(segment)
    let span = Recorder.isOn ? beginDemand(at: position) : 0
    if cancelsUnwaited { withList { $0.runs(attempt: attempt) } }
    let hasParked = asReader(amount) { executor.drive(isOutermost: isOutermost, for: $0) }
    if span != 0 { endDemand(span, isSuspended: !hasParked) }
    if hasParked {
      if cancelsUnwaited { withList { $0.departs(attempt: attempt) } }
      return parked(segment, after: mark, amount, &absence)
    }
    held.take()?.end()
    leaveSuspended()
    absence = .missing(MissingCell(segment, mark: mark, amount, attempt: attempt))
    return .nothing
  }

  /// A reader that was woken for the task's job runs it on.
  func goOn(
    _ segment: Cells, after mark: Published, _ amount: Amount, _ absence: inout Absence
  ) -> DemandOutcome {
    // Retained here while it is borrowed.
    let retained = open
    borrowed = retained.map(Unmanaged.passUnretained)
    executor.wanted.store(segment.end(after: mark, amount), ordering: .relaxed)
    let attempt = attempts
    return withExtendedLifetime(retained) {
      guard asReader(amount, { executor.goOn(for: $0) }) else {
        leaveSuspended()
        absence = .missing(MissingCell(segment, mark: mark, amount, attempt: attempt))
        return segment.isMissing(mark) ? .nothing : .new
      }
      // Another reader may have begun this attempt.
      keepUndelivered()
      let outcome = parked(segment, after: mark, amount, &absence)
      withList { $0.letGo($0.claim.passedOn()) }
      return outcome
    }
  }

  /// The task has parked. The outcome for its driver is that of the driver's own cell, or, if it
  /// wanted several, of the first missing one.
  ///
  /// A task that went on for other readers has told them the outcome.
  @inlinable
  func parked(
    _ segment: Cells, after mark: Published, _ amount: Amount, _ absence: inout Absence
  ) -> DemandOutcome {
    guard let undelivered = undelivered.take() else { return .new }
    if segment.published.load(ordering: .relaxed) == mark {
      absence = undelivered
      return .nothing
    }
    guard amount == .all, case .failedTransiently(let failure) = undelivered else { return .new }
    return .failedBehind(FailedAttempt(segment.identity, executor.position, failure))
  }

  /// Runs the task for the current one. Between its steps, if many are wanted, the list's task can
  /// see whether the current one is cancelled.
  @inlinable @inline(__always)
  func asReader(
    _ amount: Amount, _ run: (UnsafePointer<UnsafeCurrentTask>?) -> Bool
  ) -> Bool {
    amount == .all ? asReaderOfAll(run) : run(nil)
  }

  @usableFromInline @inline(never)
  func asReaderOfAll(_ run: (UnsafePointer<UnsafeCurrentTask>?) -> Bool) -> Bool {
    withUnsafeCurrentTask { task in
      guard let task else { return run(nil) }
      return withUnsafePointer(to: task) { run($0) }
    }
  }

  /// A driver leaves a suspended step, which may wait for a reader of the cells before it. Readers
  /// that came to wait for these cells while the task went on without a fence are woken.
  ///
  /// The claim is no longer the driver's: the step may have come back since, and the claim been
  /// released and taken by another.
  @usableFromInline
  func leaveSuspended() {
    executor.wanted.store(0, ordering: .relaxed)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    withList { if $0.claim.isContested { _ = $0.serve(before: executor.position) } }
  }

  // MARK: Attempts

  /// Numbers the attempt that begins.
  @usableFromInline
  func beginAttempt() -> UInt32 {
    if keepsFailure {
      withList { $0.forgetFailure() }
      keepsFailure = false
    }
    // 0 means none; a missing cell has 30 bits for it.
    attempts = attempts == MissingCell.lastAttempt ? 1 : attempts + 1
    return attempts
  }

  /// The attempt may have failed while the reader that began it was about to wait: that reader is
  /// told when it does.
  func keepUndelivered() {
    guard case .failedTransiently(let failure)? = undelivered else { return }
    keepsFailure = true
    withList { $0.keep(failure, of: attempts) }
  }

  // MARK: The task's side

  /// Takes a step, and as many more as are wanted, and waits for the next demand, until there are
  /// no more steps, or nothing can read.
  // A loop without a closure saves a return, at which the runtime looks up where to continue, under
  // a lock: `map` has one ("Async steps").
  @inlinable @inline(__always)
  package nonisolated(nonsending) func take(
    _ step: nonisolated(nonsending) () async -> Step<Element>
  ) async {
    while begin() {
      if finish(await step()) { await executor.park() }
    }
  }

  /// False if there is no other step to take; then the task has ended.
  @inlinable @inline(__always)
  package func begin() -> Bool {
    if run == nil {
      executor.end()
      return false
    }
    if Recorder.isOn { executor.span = beginStep() }
    return true
  }

  /// How many elements after the written ones the demand that runs the task wants. None once the
  /// demand has left because a step has suspended, or was cancelled.
  @inlinable
  package var wanted: Int {
    guard !executor.hasCancelledReader else { return 0 }
    return max(
      0, executor.wanted.load(ordering: .relaxed) - executor.computed.load(ordering: .relaxed))
  }

  /// A step has been taken. True if the task has to park now, until the next demand.
  ///
  /// The step is consumed: a parked task must retain no element.
  @inlinable @inline(__always)
  package func finish(_ step: consuming Step<Element>) -> Bool {
    if executor.span != 0 { endStep(step) }
    return write(step)
  }

  /// Writes the result of a step. True if the task has to park now.
  @inlinable
  func write(_ step: Step<Element>) -> Bool {
    if let position = written(step) {
      if wants(after: position) { return false }
    } else if run == nil {
      return false
    }
    executor.willPark()
    return true
  }

  /// Writes the result of a step. Returns the position after the cell; `nil` if there is none.
  @inlinable
  func written(_ step: Step<Element>) -> Int? {
    assert(withList { $0.claim.isHeld }, "a list's task takes a step, and its claim is free")
    if executor.isDriven, let borrowed {
      return borrowed._withUnsafeGuaranteedRef { write(step, into: $0) }
    }
    // Without it nothing can read any more.
    guard let open else { return end() }
    return write(step, into: open)
  }

  /// A cell has been published. Whether the task takes the step after it at once.
  @inlinable @inline(__always)
  func wants(after position: Int) -> Bool {
    var wanted = executor.wanted.load(ordering: .relaxed)
    if position < wanted, executor.hasCancelledReader { wanted = 0 }
    // The cell is published before the waiters' mark is read; waiters set the mark before they look
    // for the cell (`enter`). Without a fence on both sides each could miss the other. A driver
    // makes up for it when the next step suspends (`leaveSuspended`).
    if !executor.isDriven { atomicMemoryFence(ordering: .sequentiallyConsistent) }
    withList { list in
      guard list.claim.isContested else { return }
      // First the waiters for published cells: the next step may wait for them.
      wanted = max(wanted, list.serve(before: position))
      if list.claim.isAbandoned { wanted = 0 }
    }
    guard position < wanted else { return false }
    executor.computed.store(position, ordering: .relaxed)
    return true
  }

  /// Writes a cell, or the end. Returns the position after the cell; `nil` if there is none.
  @inlinable @inline(__always)
  func write(_ step: Step<Element>, into segment: Cells) -> Int? {
    let mark = segment.published.load(ordering: .relaxed)
    switch step {
    case .element(let element):
      if mark.count == segment.capacity {
        extend(segment, with: element)
      } else {
        segment.append(element, to: mark)
      }
      return segment.start + mark.count + 1
    case .last(let element): segment.finish(with: element, at: mark)
    case .become(let other): segment.close(becoming: other, at: mark)
    case .nothing(.end): segment.close(.end, at: mark)
    case .nothing(.failed(let failure)): segment.close(.failed(failure), at: mark)
    case .nothing(.cancelled) where withList { !$0.isAbandoned }:
      // Only the step itself can have cancelled its task.
      segment.close(.failed(CancellationError()), at: mark)
    case .skip:
      undelivered = .paused
      return nil
    case .nothing(let why):
      leaveOpen(why)
      return nil
    }
    return end()
  }

  @usableFromInline @inline(never)
  func extend(_ segment: Cells, with element: consuming Element) {
    let next = segment.extended(with: element)
    if executor.isDriven { borrowed = .passUnretained(next) } else { open = next }
  }

  /// The step has written nothing: the waiters are told why now, and the driver later.
  @usableFromInline @inline(never)
  func leaveOpen(_ why: Absence) {
    let reason: ResumeReason
    switch why {
    case .failedTransiently(let failure): reason = .failedTransiently(failure)
    case .released: reason = .released
    // Who has come meanwhile takes the step again.
    case .unwaited:
      undelivered = .paused
      return
    default: return
    }
    undelivered = why
    withList { if $0.claim.isContested { $0.dismiss(reason) } }
  }

  /// There are no more steps. Returns `nil`, as no cell was written.
  @usableFromInline @inline(never)
  func end() -> Int? {
    if let leftover = leftover() { ReleaseQueue.release(consume leftover) }
    return nil
  }

  /// Moves the closure out, with what it retains.
  func leftover() -> Leftover? {
    guard let run else { return nil }
    // The closure that retains it has no generic type, whose metadata would be looked up.
    let leftover = Leftover(upstream) { _ = run }
    (self.run, upstream) = (nil, nil)
    return leftover
  }

  // MARK: The driver leaves

  /// The driver leaves, and stops retaining the open segment.
  func driverLeaves() {
    let segment = borrowed?.takeUnretainedValue()
    if open !== segment { open = segment }
  }
}

extension ListTask: Staged {
  /// This stage, while there are steps to take.
  var inspected: (any Staged)? { run == nil ? nil : self }
}
