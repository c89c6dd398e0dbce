import TailraceSupport
public import Synchronization

/// The asynchronous steps of a stage: the task that takes them, parked between demands, and the place
/// where readers wait while a step is suspended.
///
/// A demand *drives* the task on its own stack, under the claim of whatever list it computes. If the
/// step suspends, the demand returns a cell missing here, and gives its claim up: no claim is held
/// while a step is suspended. The outcome of a suspended step stays here until a demand takes it.
///
/// | State     | The task         | A demand                                   |
/// |-----------|------------------|--------------------------------------------|
/// | idle      | parked           | drives it                                  |
/// | driven    | runs below       | none other: the driver holds the claim     |
/// | suspended | is in a step     | gets a cell that is missing here           |
/// | done      | parked           | takes the outcome that is kept             |
/// | over      | ended, or none   | takes the outcome that is kept, or the end |
///
/// | Field     | idle  | driven                | suspended | done        | over               |
/// |-----------|-------|-----------------------|-----------|-------------|--------------------|
/// | `run`     | there | there                 | there     | there       | `nil`              |
/// | `isKept`  | false | false                 | false, until the step is done | true | with the last step |
/// | `waiting` | empty | empty, or those of the attempt before | who waits | about to be woken | as before |
///
/// `demand`, `wantsPage` and `taker` are those of the last driver. The task uses them only where it runs above that
/// driver's frame: a thread that reads its own number in `StepExecutor.driverThread` wrote it, and has not taken
/// it away. Elsewhere the step has no driver.
///
/// `checkInvariants` has the rows that a demand relies on.
///
/// `StepExecutor` knows the task's state, and `StepWaiters` the readers.
// Guard: while the task rests, the holder of the producer (a claim, or a cursor that took the
// producer over); otherwise the task. `waiting` has a lock of its own.
@usableFromInline
package final class AsyncSteps<Element: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Sink = Producer<Element>.Sink
  /// Takes the steps, one after the other, for the lifetime of the stage.
  @usableFromInline
  package typealias Run = nonisolated(nonsending) (_ steps: AsyncSteps) async -> Void

  @usableFromInline package let executor = StepExecutor()
  /// Whether a step is cancelled when nobody waits for it.
  @usableFromInline let cancelsUnwaited: Bool
  /// Whether a step may bring several elements, as a list of its own: then it asks how many are wanted.
  @usableFromInline let bringsPages: Bool
  @usableFromInline let stage: StageName?
  @usableFromInline let name = LazyReference<ListName>()
  /// The running step, if the list was made while there was an observer.
  @usableFromInline let recording = RecordedStep.ifObserved()
  /// `nil` when there are no more steps.
  @exclusivity(unchecked) @usableFromInline var run: Run?
  // Guard of these three: written while the task rests. May read them: the task, above the driver's frame.
  /// The demand for which the step runs, for the pulls of the step.
  @exclusivity(unchecked) @usableFromInline var demand = Demand()
  /// Whether the driver wants as many elements of a step as a segment has.
  @exclusivity(unchecked) @usableFromInline var wantsPage = false
  /// A driver that takes the elements of several steps, in its frame.
  @exclusivity(unchecked) @usableFromInline var taker: Unmanaged<Taker>?
  /// Whether the outcome of a step waits for a demand; and its memory, which is made once.
  // Not a field of that type: unspecialised code, which destroys this object, would look it up
  // ("Memo").
  @exclusivity(unchecked) @usableFromInline var isKept = false
  @exclusivity(unchecked) @usableFromInline var kept: UnsafeMutablePointer<Step<Element>>?
  /// Numbers the attempts: each drive is one.
  @usableFromInline let attempts = Atomic(0)
  /// No demand will follow.
  // Written before an exchange of the executor's slot. A task that parks reads it after one.
  @usableFromInline let isOver = Atomic(false)
  let waiting = Locked(StepWaiters<Waiter>())

  @inlinable
  package init(
    stage: StageName? = nil, cancelsUnwaited: Bool = false, bringsPages: Bool = false,
    _ run: @escaping Run
  ) {
    self.stage = stage
    (self.cancelsUnwaited, self.bringsPages) = (cancelsUnwaited, bringsPages)
    self.run = run
  }

  deinit {
    if let kept {
      if isKept { kept.deinitialize(count: 1) }
      kept.deallocate()
    }
  }

  // MARK: Demands

  /// Passes the next element to a sink, and more if all are wanted: the producer of the stage.
  @inlinable @inline(__always)
  func next(_ demand: Demand, _ sink: Sink) -> Ending<Element> {
    guard executor.isResting || start() else { return missing(demand) }
    checkInvariants()
    // Of a reader that has the stage for itself, and did not wait for that attempt to its end.
    if !demand.hasWaited, isKept { _ = takeFailure() }
    while true {
      if !isKept {
        // Without depth it takes only the outcome of a step that is done.
        guard demand.depth > 0, run != nil else {
          return run == nil ? .nothing(.end) : missing(demand)
        }
        if demand.stops, Task.isCancelled { return .nothing(.cancelled) }
        // Whoever begins a step waits for it.
        if cancelsUnwaited, demand.mayBeDropped { return .stopped }
        guard drive(demand, sink) else { return missing(demand) }
        // None if the sink wants no more elements.
        guard isKept else { return .stopped }
      }
      switch takeKept() {
      case .element(let element):
        countsElement()
        if !sink(element) || cancelsUnwaited { return .stopped }
      case .last(let element):
        countsElement()
        _ = sink(element)
        return .nothing(.end)
      case .become(let list): return .become(list)
      case .skip, .nothing(.paused): return .stopped
      case .nothing(let absence): return .nothing(absence)
      }
    }
  }

  /// Traps in debug builds if the steps break an invariant. For the holder of the producer, while the task rests.
  @inlinable @inline(__always)
  func checkInvariants() {
    assert(executor.isLeft, "steps at rest have a driver")
    assert(!isKept || kept != nil, "an outcome is kept nowhere")
  }

  /// Lets the task take a step, or as many as the sink wants. False if a step has suspended.
  @inlinable @inline(__always)
  func drive(_ demand: Demand, _ sink: Sink) -> Bool {
    self.demand = demand.forStep
    taker = nil
    let attempt = attempts.load(ordering: .relaxed) &+ 1
    attempts.store(attempt, ordering: .relaxed)
    if cancelsUnwaited { begins() }
    let span = recording == nil ? 0 : beginDemand()
    // As the driver's task is now; a taker asks it before each step.
    wantsPage = bringsPages && !cancelsUnwaited && demand.amount == .all && !Task.isCancelled
    let hasParked =
      demand.isGathered && !cancelsUnwaited ? driveOn(sink) : executor.drive()
    if span != 0 { endDemand(span, isSuspended: !hasParked) }
    return hasParked
  }

  /// Takes the elements that the task itself passes on: to the engine, never to a reader's closure. A class,
  /// so that a call counts no references.
  @usableFromInline
  final class Taker {
    @usableFromInline let sink: Sink
    /// Asks the driver's task, which is on the stack below. `nil` without a task.
    // A closure, because a task in a field is copied and counted for each look ("Async steps").
    @usableFromInline let looksCancelled: (() -> Bool)?

    @inlinable
    init(_ sink: @escaping Sink, _ looksCancelled: (() -> Bool)?) {
      (self.sink, self.looksCancelled) = (sink, looksCancelled)
    }

    @inlinable var isCancelled: Bool { looksCancelled?() == true }

    /// False if the driver wants no more.
    @inlinable @inline(never)
    func take(_ element: consuming Element) -> Bool { sink(element) && !isCancelled }
  }

  /// Lets the task pass the elements of its steps on, without parking, while the sink wants more.
  @inlinable @inline(never)
  func driveOn(_ sink: Sink) -> Bool {
    withoutActuallyEscaping(sink) { sink in
      withUnsafeCurrentTask { task in
        guard let task else { return driveOn(Taker(sink, nil)) }
        return driveOn(Taker(sink) { task.isCancelled })
      }
    }
  }

  @inlinable
  func driveOn(_ taker: Taker) -> Bool {
    self.taker = .passUnretained(taker)
    return withExtendedLifetime(taker) { executor.drive() }
  }

  /// An element has been given.
  @inlinable @inline(__always)
  func countsElement() {
    executor.computed.store(executor.computed.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  @inlinable
  func missing(_ demand: Demand) -> Ending<Element> { .nothing(.missing(missingCell(demand))) }

  /// The mark of a cell that is missing here is the number of the attempt.
  @inlinable
  func missingCell(_ demand: Demand) -> MissingCell {
    MissingCell(self, mark: Published(count: attempts.load(ordering: .relaxed)), demand.amount)
  }

  /// The cell that is missing here, if a step runs or is suspended. For the holder of the producer.
  @inlinable @inline(__always)
  func suspended(_ demand: Demand) -> MissingCell? {
    executor.isStarted && !executor.isResting ? missingCell(demand) : nil
  }

  /// Whether a step that was done without a driver has failed for now, and no demand has taken that.
  @inlinable var hasFailed: Bool { executor.isResting && isKept && keepsFailure }

  @inlinable @inline(never)
  var keepsFailure: Bool {
    if case .nothing(.failedTransiently) = kept?.pointee { true } else { false }
  }

  /// That failure.
  @inlinable @inline(never)
  func takeFailure() -> (any Error)? {
    guard hasFailed, case .nothing(.failedTransiently(let failure)) = takeKept() else {
      return nil
    }
    return failure
  }

  /// The outcome that is kept.
  @inlinable @inline(__always)
  func takeKept() -> Step<Element> {
    isKept = false
    return kept.unsafelyUnwrapped.move()
  }

  /// Makes the task, for the first demand. False if the task runs.
  @inlinable @inline(never)
  func start() -> Bool {
    guard !executor.isStarted else { return false }
    executor.start(self, name: taskName) { [self] in
      // Abandoned before a demand has driven it, it has no steps to take.
      if let run { await run(self) }
      // Only now nothing of the closure is retained here: readers that wait are told of the end afterwards.
      end()
      withExtendedLifetime(self) {}
    }
    return true
  }

  // MARK: The task's side

  /// Takes steps, and waits for demands in between, until there are no more steps, or nothing can read.
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

  /// False if there is no other step to take; then the task ends.
  @inlinable @inline(__always)
  package func begin() -> Bool {
    guard run != nil, !isOver.load(ordering: .relaxed) else { return false }
    if recording != nil { beginStep() }
    return true
  }

  /// Pulls an element of the stage's source for the step.
  @inlinable @inline(__always)
  func pull<Input>(_ source: inout Cursor<Input>) -> Input? {
    source.demand = executor.isDriven ? demand : .withoutDriver
    return source.next()
  }

  /// How many elements the driver wants, if it takes several: as many as a segment has. Otherwise one.
  @inlinable
  package func wanted(of capacity: Int) -> Int {
    guard wantsPage, executor.isDriven else { return 1 }
    return taker?._withUnsafeGuaranteedRef { $0.isCancelled } == true ? 1 : capacity
  }

  /// A step has been taken. True if the task has to park now, until the next demand.
  ///
  /// The step is consumed: a parked task must retain no element.
  @inlinable @inline(__always)
  package func finish(_ step: consuming Step<Element>) -> Bool {
    if recording != nil { endStep(step) }
    switch consume step {
    case .element(let element):
      if let taker, executor.isDriven {
        countsElement()
        if taker._withUnsafeGuaranteedRef({ $0.take(element) }) { return false }
      } else {
        keep(.element(element))
      }
    case let step: if !keepsOn(step) { return false }
    }
    return true
  }

  @inlinable @inline(__always)
  func keep(_ step: consuming Step<Element>) {
    assert(!isKept, "an outcome is lost under the next one")
    if kept == nil { makeRoom() }
    kept.unsafelyUnwrapped.initialize(to: step)
    isKept = true
  }

  @inlinable @inline(never)
  func makeRoom() { kept = .allocate(capacity: 1) }

  /// Keeps an outcome that is no element. False if it is the last one.
  // Inlinable: unspecialised code would look the type of the step up ("Memo").
  @inlinable @inline(never)
  func keepsOn(_ step: Step<Element>) -> Bool {
    switch step {
    case .nothing(.cancelled) where !isAbandoned:
      // Only the step itself can have cancelled its task.
      keep(.nothing(.failed(CancellationError())))
    case .element, .skip, .nothing(.missing), .nothing(.failedTransiently), .nothing(.paused),
      .nothing(.released), .nothing(.cancelled):
      keep(step)
      return true
    case .last, .become, .nothing(.end), .nothing(.failed): keep(step)
    }
    releaseRun()
    return false
  }

  @usableFromInline @inline(never)
  func end() {
    releaseRun()
    executor.end()
  }

  @usableFromInline
  func releaseRun() { if let leftover = leftover() { ReleaseQueue.release(leftover) } }

  /// Moves the closure out, with what it retains.
  private func leftover() -> Leftover? {
    // Not with `take()`: in unspecialised code that asks for its type's metadata.
    guard let run else { return nil }
    // The closure that retains it has no generic type, whose metadata would be looked up.
    let leftover = Leftover(nil) { _ = run }
    self.run = nil
    return leftover
  }

  /// The list's name, for the list that continues after it.
  @usableFromInline package var label: ListName? { name.load() }

  /// Whether a step runs, or is suspended.
  var isComputing: Bool { executor.isStepping }

  // MARK: The end

  /// For the holder of the producer: whether the task runs on the stack below.
  @usableFromInline var isDriven: Bool { executor.isDriven }

  @usableFromInline package var isAbandoned: Bool { isOver.load(ordering: .acquiring) }

  /// No demand will follow: the producer is released. A parked task ends, another one is cancelled.
  @usableFromInline
  func abandon() {
    isOver.store(true, ordering: .releasing)
    if !executor.isStarted {
      releaseRun()
    } else if !endTask(), recording != nil {
      noteAbandonment()
    }
    wake()
  }

  /// Whether the task has ended. Otherwise its step is cancelled.
  @discardableResult
  private func endTask() -> Bool {
    // A loop, not the task's frame, releases its contents.
    var leftover = Leftover?.none
    let hasEnded = executor.finish { leftover = self.leftover() }
    if let last = leftover.take() { ReleaseQueue.release(consume last) }
    return hasEnded
  }
}

extension AsyncSteps: StepOwner {
  @usableFromInline package var title: Title {
    name.load()?.title ?? "LazyList<\(Element.self)>"
  }

  /// A step without a driver is done. An outcome that is none is not kept: all look again.
  @usableFromInline
  func stepIsDone() {
    guard isKept, let kept else { return }
    switch kept.pointee {
    // A missing cell may retain this very list.
    case .skip, .nothing(.missing), .nothing(.paused), .nothing(.released), .nothing(.cancelled):
      _ = takeKept()
    case .element, .last, .become, .nothing(.end), .nothing(.failed), .nothing(.failedTransiently):
      break
    }
  }

  @usableFromInline
  func taskHasParked() {
    if isAbandoned { endTask() }
    wake()
  }
}

extension AsyncSteps: AwaitedPlace {
  @usableFromInline var awaitedWorker: (any Worker)? { executor }

  @usableFromInline func position(of mark: Published) -> Int { executor.position }

  @usableFromInline
  func isMissing(_ cell: MissingCell) -> Bool {
    !executor.isResting && attempts.load(ordering: .relaxed) == cell.mark.count
  }

  @usableFromInline
  func attempt(_ cell: MissingCell, _ demand: Demand, _ absence: inout Absence) -> Bool {
    if isMissing(cell) {
      absence = .missing(cell)
      return false
    }
    return true
  }

  @usableFromInline
  nonisolated(nonsending) func wait(
    for cell: MissingCell, asked: MissingCell?, cancellable: Bool
  ) async -> ResumeReason {
    var former: Waiter?
    while true {
      let waiter = Waiter()
      let refusal = enter(waiter, for: cell)
      if let former { leave(former) }
      if let refusal { return refusal }
      let reason = await park(waiter, for: cell, asked: asked, cancellable: cancellable)
      if case .lookAgain = reason, isMissing(cell) {
        // It was woken with those who waited for the attempt before. It waits until it has entered again.
        former = waiter
        continue
      }
      leave(waiter)
      return isMissing(cell) ? reason : .lookAgain
    }
  }

  @usableFromInline
  func enter(_ waiter: Waiter, for cell: MissingCell) -> ResumeReason? {
    // Also for a step that is done, but whose task has not parked: the reader could not drive it.
    waiting.withLock { waiting in
      // After the abandonment nobody wakes, until a cancelled step ends.
      guard isMissing(cell), !isAbandoned else { return .lookAgain }
      waiting.enter(waiter)
      return nil
    }
  }

  @usableFromInline
  func leave(_ waiter: Waiter) { waiting.withLock { $0.leave(waiter) }?.wake(.unwaited) }

  private func wake() {
    for waiter in waiting.withLock({ $0.parked() }) { waiter.wake(.lookAgain) }
  }

  @usableFromInline var raised: (any Raised)? { executor }
}
