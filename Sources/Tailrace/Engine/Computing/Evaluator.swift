internal import Dispatch
public import Synchronization

/// The actor that computes a list's unevaluated rest, one step at a time.
///
/// It is its own executor, and its executor is the claim: only the claim's holder runs here. A task
/// that demands an element takes a free claim inline, which costs one atomic exchange, and runs a
/// plain step right there. A list with asynchronous steps has a task for them (``StepTask``), to
/// which the demand passes the claim. A demand that finds the claim taken waits in a room, for a
/// position: it blocks no thread.
@usableFromInline
final actor Evaluator<Element: Sendable>: SerialExecutor {
  @usableFromInline typealias Cells = Segment<Element>

  @usableFromInline let claim = Claim()
  // Guard of these: the claim, which is this actor's executor. `unsafe` means only that the claim
  // isolates them, and not the runtime's job queue, whose check of every access (`assumeIsolated`)
  // would cost 60 ns an element. May touch them: the methods marked "for the holder of the claim".
  // Their accesses never overlap; the dynamic check of that costs 10 ns.
  /// `nil` while a demand runs it, and for ever after it has ended, failed, or been abandoned.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var producer: Producer<Element>?
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var asyncProducer: AsyncProducer<Element>?
  /// The outcome of the task's last step, if no reader has seen it yet.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var undelivered: ResumeReason?
  /// Numbers the times that the list's task was driven.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var attempts: UInt32 = 0
  /// Whether the room keeps a failure for the reader that drove the failed attempt.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var keepsFailure = false
  /// Whether steps are recorded, as known when the segment was begun.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var isRecorded: Bool
  /// The open segment, while a driver that retains it is there.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var borrowed: Unmanaged<Cells>?
  /// The open segment, once a step has really suspended: the task that writes its cells must not
  /// retain the list.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) weak var open: Cells?

  /// The task of a list with asynchronous steps; a plain list has none, whatever its source.
  @usableFromInline nonisolated let task: StepTask?
  private nonisolated let waiting = LazyReference<SharedWaitQueue>()
  @usableFromInline nonisolated let name = LazyReference<ListName>()
  /// The evaluator that a recursive definition reads from; it has the same name.
  @usableFromInline nonisolated let definition: Evaluator?
  /// The last stage of the list's computation, for inspection.
  @usableFromInline nonisolated let stage: StageName?

  @inlinable
  init(
    _ producer: Producer<Element>, definition: Evaluator? = nil
  ) {
    self.producer = producer
    stage = producer.stage
    self.definition = definition
    isRecorded = Recorder.isOn
    task = nil
  }

  @inlinable
  init(_ asyncProducer: AsyncProducer<Element>) {
    self.asyncProducer = asyncProducer
    stage = asyncProducer.stage
    definition = nil
    isRecorded = false
    task = StepTask()
  }

  nonisolated func name(_ name: ListName) {
    _ = self.name.storeIfNil(name)
    definition?.name(name)
  }

  @inlinable
  nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

  // MARK: The claim

  @inlinable
  nonisolated func letGo() {
    if !claim.release() { letGoOfThoseWhoWait() }
  }

  @usableFromInline
  nonisolated func letGoOfThoseWhoWait() {
    let isFree = claim.releaseAwaited()
    // Removed before any waiter is woken: a waiter that returns finds the claim free.
    let waiters = waiting.load()?.state.withLock { $0.empty() } ?? []
    for waiter in waiters { waiter.wake(isFree ? .retry : .abandoned) }
    if !isFree { tearDown() }
  }

  /// A job that hops here, as onto any actor, runs when the claim is free.
  @usableFromInline
  nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Task { [self] in
      while true {
        if claim.take() {
          job.runSynchronously(on: asUnownedSerialExecutor())
          return letGo()
        }
        // The claim is held for ever, without a holder.
        if claim.isAbandoned { return job.runSynchronously(on: asUnownedSerialExecutor()) }
        let waiter = Waiter()
        if case .entered = enter(waiter, until: .max, unless: { false }) {
          _ = await waiter.park()
        }
      }
    }
  }

  // MARK: Demands

  /// Computes the cell after the front of `segment`, if `mark` is its published state.
  ///
  /// If there is nothing new to read in the segment, `absence` says why.
  @inlinable @inline(never)
  nonisolated func demand(
    _ segment: Cells, after mark: Published, _ demand: Demand, drives: Bool,
    _ absence: inout Absence
  ) -> DemandOutcome {
    if drives, task != nil {
      let isOutermost = demand.isOutermost
      return Unmanaged.passUnretained(task.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
        self.demand(segment, after: mark, of: $0, isOutermost: isOutermost, &absence)
      }
    }
    guard task == nil, demand.budget.depth > 0, claim.take() else {
      absence = .missing(MissingCell(segment, mark: mark, isBulk: demand.isBulk))
      return .nothing
    }
    var done: Producer<Element>?
    let outcome = step(segment, mark, demand, &absence, &done)
    letGo()
    return outcome
  }

  /// One plain step, or as many as fill the segment. `done` is a finished producer: it is released
  /// when the claim is free.
  ///
  /// For the holder of the claim.
  @inlinable @inline(__always)
  nonisolated func step(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ absence: inout Absence,
    _ done: inout Producer<Element>?
  ) -> DemandOutcome {
    assert(claim.isHeld)
    // Another task was faster.
    guard segment.published.load(ordering: .relaxed) == seen else { return .new }
    if isRecorded, let outcome = recorded(segment, seen, demand, &absence, &done) { return outcome }
    // The producer is moved out and back, not copied: a copy is two atomic counts per element.
    guard let producer = producer.take() else { fatalError(Anchor<Element>.releasedText) }
    var mark = seen
    let ending: Ending<Element>
    if mark.count < segment.capacity {
      let takesMore = demand.isBulk || producer.givesAhead
      ending = producer(demand) { element in
        segment.append(element, to: mark)
        mark = mark.appended
        return takesMore && mark.count < segment.capacity && !claim.isContested
      }
    } else {
      switch producer.step(Demand(budget: demand.budget)) {
      case .element(let element):
        extend(segment, with: element)
        self.producer = consume producer
        return .new
      case .last(let element):
        let last = Cells(evaluated: CollectionOfOne(element), link: .end)
        segment.close(.more(last, 0), at: mark)
        done = consume producer
        return .new
      case .become(let list): ending = .become(list)
      case .nothing(.paused): ending = .stopped
      case .nothing(let absence): ending = .nothing(absence)
      }
    }
    switch ending {
    case .stopped:
      self.producer = consume producer
      return .new
    case .become(let list):
      segment.close(list.destination(from: segment), at: mark)
    case .nothing(.end): segment.close(.end, at: mark)
    case .nothing(.failed(let failure)): segment.close(.failed(failure), at: mark)
    case .nothing(.missing(let cell)) where cell.mark == mark && cell.cells === segment:
      // The claim is held here: the current cell was met again on the way to it.
      let cycle = CyclicEvaluationError(
        lists: [segment.title], position: segment.start + mark.count)
      segment.close(.failed(cycle), at: mark)
    case .nothing(let why):
      self.producer = consume producer
      // There is something to read; a reader that wants more will meet the obstacle again. A failed
      // attempt was made for this reader, and is not repeated before the reader has been told.
      if mark != seen {
        guard case .failedTransiently(let failure) = why else { return .new }
        return .failedBehind(failedAttempt(at: segment.start + mark.count, failure))
      }
      absence = why
      return .nothing
    }
    done = consume producer
    return .new
  }

  @inlinable @inline(never)
  nonisolated func failedAttempt(at position: Int, _ failure: any Error) -> FailedAttempt {
    FailedAttempt(ObjectIdentifier(self), position, failure)
  }

  /// A recorded step. `nil` if recording has stopped.
  @usableFromInline @inline(never)
  nonisolated func recorded(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ absence: inout Absence,
    _ done: inout Producer<Element>?
  ) -> DemandOutcome? {
    isRecorded = false
    guard Recorder.isOn else { return nil }
    let outcome = recordedStep(segment, seen, demand, &absence, &done)
    isRecorded = true
    return outcome
  }

  /// Continues in a new segment. For the holder of the claim.
  @inlinable @inline(never)
  nonisolated func extend(_ segment: Cells, with element: consuming Element) {
    assert(claim.isHeld)
    let next = Cells(
      source: segment.source, start: segment.start + segment.capacity,
      capacity: Capacity<Element>.following(segment.capacity))
    next.append(element, to: Published(count: 0))
    segment.close(.more(next, 0), at: Published(count: segment.capacity))
    if let task { if task.isDriven { borrowed = .passUnretained(next) } else { open = next } }
    if Recorder.isOn { isRecorded = true }
  }

  /// Moves the producer to a cursor that holds the only reference to the open segment, and closes
  /// that; `nil` if there are cells after the mark that the cursor has seen.
  @inlinable
  nonisolated func takeProducer(of segment: Cells, at mark: Published) -> Producer<Element>? {
    guard task == nil, claim.take() else { return nil }
    var taken: Producer<Element>?
    if segment.published.load(ordering: .acquiring) == mark { taken = producer.take() }
    // The segment is not read again; there is nothing left to abandon.
    if taken != nil { segment.close(.end, at: mark) }
    letGo()
    return taken
  }

  // MARK: Waiting

  /// The result of an attempt to wait.
  enum Entrance: Sendable {
    case entered
    /// The claim is free, or the cells are there.
    case over
    case abandoned
    /// The attempt that the reader began has failed meanwhile.
    case failed(any Error)
  }

  /// Lets a waiter wait until the cells before a position are there, or until its reader's attempt
  /// has failed.
  nonisolated func enter(
    _ waiter: Waiter, until end: Int, attempt: UInt32 = 0, unless isOver: () -> Bool
  ) -> Entrance {
    queue.state.withLock { state in
      let isHeld = claim.await()
      // The waiter sets the mark before it reads the cells, and the holder publishes before it
      // reads the mark (`finish`): one of the two sees the other, because both put a fence in
      // between.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if claim.isAbandoned { return .abandoned }
      if isOver() { return .over }
      if attempt != 0, let failure = state.failure(of: attempt) { return .failed(failure) }
      guard isHeld else { return .over }
      state.enter(waiter, until: end, attempt: attempt)
      return .entered
    }
  }

  private nonisolated var queue: SharedWaitQueue {
    waiting.load() ?? waiting.storeIfNil(SharedWaitQueue())
  }

  /// The attempt may have failed while the reader that began it was about to wait: that reader is told
  /// when it does. For the holder of the claim.
  nonisolated func keepUndelivered() {
    assert(claim.isHeld)
    guard case .failedTransiently(let failure)? = undelivered else { return }
    let late = queue.state.withLock { $0.keep(failure, of: attempts) }
    keepsFailure = true
    for waiter in late { waiter.wake(.failedTransiently(failure)) }
  }

  /// Numbers the attempt that begins. For the holder of the claim.
  @usableFromInline
  nonisolated func beginAttempt() -> UInt32 {
    assert(claim.isHeld)
    if keepsFailure { forgetFailure() }
    // 0 means none.
    attempts = attempts == .max ? 1 : attempts + 1
    return attempts
  }

  private nonisolated func forgetFailure() {
    waiting.load()?.state.withLock { $0.forgetFailure() }
    keepsFailure = false
  }

  /// A waiter leaves, with its mark.
  @usableFromInline
  nonisolated func leave(_ waiter: Waiter) {
    waiting.load()?.state.withLock { $0.leave(waiter) }
  }

  /// The cells before a position are published: the waiters for them are woken. Returns the
  /// position up to which the others want cells.
  ///
  /// Not only for the holder of the claim: a driver that leaves a suspended step calls it, too. The
  /// room's lock is enough, because a waiter sets its mark and enters under that lock.
  @usableFromInline
  nonisolated func serve(before position: Int) -> Int {
    guard let room = waiting.load() else { return 0 }
    let (served, wanted) = room.state.withLock { state in
      if state.isEmpty { claim.answered() }
      return state.published(before: position)
    }
    for waiter in served { waiter.wake(.retry) }
    return wanted
  }

  /// The step left nothing: all present waiters are told why.
  @usableFromInline
  nonisolated func dismiss(_ why: ResumeReason) {
    let waiters = waiting.load()?.state.withLock { $0.empty() } ?? []
    for waiter in waiters { waiter.wake(why) }
  }

  // MARK: The end

  @inlinable nonisolated var isAbandoned: Bool { claim.isAbandoned }

  /// Nothing can read the results of further steps any more.
  @usableFromInline
  nonisolated func abandon() {
    if claim.abandon() { return tearDown() }
    if Recorder.isOn { noteAbandonment() }
    task?.cancel()
  }

  /// Releases everything. For the holder of the claim, which is kept.
  private nonisolated func tearDown() {
    assert(claim.isHeld)
    // The only reference: a loop, not this frame, releases its contents.
    let leftover = leftover()
    task?.finish()
    if let leftover { ReleaseQueue.release(leftover) }
    // Waiters of a list that only its own definition could still compute.
    dismiss(.abandoned)
  }

  /// Moves the producer out. For the holder of the claim.
  @usableFromInline
  nonisolated func leftover() -> Leftover? {
    // Not with `take()`: in unspecialised code that asks for its type's metadata.
    if producer != nil {
      let leftover = Leftover(producer.unsafelyUnwrapped)
      producer = nil
      return leftover
    }
    guard asyncProducer != nil else { return nil }
    let leftover = Leftover(asyncProducer.unsafelyUnwrapped)
    asyncProducer = nil
    return leftover
  }

}

/// Known facts about the next plain step of a list, before it runs.
@usableFromInline
struct Notes: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A step has failed temporarily, after elements that had to be read first.
  @inlinable static var untold: Notes { Notes(rawValue: 1) }
  /// Steps are recorded.
  @inlinable static var recorded: Notes { Notes(rawValue: 2) }
}

@usableFromInline
final class ListName: Sendable {
  @usableFromInline let text: String

  init(_ text: String) { self.text = text }
}
