public import Synchronization

/// A moving position in a list: what operators and readers pull from.
///
/// It lets go of every segment that it has passed. A cursor that finds itself the only one who can
/// see the unevaluated rest may take the producer over and pull from it directly: what nobody can
/// observe is not memoized ("First pass").
@usableFromInline
struct Cursor<Element: Sendable, Failure: Error> {
  /// `nil` at the end, and while the cursor pulls from a producer.
  @usableFromInline var segment: Segment<Element, Failure>?
  @usableFromInline var producer: Producer<Element, Failure>?
  @usableFromInline var index: Int
  /// Cells below it are known to be evaluated.
  @usableFromInline var limit = 0
  @usableFromInline var base: UnsafeMutablePointer<Element>?
  @usableFromInline var budget = fullBudget
  @usableFromInline var takesOver: Bool
  /// A cancelled task gets evaluated elements only.
  @usableFromInline let stopsWhenCancelled: Bool
  /// Every element is wanted, whatever it is: a demand may fill a segment ("Collecting").
  @usableFromInline let wantsAll: Bool

  @inlinable
  init(
    _ list: consuming LazyList<Element, Failure>, takesOver: Bool = true,
    stopsWhenCancelled: Bool = false, wantsAll: Bool = false
  ) {
    index = list.offset
    self.takesOver = takesOver
    self.stopsWhenCancelled = stopsWhenCancelled
    self.wantsAll = wantsAll
    base = list.segment?.base
    segment = list.segment
  }

  /// Pulls one element, or throws why there is none. `nil` at the end, again and again.
  ///
  /// Evaluated elements are read from memory: no lock, no atomic operation, no allocation.
  @inlinable @inline(__always)
  mutating func next() throws(Interruption<Failure>) -> Element? {
    if index < limit {
      let element = base.unsafelyUnwrapped[index]
      index &+= 1
      return element
    }
    return try advance()
  }

  @inlinable
  mutating func advance() throws(Interruption<Failure>) -> Element? {
    while true {
      if producer != nil {
        if let element = try pull() { return element }
        if segment == nil { return nil }
      }
      // The references are moved out and back, not copied: a copy is two atomic counts per element.
      guard var segment = segment.take() else { return nil }
      let word = segment.published.load(ordering: .acquiring)
      let count = word >> 1
      if index < count {
        limit = count
        let element = segment.base[index]
        index &+= 1
        self.segment = consume segment
        return element
      }
      if word & 1 == 1 {
        try follow(consume segment, count)
        continue
      }
      if takesOver, index == count, takeOver(from: &segment, word) { continue }
      if stopsWhenCancelled, Task.isCancelled {
        // A step may have come back that nobody has written down yet: it can be read.
        _ = segment.lookAtFlight()
        if segment.published.load(ordering: .acquiring) == word {
          self.segment = consume segment
          throw .cancelled
        }
      }
      do throws(Interruption<Failure>) {
        if segment.owner != nil {
          try segment.owner.unsafelyUnwrapped.demand(
            segment, mark: word, budget: budget &- 1, fills: wantsAll)
        } else {
          try segment.demandAnchored(mark: word, budget: budget &- 1)
        }
      } catch {
        self.segment = consume segment
        throw error
      }
      self.segment = consume segment
    }
  }

  /// Takes the producer over, if nobody else can see what it would give.
  @inlinable @inline(__always)
  mutating func takeOver(from segment: inout Segment<Element, Failure>, _ word: Int) -> Bool {
    guard isKnownUniquelyReferenced(&segment), let producer = segment.owner?.takeProducer() else {
      return false
    }
    // Nobody will look at the segment again; there is nothing left to abandon.
    segment.close(.end, at: word)
    self.producer = producer
    limit = 0
    index = 0
    return true
  }

  /// Has the cell behind the evaluated ones computed.
  @inlinable @inline(__always)
  func demand(_ segment: Segment<Element, Failure>, _ word: Int) throws(Interruption<Failure>) {
    if stopsWhenCancelled, Task.isCancelled {
      // A step may have come back that nobody has written down yet: it can be read.
      _ = segment.lookAtFlight()
      if segment.published.load(ordering: .acquiring) == word { throw .cancelled }
      return
    }
    if segment.owner != nil {
      try segment.owner.unsafelyUnwrapped.demand(
        segment, mark: word, budget: budget &- 1, fills: wantsAll)
    } else {
      try segment.demandAnchored(mark: word, budget: budget &- 1)
    }
  }

  /// Pulls from the producer that was taken over. `nil` when it has none left; then the cursor is
  /// at the end, or in the list that goes on.
  @inlinable
  mutating func pull() throws(Interruption<Failure>) -> Element? {
    if budget <= 1 {
      // Too deep: gives the producer cells of its own again, and unwinds to evaluate them.
      putBack()
      return nil
    }
    if stopsWhenCancelled, Task.isCancelled { throw .cancelled }
    var element: Element?
    try run {
      element = .some($0)
      return false
    }
    return element
  }

  /// Runs the producer that was taken over, until the sink wants no more.
  @inlinable @inline(__always)
  mutating func run(_ sink: Producer<Element, Failure>.Sink) throws(Interruption<Failure>) {
    guard let producer = producer.take() else { return }
    let ending: Ending<Element, Failure>
    do throws(Interruption<Failure>) {
      ending = try producer(budget &- 1, sink)
    } catch {
      self.producer = consume producer
      throw error
    }
    switch ending {
    case .stopped: self.producer = consume producer
    case .end: break
    case .become(let list): move(to: list.segment, at: list.offset)
    }
  }

  /// Hands elements to a sink until it wants no more, or until the end: then it returns true.
  ///
  /// It is true as well if the sink wanted no more than what turned out to be the last element.
  @inlinable @inline(__always)
  mutating func drive(
    _ budget: Int, _ sink: Producer<Element, Failure>.Sink
  ) throws(Interruption<Failure>) -> Bool {
    self.budget = budget
    while true {
      if producer != nil, budget > 1 {
        if stopsWhenCancelled, Task.isCancelled { throw .cancelled }
        try run(sink)
        if producer != nil { return false }
        if segment == nil { return true }
      }
      guard let element = try next() else { return true }
      if !sink(element) { return false }
    }
  }

  /// Moves past the cells that are evaluated here, and lends them; evaluates some if there are none.
  ///
  /// They stay for as long as the cursor does not move on. `nil` at the end, and where a producer
  /// was taken over.
  @inlinable
  mutating func nextCells() throws(Interruption<Failure>) -> UnsafeBufferPointer<Element>? {
    while var segment = segment.take() {
      let word = segment.published.load(ordering: .acquiring)
      let count = word >> 1
      if index < count {
        let cells = UnsafeBufferPointer(start: segment.base + index, count: count - index)
        index = count
        self.segment = consume segment
        return cells
      }
      if word & 1 == 1 {
        try follow(consume segment, count)
        continue
      }
      if takesOver, index == count, takeOver(from: &segment, word) { return nil }
      do throws(Interruption<Failure>) {
        try demand(segment, word)
      } catch {
        self.segment = consume segment
        throw error
      }
      self.segment = consume segment
    }
    return nil
  }

  /// Goes on behind a closed segment.
  @inlinable
  mutating func follow(
    _ segment: consuming Segment<Element, Failure>, _ count: Int
  ) throws(Interruption<Failure>) {
    switch segment.link {
    case .end: move(to: nil, at: 0)
    case .more(let next, let offset): move(to: next, at: offset &+ index &- count)
    case .failed(let failure):
      self.segment = consume segment
      throw .failed(failure)
    }
  }

  @inlinable
  mutating func move(to segment: Segment<Element, Failure>?, at index: Int) {
    self.index = index
    limit = 0
    base = segment?.base
    self.segment = segment
  }

  /// Goes back to cells, for good: a producer that has to suspend does so in a flight of its own.
  @inlinable
  mutating func putBack() {
    guard let producer = producer.take() else { return }
    takesOver = false
    let list = LazyList(Evaluator(producer))
    move(to: list.segment, at: 0)
  }

  /// What has not been pulled yet, as a list.
  @inlinable
  var rest: LazyList<Element, Failure> {
    mutating get {
      putBack()
      return LazyList(segment: segment, offset: index)
    }
  }
}

extension Segment {
  @usableFromInline
  func demandAnchored(mark: Int, budget: Int) throws(Interruption<Failure>) {
    guard let evaluator = source.evaluator else {
      fatalError(Anchor<Element, Failure>.releasedText)
    }
    try evaluator.demand(self, mark: mark, budget: budget)
  }
}
