import TailraceSupport
public import Synchronization

/// The actor that computes a list's unevaluated rest, one step at a time.
///
/// It is its own executor, and its executor is the claim: only the claim's holder runs here. A task
/// that demands an element takes a free claim inline, which costs one atomic exchange, and runs the
/// producer right there. Asynchronous steps have a task (``AsyncSteps``), which the producer drives on
/// that stack; if a step suspends, the demand comes back without an element, and releases the claim.
/// A demand that finds the claim taken waits in a queue: it blocks no thread for longer than a
/// microsecond.
@usableFromInline
package final actor Evaluator<Element: Sendable>: SerialExecutor {
  @usableFromInline typealias Cells = Segment<Element>

  @usableFromInline nonisolated let claim = Claim()
  // Guard of these: the claim, which is this actor's executor. `unsafe` means only that the claim
  // isolates them, and not the runtime's job queue, whose check of every access (`assumeIsolated`)
  // would cost 60 ns an element. May touch them: the methods that ask for a `Held` token. Their
  // accesses never overlap; the dynamic check of that costs 10 ns.
  /// `nil` while a demand runs it, and for ever after it has ended, failed, or been abandoned.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var producer: Producer<Element>?
  /// The last attempt that the front has counted as failed, until another has brought the element.
  /// Those who waited read it without the claim, which the next attempt may have.
  @usableFromInline nonisolated let lastFailure = Locked(FailedAttempt?.none)

  /// The producer's steps, if they are asynchronous.
  @usableFromInline nonisolated let steps: AsyncSteps<Element>?
  nonisolated let waiting = LazyReference<ClaimQueue>()
  @usableFromInline nonisolated let name = LazyReference<ListName>()
  /// The evaluator that a recursive definition reads from; it has the same name.
  @usableFromInline nonisolated let definition: Evaluator?
  /// The last stage of the list's computation, for inspection.
  @usableFromInline nonisolated let stage: StageName?

  @inlinable
  package init(
    _ producer: Producer<Element>, definition: Evaluator? = nil
  ) {
    self.producer = producer
    steps = producer.steps
    stage = producer.stage
    self.definition = definition
    if Recorder.isOn { recordSteps() }
  }

  @inlinable
  package init(_ steps: AsyncSteps<Element>) { self.init(Producer(steps)) }

  @usableFromInline
  package nonisolated func name(_ name: ListName) {
    _ = self.name.storeIfNil(name)
    definition?.name(name)
    _ = steps?.name.storeIfNil(name)
  }

  @usableFromInline nonisolated var title: Title {
    name.load()?.title ?? "LazyList<\(Element.self)>"
  }

  @inlinable
  package nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

  // MARK: The claim

  @inlinable
  nonisolated func letGo(_ held: consuming Held) {
    checkInvariants(held)
    if let held = claim.release(held) { letGoOfAwaited(held) }
  }

  @usableFromInline
  nonisolated func letGoOfAwaited(_ held: consuming Held) {
    var last: Held? = consume held
    // Under one lock: a reader that takes the free claim, and then waits, is not dismissed.
    let waiters = queue.waiters.withLock { waiters in
      last = claim.releaseAwaited(last.take()!)
      return waiters.removeAll()
    }
    let reason: ResumeReason = last == nil ? .lookAgain : .released
    for waiter in waiters { waiter.wake(reason) }
    if let held = last.take() { tearDown(held) }
  }

  /// Traps in debug builds if the evaluator breaks an invariant.
  @inlinable @inline(__always)
  nonisolated func checkInvariants(_ held: borrowing Held) {
    assert(claim.isHeld, "a claim is released that nobody holds")
    // Not with a key path, for which the runtime needs as much stack as a step.
    // Of the producer that is here: one that was taken over is driven by its cursor.
    assert(producer?.steps?.isDriven != true, "a claim is released while it drives a task")
  }

  /// No job is run here: the claim is taken in place, and this actor has no isolated members.
  @usableFromInline
  package nonisolated func enqueue(_ job: consuming ExecutorJob) {
    fatalError("Evaluator.enqueue: a job hops here; take the claim in place (`Claim.take`) instead")
  }

  // MARK: Demands

  /// Computes the cell after the front of `segment`, if `mark` is its published state.
  ///
  /// False if there is nothing new to read in the segment; `absence` says why.
  @inlinable @inline(never)
  nonisolated func demand(
    _ segment: Cells, after mark: Published, _ demand: Demand, _ absence: inout Absence
  ) -> Bool {
    guard demand.depth > 0, let held = claim.take() else {
      let isTaken = steps == nil && demand.depth > 0 && !claim.isAwaited
      absence = .missing(
        MissingCell(
          segment, mark: mark, demand.amount, isTaken: isTaken, hasWaited: demand.hasWaited))
      return false
    }
    var done: Producer<Element>?
    var isNew = true
    // Otherwise another task was faster.
    if segment.published.load(ordering: .relaxed) == mark {
      // Looked at once: a suspended step may end at any time. One at rest stays there under the claim.
      if let missing = steps?.suspended(demand) {
        absence = .missing(missing)
        letGo(held)
        return false
      }
      if mark.hasFailed || !demand.hasWaited && steps?.hasFailed == true {
        return demandAfterFailure(segment, mark, demand, held, &absence)
      }
      isNew = step(segment, mark, demand, held, &absence, &done)
    }
    letGo(held)
    return isNew
  }

  /// A demand after an attempt that has failed for now.
  @usableFromInline @inline(never)
  nonisolated func demandAfterFailure(
    _ segment: Cells, _ mark: Published, _ demand: Demand, _ held: consuming Held,
    _ absence: inout Absence
  ) -> Bool {
    // Released when the claim is free: it may be the last reference to a user's error.
    let former = lastFailure.withLock { $0 }
    var done: Producer<Element>?
    var isNew = true
    if !demand.hasWaited, let failure = steps?.takeFailure() {
      // Those who waited for that attempt are told; this reader comes now, and begins anew.
      failed(failure, segment, at: mark)
    } else {
      isNew = step(segment, mark, demand, held, &absence, &done)
      if isNew { forgetFailure(in: segment, held) }
    }
    letGo(held)
    return withExtendedLifetime(former) { isNew }
  }

  /// An attempt at the cell after the mark has failed for now. All who have waited for it see that.
  @usableFromInline @inline(never)
  nonisolated func failed(_ failure: any Error, _ segment: Cells, at mark: Published) {
    // Under the lock, so that the count of a failure which somebody takes is published already.
    lastFailure.withLock { last in
      last = FailedAttempt(failure: failure, start: segment.start, counted: mark.failed)
      segment.published.store(mark.failed, ordering: .releasing)
    }
  }

  /// Something has come after a failure. The caller has a reference to that, to release it when the claim is
  /// free.
  nonisolated func forgetFailure(in segment: Cells, _ held: borrowing Held) {
    if !segment.mark.hasFailed { lastFailure.withLock { $0 = nil } }
  }

  /// One step, or as many as fill the segment. False if there is nothing new. `done` is a finished producer:
  /// it is released when the claim is free.
  @inlinable @inline(__always)
  nonisolated func step(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ held: borrowing Held,
    _ absence: inout Absence, _ done: inout Producer<Element>?
  ) -> Bool {
    // The claim's holder alone may remove the producer: counting references would cost two atomic
    // counts per element.
    guard self.producer != nil else { misuse(Anchor<Element>.releasedText) }
    let producer = Unmanaged.passUnretained(self.producer.unsafelyUnwrapped)
    var mark = seen
    let ending: Ending<Element>
    if mark.count < segment.capacity {
      ending = producer._withUnsafeGuaranteedRef { producer in
        let takesMore = demand.amount == .all || producer.givesAhead
        return producer(demand.forCells) { element in
          segment.append(element, to: mark)
          mark = mark.appended
          return takesMore && mark.count < segment.capacity && !claim.isContested
        }
      }
    } else {
      var element: Element?
      ending = producer._withUnsafeGuaranteedRef { producer in
        producer(demand.forOne) {
          element = .some($0)
          return false
        }
      }
      if let element {
        guard case .nothing(.end) = ending else {
          _ = segment.extended(with: element)
          return true
        }
        segment.finish(with: element, at: mark)
        done = self.producer.take()
        return true
      }
    }
    switch ending {
    case .stopped:
      if mark != seen { return true }
      // A search has paused, so that its readers can check for cancellation.
      absence = .paused
      return false
    case .become(let list):
      segment.close(becoming: list, at: mark)
    case .nothing(.end): segment.close(.end, at: mark)
    case .nothing(.failed(let failure)): segment.close(.failed(failure), at: mark)
    case .nothing(.missing(let cell)) where cell.mark == mark && cell.place === segment:
      // The claim is held here: the current cell was met again on the way to it.
      let cycle = CyclicEvaluationError(
        lists: [segment.title], position: segment.start + mark.count)
      segment.close(.failed(cycle), at: mark)
    case .nothing(let why):
      if case .failedTransiently(let failure) = why { failed(failure, segment, at: mark) }
      // There is something to read; a reader that wants more will meet the obstacle again.
      if mark != seen { return true }
      absence = why
      return false
    }
    done = self.producer.take()
    return true
  }

  /// Makes a cell of the outcome of a step that is done, and that no demand has taken. It computes nothing:
  /// for those who only look, and for readers that are cancelled.
  @usableFromInline @inline(never)
  nonisolated func takeDone(in segment: Cells) -> Bool {
    guard let steps, steps.executor.isResting, let held = claim.take() else { return false }
    // Once more: a demand may have begun a step before the claim was taken here.
    guard steps.executor.isResting else {
      letGo(held)
      return false
    }
    let (mark, former) = (segment.mark, lastFailure.withLock { $0 })
    var isNew = false
    var done: Producer<Element>?
    // Under the claim: a demand may have been faster. A failure for now is for those who wait.
    if producer?.steps === steps, steps.isKept, !steps.hasFailed, !mark.isClosed {
      var absence = Absence.paused
      var demand = Demand()
      demand.depth = 0
      isNew = step(segment, mark, demand, held, &absence, &done)
      if isNew { forgetFailure(in: segment, held) }
    }
    letGo(held)
    withExtendedLifetime(former) {}
    if let done { ReleaseQueue.release(Leftover(done)) }
    return isNew
  }

  /// Moves the producer to a cursor that holds the only reference to the open segment, and closes
  /// that; `nil` if there are cells after the mark that the cursor has seen.
  @inlinable
  nonisolated func takeProducer(of segment: Cells, at mark: Published) -> Producer<Element>? {
    guard let held = claim.take() else { return nil }
    var taken: Producer<Element>?
    // Not after a failure: the cells have counted it.
    if segment.mark == mark, !mark.hasFailed { taken = producer.take() }
    // The segment is not read again; there is nothing left to abandon.
    if taken != nil { segment.close(.end, at: mark) }
    letGo(held)
    return taken
  }

  // MARK: The end

  @inlinable nonisolated var isAbandoned: Bool { claim.isAbandoned }

  /// Nothing can read the results of further steps any more.
  nonisolated func abandon() {
    if let held = claim.abandon() { tearDown(held) }
  }

  /// Releases everything. The claim is held for ever.
  private nonisolated func tearDown(_ held: consuming Held) {
    // The only reference: a loop, not this frame, releases its contents.
    let leftover = leftover()
    if let last = consume leftover { ReleaseQueue.release(consume last) }
    // Waiters of a list that only its own definition could still compute.
    dismiss(.released)
    held.end()
  }

  /// Moves the producer out.
  private nonisolated func leftover() -> Leftover? {
    // Not with `take()`: in unspecialised code that asks for its type's metadata.
    guard producer != nil else { return nil }
    let leftover = Leftover(producer.unsafelyUnwrapped)
    producer = nil
    return leftover
  }
}

extension Evaluator {
  /// The list's name, for the list that continues after it.
  @usableFromInline package nonisolated var label: ListName? {
    get { name.load() }
    set { if let newValue { name(newValue) } }
  }
}

/// The name of a list, or of a value. It is made when somebody reads it: that of a memo describes the key, which
/// may take longer than the computation.
@usableFromInline
package final class ListName: Sendable {
  private let make: @Sendable () -> Title
  @usableFromInline var title: Title { make() }
  @usableFromInline var text: String { title.text }

  @usableFromInline
  package init(_ title: @autoclosure @escaping @Sendable () -> Title) { make = title }
}
