internal import Dispatch
public import Synchronization

/// The actor that computes a list's unevaluated rest, one step at a time.
///
/// It is its own executor. A task that demands an element claims the executor inline when it is
/// free, which costs one atomic exchange, and runs a plain step right there. Whoever finds it
/// claimed leaves a message, and the holder answers it before letting go: nobody blocks, nobody
/// hops. A step that has to suspend runs in a task of its own, its *flight*, which owns the
/// producer for as long as it flies; the claim is free meanwhile, for those who come to wait.
@usableFromInline
final actor Evaluator<Element: Sendable, Failure: Error>: SerialExecutor {
  @usableFromInline typealias Cells = Segment<Element, Failure>
  @usableFromInline typealias Outcome = Result<Step<Element, Failure>, Failure>
  @usableFromInline typealias State = StepState<Outcome, Flight, Waiter>

  /// 0 when free, `claimed` when somebody runs here, else a `Letter` that was left meanwhile.
  @usableFromInline let claim = Atomic<UInt>(0)
  @exclusivity(unchecked) @usableFromInline var state = State.idle
  /// `nil` while a flight has it, and for ever once it is exhausted, failed, or abandoned.
  @exclusivity(unchecked) @usableFromInline var producer: Producer<Element, Failure>?
  /// The lists that a concatenation has before it is first evaluated, for others to copy.
  @exclusivity(unchecked) @usableFromInline var pieces: Pieces<Element, Failure>?
  @usableFromInline let name = AtomicLazyReference<ListName>()

  @usableFromInline static var claimed: UInt { 1 }

  /// The evaluator that a recursive definition reads from; it goes by the same name.
  @usableFromInline let definition: Evaluator?

  @inlinable
  init(
    _ producer: Producer<Element, Failure>, pieces: Pieces<Element, Failure>? = nil,
    definition: Evaluator? = nil
  ) {
    self.producer = producer
    self.pieces = pieces
    self.definition = definition
  }

  nonisolated func name(_ name: ListName) {
    _ = self.name.storeIfNil(name)
    definition?.name(name)
  }

  @inlinable
  nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

  // MARK: The claim

  @inlinable
  nonisolated func tryClaim() -> Bool {
    claim.compareExchange(expected: 0, desired: Self.claimed, ordering: .acquiring).exchanged
  }

  @inlinable
  nonisolated func unclaim() {
    let freed = claim.compareExchange(expected: Self.claimed, desired: 0, ordering: .releasing)
    if !freed.exchanged { answerLetters() }
  }

  /// Runs isolated code for the holder of the claim.
  ///
  /// `assumeIsolated` would check what the claim has just proved, for 60 ns ("First pass").
  @inlinable @inline(__always)
  nonisolated func isolated<R>(_ body: (isolated Evaluator) -> R) -> R {
    withoutActuallyEscaping(body) { body in
      unsafeBitCast(body, to: ((Evaluator) -> R).self)(self)
    }
  }

  /// Somebody came while the claim was held, and waits for an answer.
  @inlinable
  nonisolated var hasLetters: Bool { claim.load(ordering: .relaxed) != Self.claimed }

  // MARK: Demands

  /// Computes the cell behind the front of `segment`, if `mark` is what it has published.
  ///
  /// Returns when there is something new to see in the segment. `waiting` says that another task
  /// is at it, or that the stack is too deep already.
  @inlinable @inline(never)
  nonisolated func demand(
    _ segment: Cells, mark: Int, budget: Int, fills: Bool = false
  ) throws(Interruption<Failure>) {
    guard budget > 0, tryClaim() else { throw .waiting(Obstacle(segment, mark: mark)) }
    defer { unclaim() }
    typealias Isolated =
      (isolated Evaluator, Cells, Int, Int, Bool) throws(Interruption<Failure>) -> Void
    typealias Claimed = (Evaluator, Cells, Int, Int, Bool) throws(Interruption<Failure>) -> Void
    let step: Isolated = {
      (evaluator, segment, mark, budget, fills) throws(Interruption<Failure>) in
      try evaluator.step(segment, mark, budget, fills)
    }
    try unsafeBitCast(step, to: Claimed.self)(self, segment, mark, budget, fills)
  }

  @inlinable
  func step(
    _ segment: Cells, _ mark: Int, _ budget: Int, _ fills: Bool
  ) throws(Interruption<Failure>) {
    // Somebody was faster.
    guard segment.published.load(ordering: .relaxed) == mark else { return }
    if case .idle = state {} else if try !settled(segment, mark) { return }
    // A closure that may suspend runs in a flight: there is nothing to try.
    if let suspension = producer.unsafelyUnwrapped.suspension, suspension.outcome == nil {
      throw .waiting(Obstacle(segment, mark: mark))
    }
    if pieces != nil { pieces = nil }
    var word = mark
    // The producer is moved out and back, not copied: a copy is two atomic counts per element.
    let producer = producer.take().unsafelyUnwrapped
    do throws(Interruption<Failure>) {
      guard mark >> 1 < segment.capacity else {
        let step = try producer.step(budget)
        if case .element = step { self.producer = consume producer }
        return commit(step, segment, mark)
      }
      let ending = try producer(budget) { element in
        segment.append(element, to: word)
        word &+= 2
        return fills && word >> 1 < segment.capacity && !hasLetters
      }
      switch ending {
      case .stopped: self.producer = consume producer
      case .end: segment.close(.end, at: word)
      case .become(let list): segment.close(list.destination(from: segment), at: word)
      }
    } catch {
      guard case .failed(let failure) = error else {
        self.producer = consume producer
        // There is something to read; whoever wants more will meet the obstacle again.
        if case .waiting = error, word != mark { return }
        // A suspension is for a flight of this list; whoever demanded waits for the cell.
        if case .waiting(let obstacle) = error, obstacle.blocker.isPartOfProducer {
          throw .waiting(Obstacle(segment, mark: mark))
        }
        throw error
      }
      segment.close(.failed(failure), at: word)
    }
    #if DEBUG
      checkInvariants(segment)
    #endif
  }

  /// The rare part of a step: a flight is out, or has just come back. True if there is a step to
  /// run.
  @inlinable
  func settled(_ segment: Cells, _ mark: Int) throws(Interruption<Failure>) -> Bool {
    switch state.demand() {
    case .compute: return true
    case .refuse: fatalError(Anchor<Element, Failure>.releasedText)
    case .wait: throw .waiting(Obstacle(segment, mark: mark))
    case .commit(.failure(let failure)):
      segment.close(.failed(failure), at: mark)
      producer = nil
    case .commit(.success(let step)):
      if case .element = step {} else { producer = nil }
      commit(step, segment, mark)
    }
    return false
  }

  /// Writes down what a step gave, in a new segment if this one is full.
  @inlinable @inline(never)
  func commit(_ step: Step<Element, Failure>, _ segment: Cells, _ mark: Int) {
    let isFull = mark >> 1 == segment.capacity
    switch step {
    case .element(let element) where isFull:
      let next = Cells(
        source: segment.source, start: segment.start + mark >> 1,
        capacity: Capacity<Element>.following(segment.capacity))
      next.append(element, to: 0)
      segment.close(.more(next, 0), at: mark)
    case .last(let element) where isFull:
      segment.close(.more(Cells(evaluated: CollectionOfOne(element), link: .end), 0), at: mark)
    case .element(let element):
      segment.append(element, to: mark)
    case .last(let element):
      segment.append(element, to: mark)
      segment.close(.end, at: mark + 2)
    case .end: segment.close(.end, at: mark)
    case .become(let list): segment.close(list.destination(from: segment), at: mark)
    }
  }

  /// Gives the producer away to a cursor that holds the only reference to the unevaluated rest.
  @inlinable
  nonisolated func takeProducer() -> Producer<Element, Failure>? {
    guard tryClaim() else { return nil }
    // Captures nothing, and so allocates nothing: see `isolated`.
    typealias Isolated = (isolated Evaluator) -> Producer<Element, Failure>?
    typealias Claimed = (Evaluator) -> Producer<Element, Failure>?
    let take: Isolated = { if case .idle = $0.state { $0.producer.take() } else { nil } }
    let producer = unsafeBitCast(take, to: Claimed.self)(self)
    unclaim()
    return producer
  }

  @usableFromInline
  func checkInvariants(_ segment: Cells) {
    let word = segment.published.load(ordering: .relaxed)
    precondition(word >> 1 <= segment.capacity, "a segment published more cells than it has")
    if case .idle = state {
      precondition((producer == nil) == (word & 1 == 1 && !goesOn(segment)), "a producer is lost")
    }
    if state.isComputing { precondition(producer == nil, "a flight left its producer behind") }
  }

  private func goesOn(_ segment: Cells) -> Bool {
    guard case .more(let next, _) = segment.link else { return false }
    // A list may also go on in a segment of its own that was there before.
    return next.source.evaluator === self && next.start > segment.start
  }
}

/// How many cells the segments of a list have: few at first, for short lists, then about a kilobyte
/// each, so that a list of Ints costs less than 10 bytes an element ("Memory").
@usableFromInline
enum Capacity<Element> {
  @usableFromInline static var first: Int { 8 }

  @usableFromInline
  static func following(_ capacity: Int) -> Int {
    min(capacity * 2, max(8, min(128, 2048 / max(1, MemoryLayout<Element>.stride))))
  }
}

@usableFromInline
final class ListName: Sendable {
  @usableFromInline let text: String

  init(_ text: String) { self.text = text }
}
