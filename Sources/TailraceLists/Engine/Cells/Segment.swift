import TailraceSupport
public import Synchronization

/// The continuation after the last cell of a closed segment.
@usableFromInline
enum Link<Element: Sendable> {
  case end
  /// A `Failure`. Stored as one, unspecialised code would have to ask for its metadata, in each
  /// `deinit` ("Memo").
  case failed(any Error)
  /// The list continues in that segment, at that index.
  case more(Segment<Element>, Int)
}

/// A run of memo cells.
///
/// ```
///  list ──▶ ┌ Segment ───────────┐ link ┌ Segment ───────────┐
///           │ 1 2 3 … 128 closed ├─────▶│ 129 130 _ _ _ open ├──▶ Evaluator ──▶ Producer
///           └────────────────────┘      └────────────────────┘    (actor)
/// ```
///
/// Cells are filled one by one, in order; laziness is per element, allocation per segment.
/// `published` only grows. A reader that sees a count may read that many cells for ever without a
/// lock, and `link` once it sees the segment closed.
///
/// Invariants:
/// - `emptied <= count <= capacity`; the cells from `emptied` to `count` are initialised and never
///   written again. Those before `emptied` are gone: no reader could read them any more.
/// - `link` is written once, before `closed` is published, and stays until `deinit`.
/// - An open segment has an evaluator, or had one, and is the only open one of it.
// Guard: the holder of the evaluator's claim writes cells and link before publishing them with
// release; they are read after an acquire. May touch them: `Evaluator`, and readers.
@usableFromInline
package final class Segment<Element: Sendable>: @unchecked Sendable {
  @usableFromInline let published: Atomic<Published>
  @usableFromInline let capacity: Int
  /// The position of the first cell in the evaluator's own numbering.
  @usableFromInline let start: Int
  /// The cells, if the segment has its own memory for them.
  @usableFromInline let base: UnsafeMutablePointer<Element>?
  /// Computes the cells after this segment. A demand calls it without counting a reference, which an
  /// enum's payload would need ("First pass").
  @usableFromInline let owner: Evaluator<Element>?
  /// Stands for the evaluator if the list that a recursive definition makes owns it: the definition's
  /// own cells must not retain it, because that would be a cycle.
  @usableFromInline let anchor: Anchor<Element>?
  /// The name of the list that begins here, if it has one.
  @usableFromInline let label: ListName?
  /// The array whose elements are the cells: they are not copied, and have no other memory.
  @usableFromInline let storage: Storage<Element>?
  @exclusivity(unchecked) @usableFromInline var link: Link<Element> = .end
  /// The number of cells moved out.
  // Guard: the only reference to the segment. May touch it: the reader that holds it, and `deinit`.
  @exclusivity(unchecked) @usableFromInline var emptied = 0

  /// An open, empty segment at the front of an evaluator's cells.
  @inlinable
  package init(
    owner: Evaluator<Element>?, anchor: Anchor<Element>? = nil, start: Int = 0,
    capacity: Int = Capacity<Element>.first
  ) {
    self.owner = owner
    self.anchor = anchor
    label = nil
    storage = nil
    self.start = start
    self.capacity = capacity
    base = .allocate(capacity: capacity)
    self.published = Atomic(Published(count: 0))
  }

  /// A closed segment: values that need no evaluation, then a link.
  @inlinable
  init(
    evaluated: some Collection<Element>, link: Link<Element>, start: Int = 0,
    label: ListName? = nil
  ) {
    owner = nil
    anchor = nil
    self.label = label
    storage = nil
    self.start = start
    self.capacity = evaluated.count
    self.link = link
    let cells = UnsafeMutableBufferPointer<Element>.allocate(capacity: capacity)
    _ = cells.initialize(from: evaluated)
    base = cells.baseAddress
    self.published = Atomic(Published(count: capacity, isClosed: true))
  }

  /// A closed segment: no element, and a failure that is kept.
  @inlinable
  convenience init(failing failure: any Error) {
    self.init(evaluated: EmptyCollection(), link: .failed(failure))
  }

  /// The first segment of an evaluator's elements.
  @inlinable
  convenience init(of evaluator: Evaluator<Element>) {
    // A producer that was taken over has given the elements before.
    self.init(owner: evaluator, start: evaluator.steps?.executor.position ?? 0)
  }

  /// A closed segment: the elements of an array, in place.
  @inlinable
  init(storage: Storage<Element>, link: Link<Element> = .end) {
    owner = nil
    anchor = nil
    label = nil
    self.storage = storage
    base = nil
    start = 0
    capacity = storage.elements.count
    self.link = link
    published = Atomic(Published(count: storage.elements.count, isClosed: true))
  }

  deinit {
    let published = published.load(ordering: .relaxed)
    assert(emptied <= published.count, "a segment has moved out cells that it never had")
    if let base {
      (base + emptied).deinitialize(count: published.count - emptied)
      base.deallocate()
    }
    if !published.isClosed { evaluator?.abandon() }
    // Unlinks the rest in a loop: a chain of any length is released on one frame. An open segment
    // is left alone: the list's task may hold a weak reference, and be about to close it.
    var rest = unlinked()
    while case .more(var next, _) = rest {
      rest = .end
      guard next.mark.isClosed, isKnownUniquelyReferenced(&next)
      else { break }
      // On ARM the check of the count alone does not order the reads after it.
      atomicMemoryFence(ordering: .acquiring)
      rest = next.unlinked()
    }
  }

  /// Traps in debug builds if an open segment breaks an invariant. For the holder of the claim.
  @inlinable @inline(__always)
  func checkInvariants(_ mark: Published) {
    assert(
      mark == published.load(ordering: .relaxed),
      "a segment was closed at another mark than its own")
    assert(!mark.isClosed, "a segment was closed twice")
    assert(mark.count <= capacity, "a segment has more cells than it has room for")
    assert(owner != nil || anchor != nil, "an open segment has no evaluator")
    if case .end = link {} else { assertionFailure("an open segment has a link") }
  }

  /// Computes the cells after this segment. `nil` if all is known, or if it was released.
  @inlinable
  package var evaluator: Evaluator<Element>? { if let owner { owner } else { anchor?.evaluator } }

  /// Takes the outcome of a step that is done, if there is one. False if there is nothing new to read.
  @usableFromInline @inline(never)
  func takeDone() -> Bool { evaluator?.takeDone(in: self) == true }

  /// Moves the link out. For a segment that no other thread can see.
  func unlinked() -> Link<Element> {
    let link = link
    self.link = .end
    return link
  }

  @inlinable
  func append(_ element: consuming Element, to mark: Published) {
    assert(mark.count < capacity && !mark.isClosed, "a cell was added to a segment without room")
    (base.unsafelyUnwrapped + mark.count).initialize(to: element)
    published.store(mark.appended, ordering: .releasing)
  }

  /// Adds the last element.
  @inlinable
  func finish(with element: consuming Element, at mark: Published) {
    guard mark.count < capacity else {
      let last = Segment(
        evaluated: CollectionOfOne(element), link: .end, start: start + capacity)
      return close(.more(last, 0), at: mark)
    }
    append(element, to: mark)
    close(.end, at: mark.appended)
  }

  /// Closes a full segment. Returns the next one, with its first element.
  @inlinable @inline(never)
  func extended(with element: consuming Element) -> Segment {
    let next = Segment(
      owner: owner, anchor: anchor, start: start + capacity,
      capacity: Capacity<Element>.following(capacity))
    next.append(element, to: Published(count: 0))
    close(.more(next, 0), at: published.load(ordering: .relaxed))
    return next
  }

  /// The published state: the cells that it counts may be read, and the link if it is closed.
  @inlinable @inline(__always)
  var mark: Published { published.load(ordering: .acquiring) }

  /// An evaluated cell.
  @inlinable @inline(__always)
  subscript(index: Int) -> Element {
    if let base { base[index] } else { storage.unsafelyUnwrapped[index] }
  }

  /// Moves an evaluated cell out, and empties those before it. An element may hold memory of any
  /// size, such as a list that has been read since. For a reader with the only reference.
  @inlinable @inline(__always)
  func takeOut(_ index: Int) -> Element {
    // On ARM the check of the count alone does not order these writes after the reads of former readers.
    atomicMemoryFence(ordering: .acquiring)
    let base = base.unsafelyUnwrapped
    let former = emptied
    emptied = index &+ 1
    (base + former).deinitialize(count: index &- former)
    return (base + index).move()
  }

  /// Some elements of an array, in cells. A reader of single elements then has an address for them;
  /// an array lends one only during a call.
  @inlinable @inline(never)
  func copy(from index: Int) -> Segment {
    let elements = storage.unsafelyUnwrapped.elements.dropFirst(index)
    let run = elements.prefix(min(max(8, index), Capacity<Element>.mostCopied))
    return Segment(
      evaluated: run, link: run.count == elements.count ? link : .more(self, index + run.count))
  }

  /// Lends evaluated cells to a closure.
  @inlinable
  func withCells<R, E: Error>(
    _ range: Range<Int>, _ body: (UnsafeBufferPointer<Element>) throws(E) -> R
  ) throws(E) -> R {
    if let base {
      return try body(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
    }
    return try storage.unsafelyUnwrapped.elements.dropFirst(range.lowerBound).prefix(range.count)
      .withUnsafeBufferPointer(body)
  }

  @inlinable
  func close(_ link: Link<Element>, at mark: Published) {
    checkInvariants(mark)
    self.link = link
    published.store(mark.closed, ordering: .releasing)
  }
}

/// The capacities of a list's segments: small at first, for short lists, then about a kilobyte
/// each, so that a list of Ints costs less than 10 bytes an element ("Memory").
@usableFromInline
package enum Capacity<Element> {
  @usableFromInline package static var first: Int { 8 }

  @usableFromInline static var most: Int { fitting(128, into: 2048) }

  /// More at once, because they are released after reading ("Arrays").
  @usableFromInline static var mostCopied: Int { fitting(1024, into: 16_384) }

  private static func fitting(_ count: Int, into bytes: Int) -> Int {
    max(8, min(count, bytes / max(1, MemoryLayout<Element>.stride)))
  }

  @usableFromInline
  package static func following(_ capacity: Int) -> Int {
    min(capacity * 2, most)
  }
}

/// A weak reference to the evaluator of a recursive definition's cells.
// Guard: the runtime's, for a weak reference; it is set once, before it is shared.
// May touch it: the maker, then readers.
@usableFromInline
package final class Anchor<Element: Sendable>: @unchecked Sendable {
  @usableFromInline weak var evaluator: Evaluator<Element>?

  @usableFromInline
  init(_ evaluator: Evaluator<Element>) { self.evaluator = evaluator }

  @usableFromInline static var releasedText: String {
    """
    the list that LazyList<\(Element.self)>.recursive gives to its closure was read after the \
    recursive list itself had been released: keep the recursive list as long as its rest is needed
    """
  }
}

/// The place to which a position in a chain of segments leads.
@usableFromInline
enum Resolved<Element: Sendable> {
  /// A cell of that segment: evaluated, or after its evaluated cells if it is open.
  case cell(Segment<Element>, Int)
  case end
  /// The list has failed after the cells of that segment, in which the position lies beyond them.
  case failed(any Error, Segment<Element>, Int)

  /// The segment and the position in it; `nil` at the end.
  @inlinable
  var place: (segment: Segment<Element>, offset: Int)? {
    switch self {
    case .cell(let segment, let offset), .failed(_, let segment, let offset): (segment, offset)
    case .end: nil
    }
  }
}

extension Segment {
  /// Follows the links of closed segments whose cells all lie before a position.
  ///
  /// - Parameters:
  ///   - first: the segment from whose first cell the position is counted.
  ///   - goesOn: called with each segment on the way; returns false to stop there.
  @inlinable
  static func resolve(
    _ first: Segment?, _ position: Int, while goesOn: (Segment, Int) -> Bool = { (_, _) in true }
  ) -> Resolved<Element> {
    guard var segment = first else { return .end }
    var offset = position
    while true {
      // Read first: a segment that is closed here is closed for the closure as well.
      let mark = segment.mark
      guard goesOn(segment, offset), mark.isClosed, offset >= mark.count else { break }
      switch segment.link {
      case .more(let next, let start):
        let (position, overflows) = start.addingReportingOverflow(offset &- mark.count)
        (segment, offset) = (next, overflows ? .max : position)
      case .end: return .end
      case .failed(let failure): return .failed(failure, segment, offset)
      }
    }
    return .cell(segment, offset)
  }
}

extension Cursor {
  /// Follows the known links, so that a position has only one name. A failure is read there.
  @inlinable
  mutating func skipLinks() {
    let place = Segment.resolve(segment, index).place
    move(to: place?.segment, at: place?.offset ?? 0)
  }
}

/// Held while a list becomes another, for all lists: each has its own claim, and of lists that become
/// each other at the same time one must find that.
private let linking = Locked(())

extension Segment {
  /// Closes a segment whose list becomes another.
  @usableFromInline
  func close(becoming list: Place<Element>, at mark: Published) {
    linking.withLock { _ in close(list.destination(from: self), at: mark) }
  }
}

extension Place {
  /// The destination of a segment that this list replaces. Empty closed segments are skipped, so
  /// that chains of replaced lists stay one step long.
  fileprivate func destination(from origin: Segment<Element>) -> Link<Element> {
    switch Segment.resolve(segment, offset) {
    case .cell(let last, let index) where last === origin && index >= last.mark.count:
      // The segment lacks the next element, which is defined as itself.
      var places = [(origin.title, origin.start + last.mark.count)]
      _ = Segment.resolve(segment, offset) { segment, offset in
        if segment !== origin { places.append((segment.title, segment.start + offset)) }
        return true
      }
      return .failed(CyclicEvaluationError(through: places))
    case .cell(let segment, let offset): return .more(segment, offset)
    case .end: return .end
    case .failed(let failure, _, _): return .failed(failure)
    }
  }
}
