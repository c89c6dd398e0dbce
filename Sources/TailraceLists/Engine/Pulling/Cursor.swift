/// A moving position in a list, from which operators and readers pull.
///
/// It releases every segment that it has passed. A cursor that alone can see the unevaluated rest
/// may take over the producer and pull from it directly: elements that no other reader can observe
/// are not memoized ("First pass").
@usableFromInline
package struct Cursor<Element: Sendable> {
  /// `nil` at the end, and while the cursor pulls from a producer.
  @usableFromInline var segment: Segment<Element>?
  @usableFromInline var producer: Producer<Element>?
  @usableFromInline var index: Int
  /// Cells below it are known to be evaluated.
  @usableFromInline var limit = 0
  @usableFromInline var base: UnsafeMutablePointer<Element>?
  /// The cell for which a reader has waited here.
  @usableFromInline var note = WaitingNote()
  /// The properties of the current demand.
  @usableFromInline package var demand: Demand
  /// Why the last pull gave no element.
  @usableFromInline var absence = Absence.end
  /// One field: the optimiser keeps a cursor of a few fields in registers ("First pass").
  @usableFromInline var manner: PullingManner

  @inlinable
  package init(
    at place: consuming Place<Element>, takesOver: Bool = true,
    stopsWhenCancelled: Bool = false, wants amount: Amount = .one, isInTask: Bool = false
  ) {
    index = place.offset
    manner = .takesOut
    if takesOver { manner.insert(.takesOver) }
    if stopsWhenCancelled { manner.insert(.stopsWhenCancelled) }
    if isInTask { manner.insert(.isInTask) }
    demand = Demand(amount)
    // For one element the cursor looks itself.
    demand.stops = stopsWhenCancelled && amount == .all
    segment = place.segment
  }

  /// Why the last pull gave no element. A missing cell is given once, and then released: it would
  /// retain its list, which may be the one that this cursor belongs to.
  @inlinable
  package mutating func takeAbsence() -> Absence {
    guard case .missing = absence else { return absence }
    // Moved, not copied: a list's reference count is shared memory.
    var taken = Absence.paused
    swap(&taken, &absence)
    return taken
  }

  /// Pulls one element. If there is none, `absence` says why; at the end it does so each time.
  ///
  /// Evaluated elements are read from memory: no lock, no atomic operation, no allocation.
  @inlinable @inline(__always)
  package mutating func next() -> Element? {
    if index < limit {
      let element = base.unsafelyUnwrapped[index]
      index &+= 1
      return element
    }
    return advance()
  }

  @inlinable
  mutating func advance() -> Element? {
    var moves = 0
    while true {
      if producer != nil {
        if let element = pull() { return element }
        if segment == nil { return nil }
      }
      // The references are moved out and back, not copied: a copy is two atomic counts per element.
      guard var segment = segment.take() else {
        absence = .end
        return nil
      }
      let mark = segment.mark
      let count = mark.count
      if index < count {
        guard let base = segment.base else {
          move(to: segment.copy(from: index), at: 0)
          continue
        }
        if takesOut, !_isPOD(Element.self), isKnownUniquelyReferenced(&segment) {
          let element = segment.takeOut(index)
          index &+= 1
          self.segment = consume segment
          return element
        }
        (self.base, limit) = (base, count)
        let element = base[index]
        index &+= 1
        self.segment = consume segment
        return element
      }
      if mark.isClosed {
        guard follow(consume segment, count, &moves) else { return nil }
        continue
      }
      if demand.hasWaited, isTold(of: segment, mark) {
        self.segment = consume segment
        return nil
      }
      if takesOver, index == count, takeOver(from: &segment, mark) {
        if isLongSearch(&moves) { return nil }
        continue
      }
      let isNew = demandNext(of: segment, mark)
      self.segment = consume segment
      if !isNew { return nil }
    }
  }

  /// Gets the cell after the evaluated ones computed. False if it is missing; `absence` says why.
  @inlinable @inline(__always)
  mutating func demandNext(of segment: Segment<Element>, _ mark: Published) -> Bool {
    if stopsWhenCancelled, Task.isCancelled {
      if segment.takeDone() { return true }
      absence = .cancelled
      return false
    }
    if segment.owner != nil {
      // The segment retains it: counting references would be a sixth of a first pass.
      let isNew = Unmanaged.passUnretained(segment.owner.unsafelyUnwrapped)
        ._withUnsafeGuaranteedRef { $0.demand(segment, after: mark, demand.deeper, &absence) }
      return isNew && demand.amount == .one || demanded(mark, isNew)
    }
    if let evaluator = segment.anchor?.evaluator {
      return demanded(mark, evaluator.demand(segment, after: mark, demand.deeper, &absence))
    }
    absence = .missing(MissingCell(segment, mark: mark, .one))
    return false
  }

  /// A demand has come back. Notes the cell if it is missing, and for who wants the cells after it, too.
  @usableFromInline @inline(never)
  mutating func demanded(_ mark: Published, _ isNew: Bool) -> Bool {
    if isNew {
      guard demand.amount == .all else { return true }
      demand.hasWaited = true
    } else {
      guard case .missing = absence else {
        // A failure that has come this way is not found by an older note, too, and told twice.
        note = WaitingNote()
        return false
      }
    }
    note = WaitingNote(mark, demand.amount)
    return isNew
  }

  /// The reader has waited: whether it was for the cell after the mark, and an attempt there has failed since.
  /// Then `absence` has the failure.
  @usableFromInline @inline(never)
  mutating func isTold(of segment: Segment<Element>, _ mark: Published) -> Bool {
    switch note.change(at: mark, demand.amount) {
    case .none: return false
    case .failed:
      if let last = segment.evaluator?.lastFailure.withLock({ $0 }),
        last.start == segment.start, last.counted == mark
      {
        note = WaitingNote()
        absence = .failedTransiently(last.failure)
        return true
      }
      // There is more by now: the next look sees an element, or a later failure.
      return false
    case .elsewhere: break
    }
    demand.hasWaited = false
    return false
  }

  /// Takes over the producer, if no other reader can see its elements. Not that of asynchronous steps, if all
  /// elements are wanted: their task fills cells without parking, and a closure of the reader reads those.
  ///
  /// The check that the segment has no other owner follows the read of `mark`. In between, another
  /// reader may have published cells after the mark, gone on into a new segment, and left. So the
  /// mark is read again under the claim, without which no task publishes (<doc:TheCell>).
  @inlinable @inline(__always)
  mutating func takeOver(
    from segment: inout Segment<Element>, _ mark: Published
  ) -> Bool {
    guard isKnownUniquelyReferenced(&segment), let owner = segment.owner,
      owner.steps == nil || demand.amount == .one || demand.isGathered,
      let producer = owner.takeProducer(of: segment, at: mark)
    else { return false }
    self.producer = producer
    limit = 0
    index = 0
    return true
  }

  /// Pulls from the producer taken over. `nil` when it has no element: the cursor is at the end, or
  /// in the continuing list, or `absence` names the obstacle.
  @inlinable
  mutating func pull() -> Element? {
    if demand.depth <= 1 {
      // Too deep: gives the producer cells again, and unwinds to evaluate them.
      putBack()
      return nil
    }
    var pauses = 0
    while producer != nil {
      if stopsWhenCancelled, Task.isCancelled {
        absence = .cancelled
        return nil
      }
      var element: Element?
      let isStopped = run {
        element = .some($0)
        return false
      }
      if element != nil || !isStopped { return element }
      // The search paused, so that the caller can check for cancellation, or yield.
      pauses &+= 1
      if !stopsWhenCancelled || pauses == 16 {
        absence = .paused
        return nil
      }
    }
    return nil
  }

  /// Runs the producer taken over, until the sink wants no more, or the search pauses: then it
  /// returns true. Otherwise the cursor has moved on, or `absence` says why there is no more.
  @inlinable @inline(__always)
  mutating func run(_ sink: Producer<Element>.Sink) -> Bool {
    guard let producer = producer.take() else { return false }
    switch producer(demand.deeper, sink) {
    case .stopped:
      self.producer = consume producer
      return true
    case .become(let list):
      absence = .end
      move(to: list.segment, at: list.offset)
    case .nothing(.end): absence = .end
    case .nothing(.failed(let failure)):
      // The fate of the rest, remembered if nothing else is left.
      move(to: Segment(failing: failure), at: 0)
    case .nothing(let why):
      self.producer = consume producer
      absence = why
    }
    return false
  }

  /// Passes elements to a sink until it wants no more, or there are none.
  @inlinable @inline(__always)
  mutating func push<Output>(
    _ demand: Demand, _ sink: Producer<Element>.Sink
  ) -> Ending<Output> {
    self.demand = demand
    while true {
      if producer != nil, demand.depth > 1 {
        if stopsWhenCancelled, Task.isCancelled {
          absence = .cancelled
          return .nothing(takeAbsence())
        }
        if run(sink) {
          waitsForAll()
          return .stopped
        }
        if producer != nil || segment == nil { return .nothing(takeAbsence()) }
      }
      if let storage = segment?.storage {
        // The elements of an array, in place.
        while index < storage.elements.count {
          index &+= 1
          if !sink(storage[index &- 1]) { return .stopped }
        }
      }
      guard let element = next() else { return .nothing(takeAbsence()) }
      if producer != nil { waitsForAll() }
      if !sink(element) { return .stopped }
    }
  }

  /// A producer that was taken over has given an element: who wants all waits for those that follow, too.
  @inlinable @inline(__always)
  mutating func waitsForAll() { if demand.amount == .all { demand.hasWaited = true } }

  /// Moves past the cells that are evaluated here, and lends them; evaluates some if there are
  /// none.
  ///
  /// False if there are none, for the reason in `absence`, and if a producer was taken over.
  @inlinable
  mutating func withNextCells<E: Error>(
    _ body: (UnsafeBufferPointer<Element>) throws(E) -> Void
  ) throws(E) -> Bool {
    var moves = 0
    while var segment = segment.take() {
      let mark = segment.mark
      let count = mark.count
      if index < count {
        let range = index..<count
        index = count
        try segment.withCells(range, body)
        self.segment = consume segment
        return true
      }
      if mark.isClosed {
        guard follow(consume segment, count, &moves) else { return false }
        continue
      }
      if demand.hasWaited, isTold(of: segment, mark) {
        self.segment = consume segment
        return false
      }
      if takesOver, index == count, takeOver(from: &segment, mark) { return false }
      let isNew = demandNext(of: segment, mark)
      self.segment = consume segment
      if !isNew { return false }
    }
    absence = .end
    return false
  }

  /// Continues after a closed segment. False if the list has failed there, or if a search pauses.
  @inlinable
  mutating func follow(
    _ segment: consuming Segment<Element>, _ count: Int, _ moves: inout Int
  ) -> Bool {
    switch segment.link {
    case .end: move(to: nil, at: 0)
    case .more(let next, let offset):
      let isSameList = segment.owner === next.owner && segment.anchor === next.anchor
      let note = isSameList ? note.following(demand.amount) : WaitingNote()
      move(to: next, at: offset &+ index &- count)
      self.note = note
    case .failed(let failure):
      self.segment = consume segment
      absence = .failed(failure)
      return false
    }
    return !isLongSearch(&moves)
  }

  /// Counts a move to other cells. Lists that become lists without end are a search: it pauses.
  @inlinable
  mutating func isLongSearch(_ moves: inout Int) -> Bool {
    moves &+= 1
    if moves < 1024 { return false }
    absence = .paused
    return true
  }

  @inlinable
  mutating func move(to segment: Segment<Element>?, at index: Int) {
    self.index = index
    limit = 0
    note = WaitingNote()
    self.segment = segment
  }

  /// Returns to cells permanently, so that missing ones can be awaited there.
  @inlinable
  mutating func putBack() {
    guard let producer = producer.take() else { return }
    takesOver = false
    producer.concatenation?.given = 0
    move(to: Segment(of: Evaluator(producer)), at: 0)
  }

  /// The unpulled rest.
  @inlinable
  var rest: Place<Element> {
    mutating get {
      putBack()
      return Place(segment: segment, offset: index)
    }
  }
}
