/// A lazy, memoized, persistent sequence of asynchronously computed elements.
///
/// A list is a value that points into a chain of memo cells. Nothing runs before it is demanded;
/// each element is computed once, however many tasks, copies, tails and iterations read it; and
/// every copy shares the same cells.
///
/// ```swift
/// let pages = LazyList(state: Cursor.first) { cursor in try await api.page(after: &cursor) }
/// for try await page in pages.prefix(2) { print(page.title) }   // loads two pages
/// // First
/// // Second
/// for try await page in pages { index(page) }   // loads the others, and only those
/// ```
///
/// A list whose `Failure` is `Never` is read without `try`. A failure belongs to its position: every
/// reader gets the elements before it, then the error.
///
/// - Isolation: elements reach a reader in the isolation that it reads from. Plain closures run in
///   the task that demands first, asynchronous ones, and what comes after them, in a task that belongs
///   to the list. See <doc:Isolation>.
/// - Cancellation: ends a reader, never the list. See <doc:Cancellation>.
/// - Complexity: reading an evaluated element takes no lock, no hop and no allocation. An evaluated
///   list of `Int` takes less than 10 bytes an element.
///
/// Replaces `RACSequence`.
public struct LazyList<Element: Sendable, Failure: Error>: Sendable {
  /// `nil` for the empty list, which allocates nothing.
  @usableFromInline var segment: Segment<Element>?
  /// The position of the head, counted from the segment's first cell. It may lie behind the
  /// evaluated cells, and behind the segment.
  @usableFromInline var offset: Int

  @inlinable
  init(segment: Segment<Element>?, offset: Int) {
    self.segment = segment
    self.offset = offset
  }

  /// The list of what an evaluator gives.
  @inlinable
  init(_ evaluator: Evaluator<Element>) {
    self.init(
      segment: Segment(source: .owned(evaluator), start: 0, capacity: Capacity<Element>.first),
      offset: 0)
  }

  /// The list of what a producer gives.
  ///
  /// - Parameters:
  ///   - upstream: what the closure pulls from, for those who look at the list.
  ///   - stage: the operator.
  ///   - producer: gives the elements.
  @inlinable
  init(
    upstream: AnyObject? = nil, stage: StageName = #function,
    producer: @escaping Producer<Element>.Run
  ) {
    self.init(Evaluator(Producer(producer, stage: stage, upstream: upstream)))
  }

  /// The list of what a closure gives step by step.
  @inlinable @inline(__always)
  init(
    upstream: AnyObject? = nil, stage: StageName = #function,
    stepping step: @escaping (_ demand: Demand) -> Step<Element>
  ) {
    self.init(Evaluator(Producer(stage: stage, upstream: upstream, stepping: step)))
  }

  /// The list of what an asynchronous closure gives step by step, in a task that belongs to it.
  @inlinable @inline(__always)
  init(
    upstream: AnyObject? = nil, stage: StageName = #function,
    inTask run: @escaping AsyncProducer<Element>.Run
  ) {
    self.init(Evaluator(AsyncProducer(stage: stage, upstream: upstream, run)))
  }
}

// MARK: Iterating

extension LazyList: AsyncSequence {
  /// Returns an iterator; each one starts at this list's own head.
  @inlinable
  public consuming func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads a list from its head on. It holds the cells from its position on, and no others.
  ///
  /// - Cancellation: in a cancelled task `next()` gives the elements that are evaluated. Then it
  ///   throws `CancellationError` where `Failure` is `any Error`, and returns `nil` otherwise.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var cursor: Cursor<Element>
    // Where the cursor stands. Kept apart from it, because it is handed to functions that are not
    // inlined, and these are not: so a loop has them in registers ("Reading again").
    @usableFromInline var base: UnsafeMutablePointer<Element>?
    @usableFromInline var index = 0
    @usableFromInline var limit = 0

    // Iterators can be copied, so that an iterator cannot know that it reads alone: it never takes
    // the producer over.
    @inlinable
    init(_ list: consuming LazyList) {
      cursor = Cursor(list, takesOver: false, stopsWhenCancelled: true, drives: true)
      index = cursor.index
    }

    /// Returns the next element, `nil` at the end and ever after.
    @inlinable
    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: nil)
    }

    /// Returns the next element, `nil` at the end and ever after, without leaving the caller's
    /// isolation.
    @inlinable
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if index < limit {
        let element = base.unsafelyUnwrapped[index]
        index &+= 1
        return element
      }
      cursor.index = index
      defer { (base, index, limit) = (cursor.base, cursor.index, cursor.limit) }
      if let element = cursor.advance() { return element }
      return try await cursor.nextOrFailure(Failure.self, orNilWhenCancelled: true)
    }
  }
}

@available(*, unavailable)
extension LazyList.Iterator: Sendable {}

// MARK: Reading everything, once

/// What folds and queries pull from: the whole of a list that it consumes, in one pass.
///
/// - Cancellation: throws `CancellationError` where `Failure` can be one; otherwise it waits for the
///   true answer, as `Task.value` does.
@usableFromInline
struct Reader<Element: Sendable, Failure: Error> {
  @usableFromInline var cursor: Cursor<Element>

  @inlinable
  init(_ list: consuming LazyList<Element, Failure>, wantsAll: Bool = false) {
    cursor = Cursor(
      list, stopsWhenCancelled: CancellationError() is Failure, wantsAll: wantsAll, drives: true)
  }

  /// After how many elements a producer comes back, to see whether the task is cancelled.
  @inlinable
  var pushedAtOnce: Int { cursor.stopsWhenCancelled ? 64 : Int.max }

  /// Appends every element to an array.
  @inlinable
  nonisolated(nonsending) mutating func append(
    to elements: inout [Element]
  ) async throws(Failure) {
    while true {
      while cursor.withNextCells({ elements.append(contentsOf: $0) }) {}
      // Else the cells say why there are none.
      if cursor.producer != nil, appendPushed(to: &elements) { continue }
      guard let element = try await cursor.nextOrFailure(Failure.self) else { return }
      elements.append(element)
    }
  }

  /// Appends what a producer gives. True if there may be more.
  ///
  /// Elements that are nothing but bits go by way of a buffer: to append each to the array asks each time
  /// whether that is shared, and full ("Collecting"). Others would be counted once more.
  @inlinable
  mutating func appendPushed(to elements: inout [Element]) -> Bool {
    var count = pushedAtOnce
    let ending: Ending<Element>
    if _isPOD(Element.self) {
      ending = withUnsafeTemporaryAllocation(of: Element.self, capacity: 64) { buffer in
        var filled = 0
        let ending: Ending<Element> = cursor.drive(cursor.demand) { element in
          buffer.initializeElement(at: filled, to: element)
          filled &+= 1
          if filled == 64 {
            elements.append(contentsOf: buffer)
            filled = 0
          }
          count &-= 1
          return count > 0
        }
        elements.append(contentsOf: buffer[..<filled])
        return ending
      }
    } else {
      ending = cursor.drive(cursor.demand) { element in
        elements.append(element)
        count &-= 1
        return count > 0
      }
    }
    if case .stopped = ending { return true }
    return false
  }

  /// Hands every element to a closure, as long as it wants them.
  @inlinable
  nonisolated(nonsending) mutating func drain(
    _ body: (Element) -> Bool
  ) async throws(Failure) {
    var isWanted = true
    while isWanted {
      if push(body, &isWanted) { continue }
      guard let element = try await cursor.nextOrFailure(Failure.self) else { return }
      isWanted = body(element)
    }
  }

  /// Hands over what there is without waiting. True if there may be more of it.
  // A function of its own: why there is no more may be a missing cell, which must be forgotten before
  // the reader goes on, as it holds its list.
  @inlinable @inline(__always)
  mutating func push(_ body: (Element) -> Bool, _ isWanted: inout Bool) -> Bool {
    var count = pushedAtOnce
    var wants = true
    let ending: Ending<Element> = cursor.drive(cursor.demand) { element in
      wants = body(element)
      count &-= 1
      return wants && count > 0
    }
    isWanted = wants
    if case .stopped = ending { return true }
    return !wants
  }

  @inlinable @inline(__always)
  nonisolated(nonsending) mutating func next() async throws(Failure) -> Element? {
    if let element = cursor.next() { return element }
    return try await cursor.nextOrFailure(Failure.self)
  }
}

extension Cursor {
  /// The element after a pull that gave nothing, `nil` at the end.
  ///
  /// - Parameter isNil: how an iteration without errors ends when its task is cancelled.
  @inlinable
  nonisolated(nonsending) mutating func nextOrFailure<Failure: Error>(
    _: Failure.Type, orNilWhenCancelled isNil: Bool = false
  ) async throws(Failure) -> Element? {
    if let element = await nextWaiting() { return element }
    switch absence {
    case .end: return nil
    case .failed(let failure), .failedTransiently(let failure): throw Failure.known(failure)
    case .missing, .paused:
      preconditionFailure("a reader that waits came back without an answer")
    case .released:
      // To read it is an error of the program; to have waited for it, a cancellation.
      if let cancellation = CancellationError() as? Failure { throw cancellation }
      fatalError(Anchor<Element>.releasedText)
    case .cancelled:
      noteCancellation()
      if let cancellation = CancellationError() as? Failure { throw cancellation }
      if isNil { return nil }
      preconditionFailure("a reader that cannot throw a cancellation stopped for one")
    }
  }
}

// MARK: Linking

extension LazyList {
  /// Where a segment that is replaced by this list leads: past all that is empty and closed, so that
  /// chains of replaced lists stay one step long.
  @usableFromInline
  func destination(from origin: Segment<Element>) -> Link<Element> {
    var list = self
    while let segment = list.segment {
      let mark = segment.published.load(ordering: .acquiring)
      if segment === origin, list.offset >= mark.count {
        // The next element was defined as itself.
        return .failed(CyclicEvaluationError(through: places(before: origin)))
      }
      guard mark.isClosed, list.offset >= mark.count else { break }
      switch segment.link {
      case .more(let next, let offset):
        list = LazyList(segment: next, offset: offset + list.offset - mark.count)
      case .end: return .end
      case .failed(let failure): return .failed(failure)
      }
    }
    guard let segment = list.segment else { return .end }
    return .more(segment, list.offset)
  }

  /// The element that a segment lacks, and those that stand for it on the way from this list to there.
  private func places(before origin: Segment<Element>) -> [CyclicEvaluationError.Place] {
    var list = self
    var places = [(origin.title, origin.start + origin.published.load(ordering: .relaxed).count)]
    while let segment = list.segment, segment !== origin {
      places.append((segment.title, segment.start + list.offset))
      guard case .more(let next, let offset) = segment.link else { break }
      let count = segment.published.load(ordering: .relaxed).count
      list = LazyList(segment: next, offset: offset + list.offset - count)
    }
    return places
  }
}
