// MARK: Values

extension LazyList {
  /// Creates the list without elements. It allocates nothing.
  @inlinable
  public init() { self.init(segment: nil, offset: 0) }

  /// The list without elements. It allocates nothing.
  @inlinable
  public static var empty: LazyList { LazyList() }

  /// Returns the list of one element.
  ///
  /// ```swift
  /// await LazyList.just(7).array()   // [7]
  /// ```
  ///
  /// Replaces `+return:`.
  @inlinable @_disfavoredOverload
  public static func just(_ element: Element) -> LazyList { LazyList(single: element) }

  @inlinable
  init(single element: Element) {
    self.init(segment: Segment(evaluated: CollectionOfOne(element), link: .end), offset: 0)
  }

  /// Returns the list that fails before its first element.
  ///
  /// ```swift
  /// let orders = LazyList<String, any Error>.failing(Offline())
  /// try await orders.head()   // throws: Offline()
  /// ```
  @inlinable
  public static func failing(_ failure: Failure) -> LazyList {
    LazyList(
      segment: Segment(evaluated: EmptyCollection(), link: .failed(failure)), offset: 0)
  }

  /// Returns a list of one element, again and again, without an end.
  ///
  /// ```swift
  /// await LazyList.repeating("ho").prefix(3).array()   // ["ho", "ho", "ho"]
  /// ```
  @inlinable @_disfavoredOverload
  public static func repeating(_ element: Element) -> LazyList { LazyList(endless: element) }

  /// Returns a list that repeats one element a number of times.
  ///
  /// ```swift
  /// await LazyList.repeating("ho", count: 3).array()   // ["ho", "ho", "ho"]
  /// ```
  ///
  /// - Parameters:
  ///   - element: what each element is.
  ///   - count: 0 or more; a negative count is a programmer's error and traps.
  ///   - file: the caller's, for the words of a trap.
  ///   - line: the caller's, too.
  @inlinable @_disfavoredOverload
  public static func repeating(
    _ element: Element, count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList {
    LazyList(endless: element, count: count, file, line)
  }

  @inlinable
  init(endless element: Element) {
    self.init(stage: "repeating", stepping: { _ in .element(element) })
  }

  @inlinable
  init(endless element: Element, count: Int, _ file: StaticString, _ line: UInt) {
    require(
      count >= 0, "LazyList.repeating(_:count:) takes a count of 0 or more, not \(count)",
      file: file, line: line)
    self = LazyList(endless: element).prefix(count)
  }
}

extension LazyList: ExpressibleByArrayLiteral {
  /// Creates the list of the elements that are written out; all of them are evaluated.
  @inlinable
  public init(arrayLiteral elements: Element...) {
    self.init(sharing: elements)
  }
}

// MARK: Sequences

extension LazyList {
  /// Creates a list of the elements of a sequence, pulled from it one by one, as they are demanded.
  ///
  /// ```swift
  /// await LazyList(1...3).array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: stepwise. Not even the iterator is made before the first demand.
  @inlinable @_disfavoredOverload
  public init<S: Sequence>(_ sequence: sending S) where S.Element == Element {
    self.init(pulling: sequence)
  }

  @inlinable
  init<S: Sequence>(pulling sequence: sending S) where S.Element == Element {
    // An array's iterator would hold all the lists until the last of them has been read.
    if Element.self is any _ListLike.Type, let lists = sequence as? [Element] {
      self.init(sharing: lists)
      return
    }
    let source = Owned((sequence: Optional(sequence), iterator: S.Iterator?.none))
    self.init(
      stage: "LazyList",
      producer: { (_, sink) in
        if let sequence = source.state.sequence.take() {
          source.state.iterator = sequence.makeIterator()
        }
        // Pulled from where it is not shared: the compiler can keep it in registers.
        guard var iterator = source.state.iterator.take() else { return .nothing(.end) }
        while let element = iterator.next() {
          if !sink(element) {
            source.state.iterator = iterator
            return .stopped
          }
        }
        return .nothing(.end)
      })
  }

  /// Creates a list of the elements of an asynchronous sequence, pulled from it one by one, as they
  /// are demanded.
  ///
  /// - Laziness: stepwise. Not even the iterator is made before the first demand.
  /// - Failure: the sequence's. With `retryingFailures` a failure is not remembered: the next demand
  ///   asks the iterator again. Many iterators, such as an `AsyncThrowingStream`'s, are over once they
  ///   have thrown; what they give then is the same failure again, and not the end. To go on after it,
  ///   say how: `LazyList(state:retryingFailures:next:)` keeps what is needed to resume.
  @inlinable @_disfavoredOverload
  public init<S: AsyncSequence>(
    _ sequence: sending S, retryingFailures: Bool = false
  ) where S.Element == Element, S.Failure == Failure {
    let source = Owned(
      (sequence: Optional(sequence), iterator: S.AsyncIterator?.none, failure: Failure?.none))
    self.init(inTask: { steps in
      while steps.begin() {
        if let sequence = source.state.sequence.take() {
          source.state.iterator = sequence.makeAsyncIterator()
        }
        let step: Step<Element>
        do throws(Failure) {
          if let element = try await source.state.iterator?.next(isolation: #isolation) {
            step = .element(element)
            source.state.failure = nil
          } else if let failure = source.state.failure {
            // Most iterators are over once they have thrown. That is no end.
            step = .nothing(.failedTransiently(failure))
          } else {
            step = .nothing(.end)
          }
        } catch {
          if retryingFailures { source.state.failure = error }
          step = .nothing(.fate(error, retryingFailures))
        }
        if steps.finish(consume step) { await steps.task.park() }
      }
    })
  }
}

// Where nothing says how a list fails, it does not: `LazyList(1...3)` needs no type arguments.
extension LazyList where Failure == Never {
  /// Creates a list of the elements of a sequence, pulled from it one by one, as they are demanded.
  @inlinable
  public init<S: Sequence>(_ sequence: sending S) where S.Element == Element {
    self.init(pulling: sequence)
  }

  /// Returns the list of one element.
  @inlinable
  public static func just(_ element: Element) -> LazyList { LazyList(single: element) }

  /// Returns a list of one element, again and again, without an end.
  @inlinable
  public static func repeating(_ element: Element) -> LazyList { LazyList(endless: element) }

  /// Returns a list that repeats one element a number of times; a negative count traps.
  @inlinable
  public static func repeating(
    _ element: Element, count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList {
    LazyList(endless: element, count: count, file, line)
  }
}

extension Sequence where Self: Sendable, Element: Sendable {
  /// Returns the elements of this sequence, pulled from it once, as they are demanded.
  ///
  /// ```swift
  /// let squares = (1...3).lazy.map { $0 * $0 }.memoized()
  /// ```
  @inlinable
  public consuming func memoized() -> LazyList<Element, Never> { LazyList(self) }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Returns the elements of this sequence, pulled from it once, for any number of readers.
  ///
  /// ```swift
  /// let lines = socket.lines.memoized()
  /// async let count = lines.count()
  /// async let longest = lines.max { $0.count < $1.count }
  /// ```
  ///
  /// - Laziness: stepwise.
  /// - Failure: remembered at its position; with `retryingFailures` the next demand asks the iterator
  ///   again, and an iterator that is over after it has thrown fails again.
  ///
  /// Replaces `-[RACSignal sequence]`.
  @inlinable
  public consuming func memoized(retryingFailures: Bool = false) -> LazyList<Element, Failure> {
    LazyList(self, retryingFailures: retryingFailures)
  }
}

extension LazyList {
  /// Returns this list: it is memoized already.
  @inlinable
  public consuming func memoized() -> LazyList { self }
}
