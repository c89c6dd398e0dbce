internal import Dispatch
public import Synchronization

/// The actor that computes a list's unevaluated rest, one step at a time.
///
/// It is its own executor, and its executor is the claim: whoever holds that runs here, and nobody
/// else does. A task that demands an element takes the claim inline when it is free, which costs one
/// atomic exchange, and runs a plain step right there. A list whose steps are asynchronous has a task
/// for them (``StepTask``), and the demand hands the claim on to it. Who finds the claim taken waits
/// in a room, for a position: nobody blocks a thread.
@usableFromInline
final actor Evaluator<Element: Sendable>: SerialExecutor {
  @usableFromInline typealias Cells = Segment<Element>

  @usableFromInline let claim = Claim()
  // Guard of these: the claim, which is this actor's executor. `unsafe` says no more than that: it is
  // the claim that isolates them, and not the runtime's queue of jobs, whose check of every access
  // (`assumeIsolated`) would cost 60 ns an element. May touch them: the methods that say "for the
  // holder of the claim". Their accesses never overlap; the dynamic check of that costs 10 ns.
  /// `nil` while a demand runs it, and for ever once it is exhausted, has failed, or is abandoned.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var producer: Producer<Element>?
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var asyncProducer: AsyncProducer<Element>?
  /// What the last step came to, where that is neither written into a cell nor told to anybody.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var leftOpen: ResumeReason?
  /// What the next plain step has to look up before it runs; mostly nothing.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var notes: Notes
  /// The open segment, while a driver is there who holds it.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var lent: Unmanaged<Cells>?
  /// The open segment, from the first time on that a step has really suspended: the task that writes
  /// its cells must not keep the list alive.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) weak var front: Cells?

  /// The task of a list whose steps are asynchronous; a plain list has none, whatever its source.
  @usableFromInline nonisolated let task: StepTask?
  private nonisolated let waiting = AtomicLazyReference<Room>()
  @usableFromInline nonisolated let name = AtomicLazyReference<ListName>()
  /// The evaluator that a recursive definition reads from; it goes by the same name.
  @usableFromInline nonisolated let definition: Evaluator?
  /// The last stage of those that compute the list, for those who look at it.
  @usableFromInline nonisolated let stage: StageName?

  @inlinable
  init(
    _ producer: Producer<Element>, definition: Evaluator? = nil
  ) {
    self.producer = producer
    stage = producer.stage
    self.definition = definition
    notes = Recorder.isOn ? .recorded : []
    task = nil
  }

  @inlinable
  init(_ asyncProducer: AsyncProducer<Element>) {
    self.asyncProducer = asyncProducer
    stage = asyncProducer.stage
    definition = nil
    notes = []
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
    // Taken out before anybody is woken: who comes back finds the claim free.
    let waiters = waiting.load()?.state.withLock { $0.empty() } ?? []
    for waiter in waiters { waiter.wake(isFree ? .retry : .abandoned) }
    if !isFree { tearDown() }
  }

  /// A job that hops here, as onto any actor, runs when the claim is free.
  @usableFromInline
  nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Task { [self] in
      while !claim.take() {
        if claim.isAbandoned { break }
        let waiter = Waiter()
        if enter(waiter, until: .max, unless: { false }) { _ = await waiter.park() }
      }
      job.runSynchronously(on: asUnownedSerialExecutor())
      letGo()
    }
  }

  // MARK: Demands

  /// Computes the cell behind the front of `segment`, if `mark` is what it has published.
  ///
  /// True when there is something new to see in the segment; else `absence` says why there is not.
  @inlinable @inline(never)
  nonisolated func demand(
    _ segment: Cells, after mark: Published, _ demand: Demand, drives: Bool,
    _ absence: inout Absence
  ) -> Bool {
    if drives, task != nil {
      let isOutermost = demand.isOutermost
      return Unmanaged.passUnretained(task.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
        self.demand(segment, after: mark, of: $0, isOutermost: isOutermost, &absence)
      }
    }
    guard task == nil, demand.budget > 0, claim.take() else {
      absence = .missing(MissingCell(segment, mark: mark, isBulk: demand.isBulk))
      return false
    }
    var done: Producer<Element>?
    let isNew = step(segment, mark, demand, &absence, &done)
    letGo()
    return isNew
  }

  /// One plain step, or as many as fill the segment. `done` is a producer that has nothing to do any
  /// more: it is released when the claim is free.
  ///
  /// For the holder of the claim.
  @inlinable @inline(__always)
  nonisolated func step(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ absence: inout Absence,
    _ done: inout Producer<Element>?
  ) -> Bool {
    // Somebody was faster.
    guard segment.published.load(ordering: .relaxed) == seen else { return true }
    if !notes.isEmpty, let isNew = noted(segment, seen, demand, &absence, &done) { return isNew }
    // The producer is moved out and back, not copied: a copy is two atomic counts per element.
    guard let producer = producer.take() else { fatalError(Anchor<Element>.releasedText) }
    var mark = seen
    let ending: Ending<Element>
    if mark.count < segment.capacity {
      ending = producer(demand) { element in
        segment.append(element, to: mark)
        mark = mark.appended
        return demand.isBulk && mark.count < segment.capacity && !claim.isContested
      }
    } else {
      switch producer.step(Demand(budget: demand.budget)) {
      case .element(let element):
        extend(segment, with: element)
        self.producer = consume producer
        return true
      case .last(let element):
        let last = Cells(evaluated: CollectionOfOne(element), link: .end)
        segment.close(.more(last, 0), at: mark)
        done = consume producer
        return true
      case .become(let list): ending = .become(list)
      case .nothing(.paused): ending = .stopped
      case .nothing(let absence): ending = .nothing(absence)
      }
    }
    switch ending {
    case .stopped:
      self.producer = consume producer
      return true
    case .become(let list):
      segment.close(list.destination(from: segment), at: mark)
    case .nothing(.end): segment.close(.end, at: mark)
    case .nothing(.failed(let failure)): segment.close(.failed(failure), at: mark)
    case .nothing(.missing(let cell)) where cell.mark == mark && cell.cells === segment:
      // The claim is held here: the cell that is computed was met again on the way to it.
      let cycle = CyclicEvaluationError(
        lists: [segment.title], position: segment.start + mark.count)
      segment.close(.failed(cycle), at: mark)
    case .nothing(let why):
      self.producer = consume producer
      // There is something to read; whoever wants more will meet the obstacle again. An attempt that
      // failed has been made, and is not made again before it is told.
      if mark != seen {
        if case .failedTransiently(let failure) = why { tellLater(failure) }
        return true
      }
      absence = why
      return false
    }
    done = consume producer
    return true
  }

  /// An attempt that failed for now is told to whoever reads on. For the holder of the claim.
  @inlinable @inline(never)
  nonisolated func tellLater(_ failure: any Error) {
    leftOpen = .failedTransiently(failure)
    notes.insert(.untold)
  }

  /// A step that there is something to know about. `nil` if it is a step like any other after all.
  @usableFromInline @inline(never)
  nonisolated func noted(
    _ segment: Cells, _ seen: Published, _ demand: Demand, _ absence: inout Absence,
    _ done: inout Producer<Element>?
  ) -> Bool? {
    if notes.contains(.untold), tellNow(&absence) { return false }
    guard notes.contains(.recorded), Recorder.isOn else {
      notes = []
      return nil
    }
    notes = []
    let isNew = recordedStep(segment, seen, demand, &absence, &done)
    notes.insert(.recorded)
    return isNew
  }

  nonisolated func tellNow(_ absence: inout Absence) -> Bool {
    notes.remove(.untold)
    guard case .failedTransiently(let failure)? = leftOpen.take() else { return false }
    absence = .failedTransiently(failure)
    return true
  }

  /// Goes on in a new segment. For the holder of the claim.
  @inlinable @inline(never)
  nonisolated func extend(_ segment: Cells, with element: consuming Element) {
    let next = Cells(
      source: segment.source, start: segment.start + segment.capacity,
      capacity: Capacity<Element>.following(segment.capacity))
    next.append(element, to: Published(count: 0))
    segment.close(.more(next, 0), at: Published(count: segment.capacity))
    if let task { if task.isDriven { lent = .passUnretained(next) } else { front = next } }
    if Recorder.isOn { notes.insert(.recorded) }
  }

  /// Gives the producer away to a cursor that holds the only reference to the unevaluated rest.
  @inlinable
  nonisolated func takeProducer() -> Producer<Element>? {
    guard task == nil, claim.take() else { return nil }
    // What an attempt came to must be told first.
    let producer = notes.contains(.untold) ? nil : producer.take()
    letGo()
    return producer
  }

  // MARK: Waiting

  /// Has a waiter wait until the cells before a position are there. False if there is nothing to wait
  /// for: nobody holds the claim, or the cells are there.
  @usableFromInline
  nonisolated func enter(
    _ waiter: Waiter, until end: Int, unless isOver: () -> Bool
  ) -> Bool {
    let room = waiting.load() ?? waiting.storeIfNil(Room())
    return room.state.withLock { state in
      guard claim.await(), !claim.isAbandoned, !isOver() else { return false }
      state.enter(waiter, until: end)
      return true
    }
  }

  /// A waiter goes, and takes its mark with it.
  @usableFromInline
  nonisolated func leave(_ waiter: Waiter) {
    waiting.load()?.state.withLock { $0.leave(waiter) }
  }

  /// The holder of the claim has published cells: those who wait for them are woken. Returns how far
  /// the others want to get.
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

  /// The step left nothing behind: all who are there are told why.
  @usableFromInline
  nonisolated func dismiss(_ why: ResumeReason) {
    let waiters = waiting.load()?.state.withLock { $0.empty() } ?? []
    for waiter in waiters { waiter.wake(why) }
  }

  // MARK: The end

  @inlinable nonisolated var isAbandoned: Bool { claim.isAbandoned }

  /// Nobody can read any more what a step would give.
  @usableFromInline
  nonisolated func abandon() {
    if claim.abandon() { return tearDown() }
    if Recorder.isOn { noteAbandonment() }
    task?.cancel()
  }

  /// Lets go of everything. For the holder of the claim, which is kept.
  private nonisolated func tearDown() {
    // The one reference: what it holds is released by a loop, and not by this frame.
    let leftover = leftover()
    task?.finish()
    if let leftover { ReleaseQueue.release(leftover) }
    // Who waits in a list that only its own definition could still compute.
    dismiss(.abandoned)
  }

  /// What the evaluator computes from, which it gives away. For the holder of the claim.
  @usableFromInline
  nonisolated func leftover() -> Leftover? {
    // Not by `take()`: where nothing is specialised, that asks for the metadata of its type.
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

/// What is known about the next plain step of a list, before it runs.
@usableFromInline
struct Notes: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A step has failed for now after elements that had to be read first.
  @inlinable static var untold: Notes { Notes(rawValue: 1) }
  /// Somebody records what runs.
  @inlinable static var recorded: Notes { Notes(rawValue: 2) }
}

@usableFromInline
final class ListName: Sendable {
  @usableFromInline let text: String

  init(_ text: String) { self.text = text }
}
