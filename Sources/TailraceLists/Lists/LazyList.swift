/// A sequence of elements that are computed once, when a reader requests them, and kept for all readers.
///
/// A list is a value that points into a chain of memo cells. Nothing runs before a reader requests
/// an element. Each element is computed once, however many tasks, copies, tails and iterations read
/// it. All copies share the same cells.
///
/// ```swift
/// let pages = LazyList(state: 1) { number in
///   defer { number += 1 }
///   return try await load(page: number)
/// }
/// for try await page in pages.prefix(2) { show(page) }   // loads two pages
/// for try await page in pages { index(page) }   // loads only the others
/// ```
///
/// Reading a list whose `Failure` is `Never` needs no `try`. A failure belongs to its position:
/// every reader gets the elements before it, then the error.
///
/// - Isolation: a reader gets the elements in its own isolation. Plain closures run in the task
///   that first requests the element. Asynchronous closures run in a task of the list. See <doc:Isolation>.
/// - Cancellation: ends a reader, never the list. See <doc:Cancellation>.
/// - Complexity: reading a computed element takes no lock, no hop and no allocation. A computed
///   list of `Int` takes less than 10 bytes an element.
///
/// Replaces `RACSequence`.
public struct LazyList<Element: Sendable, Failure: Error>: Sendable {
  /// `nil` for the empty list, which allocates nothing.
  @usableFromInline package var segment: Segment<Element>?
  /// The position of the head, counted from the segment's first cell. It may lie beyond the
  /// evaluated cells, and beyond the segment.
  @usableFromInline package var offset: Int

  @inlinable
  package init(segment: Segment<Element>?, offset: Int) {
    self.segment = segment
    self.offset = offset
  }

  @inlinable
  package init(_ place: Place<Element>) {
    self.init(segment: place.segment, offset: place.offset)
  }

  /// Where its elements are, for the engine.
  @inlinable package var place: Place<Element> { Place(segment: segment, offset: offset) }

  /// The list of an evaluator's elements.
  @inlinable
  package init(_ evaluator: Evaluator<Element>) {
    self.init(segment: Segment(of: evaluator), offset: 0)
  }

  /// The list of a producer's elements.
  ///
  /// - Parameters:
  ///   - upstream: the source of the closure's elements, for inspection.
  ///   - stage: the operator.
  ///   - producer: gives the elements.
  @inlinable
  init(
    upstream: AnyObject? = nil, stage: StageName = #function,
    producer: @escaping Producer<Element>.Run
  ) {
    self.init(Evaluator(Producer(producer, stage: stage, upstream: upstream)))
  }

  /// The list of the elements that a closure gives step by step.
  @inlinable @inline(__always)
  package init(
    upstream: AnyObject? = nil, stage: StageName = #function,
    stepping step: @escaping (_ demand: Demand) -> Step<Element>
  ) {
    self.init(Evaluator(Producer(stage: stage, upstream: upstream, stepping: step)))
  }

  /// The list of the elements that an asynchronous closure gives step by step, in a task of the
  /// list.
  @inlinable @inline(__always)
  package init(
    upstream: AnyObject? = nil, stage: StageName = #function,
    inTask run: @escaping AsyncSteps<Element>.Run
  ) {
    self.init(Evaluator(Producer(AsyncSteps(stage: stage, run), upstream: upstream)))
  }

  /// The same, of steps that are cancelled when nobody waits for them.
  @inlinable
  init(stage: StageName = #function, inTaskWhileAwaited run: @escaping AsyncSteps<Element>.Run) {
    self.init(Evaluator(AsyncSteps(stage: stage, cancelsUnwaited: true, run)))
  }
}

// MARK: Iterating

extension LazyList: AsyncSequence {
  /// Returns an iterator that starts at this list's own head.
  @inlinable
  public consuming func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Reads a list from its head on. It retains only the cells from its position on.
  ///
  /// - Cancellation: in a cancelled task `next()` gives the elements that are computed. Then it
  ///   throws `CancellationError` if `Failure` is `any Error`, `Failure.cancelled` if it is a
  ///   ``CancellableFailure``, and returns `nil` otherwise.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var cursor: Cursor<Element>
    // The cursor's position. It is stored outside the cursor: functions that are not inlined take
    // the cursor, but not these, so a loop keeps them in registers ("Reading again").
    @usableFromInline var base: UnsafeMutablePointer<Element>?
    @usableFromInline var index = 0
    @usableFromInline var limit = 0

    // An iterator can be copied and cannot know that it reads alone, so it never takes over the
    // producer.
    @inlinable
    init(_ list: consuming LazyList) {
      cursor = Cursor(list, takesOver: false, stopsWhenCancelled: true)
      index = cursor.index
    }

    /// Returns the next element, or `nil` at the end and ever after, without leaving the caller's
    /// isolation.
    @_alwaysEmitIntoClient @inline(__always)
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
      return try await cursor.nextInIteration(Failure.self)
    }
  }
}

@available(*, unavailable)
extension LazyList.Iterator: Sendable {}

// MARK: Reading everything, once

/// The reader of folds and queries: it reads the whole list, which it consumes, in one pass.
///
/// It throws `Failure`, which is wider than the list's own failure type `Source` if a closure throws.
///
/// - Cancellation: throws what `Source` has for it; if it has nothing, it waits for the true answer,
///   as `Task.value` does.
@usableFromInline
struct Reader<Element: Sendable, Failure: Error, Source: Error> {
  @usableFromInline var cursor: Cursor<Element>

  @_alwaysEmitIntoClient
  init(_ list: consuming LazyList<Element, Source>, wants amount: Amount = .one) {
    // Whether a failure of another type can say it is found out when the task is cancelled.
    cursor = Cursor(
      list, stopsWhenCancelled: Source.self != Never.self, wants: amount)
  }

  /// The element after a pull that gave nothing, or `nil` at the end.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) mutating func nextWaiting() async throws(Failure) -> Element? {
    try await cursor.nextOrFailure(Failure.self, of: Source.self)
  }

  /// The number of elements after which a producer stops, to check for cancellation.
  @_alwaysEmitIntoClient
  var pushedAtOnce: Int { cursor.stopsWhenCancelled ? 64 : Int.max }

  /// Appends every element to an array.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func append(
    to elements: inout [Element]
  ) async throws(Failure) {
    cursor.demand = cursor.demand.gathering
    while true {
      while cursor.withNextCells({ elements.append(contentsOf: $0) }) {}
      // Otherwise the cells say why there are none.
      if cursor.producer != nil, appendPushed(to: &elements) { continue }
      guard let element = try await nextWaiting() else { return }
      elements.append(element)
    }
  }

  /// Appends a producer's elements. True if there may be more.
  ///
  /// Trivial elements (plain bits) go through a buffer, because each append to the array checks
  /// whether it is shared and full ("Collecting"). A buffer would retain other elements once more.
  @_alwaysEmitIntoClient
  mutating func appendPushed(to elements: inout [Element]) -> Bool {
    var count = pushedAtOnce
    let ending: Ending<Element>
    if _isPOD(Element.self) {
      ending = withUnsafeTemporaryAllocation(of: Element.self, capacity: 64) { buffer in
        var filled = 0
        let ending: Ending<Element> = cursor.push(cursor.demand.gathering) { element in
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
      ending = cursor.push(cursor.demand.gathering) { element in
        elements.append(element)
        count &-= 1
        return count > 0
      }
    }
    return mayPushAgain(after: ending, remaining: count)
  }

  /// Whether another push may give more. A long search that gave nothing has paused: the reader then
  /// goes on where it can yield.
  ///
  /// - Parameter count: how many of the elements pushed at once are left.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func mayPushAgain<Output>(after ending: Ending<Output>, remaining count: Int) -> Bool {
    guard case .stopped = ending else {
      // Taking it has released a missing cell; the reader waits for that one, and its attempt.
      if case .nothing(let absence) = ending { cursor.absence = absence }
      return false
    }
    if count < pushedAtOnce { return true }
    cursor.absence = .paused
    return false
  }

  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) mutating func next() async throws(Failure) -> Element? {
    if let element = cursor.next() { return element }
    return try await nextWaiting()
  }
}
