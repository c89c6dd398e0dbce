import TailraceSupport

// MARK: Values

extension LazyList {
  /// Creates the list without elements. It allocates nothing.
  @_alwaysEmitIntoClient
  public init() { self.init(segment: nil, offset: 0) }

  /// The list without elements. It allocates nothing.
  @_alwaysEmitIntoClient
  public static var empty: LazyList { LazyList() }

  /// Returns the list of one element.
  ///
  /// ```swift
  /// await LazyList.just(7).array()   // [7]
  /// ```
  ///
  /// Replaces `+return:`.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public static func just(_ element: Element) -> LazyList { LazyList(single: element) }

  @_alwaysEmitIntoClient
  init(single element: Element) {
    self.init(segment: Segment(evaluated: CollectionOfOne(element), link: .end), offset: 0)
  }

  /// Returns the list that fails before its first element.
  ///
  /// ```swift
  /// let orders = LazyList<String, any Error>.failing(Offline())
  /// try await orders.head()   // throws: Offline()
  /// ```
  @_alwaysEmitIntoClient
  public static func failing(_ failure: Failure) -> LazyList {
    LazyList(segment: Segment(failing: failure), offset: 0)
  }

  /// Returns an endless list that repeats one element.
  ///
  /// ```swift
  /// await LazyList.repeating("ho").prefix(3).array()   // ["ho", "ho", "ho"]
  /// ```
  @_alwaysEmitIntoClient @_disfavoredOverload
  public static func repeating(_ element: Element) -> LazyList { LazyList(endless: element) }

  /// Returns a list that repeats one element a number of times.
  ///
  /// ```swift
  /// await LazyList.repeating("ho", count: 3).array()   // ["ho", "ho", "ho"]
  /// ```
  ///
  /// - Parameters:
  ///   - element: the value of each element.
  ///   - count: 0 or more; a negative count is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public static func repeating(
    _ element: Element, count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList {
    LazyList(endless: element, count: count, file, line)
  }

  @_alwaysEmitIntoClient
  init(endless element: Element) {
    self.init(stage: "repeating", stepping: { _ in .element(element) })
  }

  @_alwaysEmitIntoClient
  init(endless element: Element, count: Int, _ file: StaticString, _ line: UInt) {
    require(
      count >= 0, "LazyList.repeating(_:count:) takes a count of 0 or more, not \(count)",
      file: file, line: line)
    self = LazyList(endless: element).prefix(count)
  }
}

extension LazyList: ExpressibleByArrayLiteral {
  /// Creates a list of the elements of an array literal; all are computed.
  @_alwaysEmitIntoClient
  public init(arrayLiteral elements: Element...) {
    self.init(sharing: elements)
  }
}

// MARK: Sequences

extension LazyList {
  /// Creates a list that pulls the elements of a sequence one by one, on demand.
  ///
  /// ```swift
  /// await LazyList(1...3).array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: stepwise. The first request makes the iterator.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public init<S: Sequence>(_ sequence: sending S) where S.Element == Element {
    self.init(pulling: sequence)
  }

  @_alwaysEmitIntoClient
  init<S: Sequence>(pulling sequence: sending S) where S.Element == Element {
    // An array's iterator would retain all the lists until the last of them has been read.
    if isList(Element.self), let lists = sequence as? [Element] {
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
        // A local copy is not shared, so the compiler can keep it in registers.
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

  /// Creates a list that pulls the elements of an asynchronous sequence one by one, on demand.
  ///
  /// - Laziness: stepwise. The first request makes the iterator.
  /// - Failure: the sequence's. With `retryingFailures` a failure is not kept: the next
  ///   request asks the iterator again. Many iterators, such as an `AsyncThrowingStream`'s, end when
  ///   they throw; the list then repeats the same failure and does not end. To resume after a
  ///   failure, use `LazyList(state:retryingFailures:next:)`, which keeps the state that this
  ///   needs.
  @_alwaysEmitIntoClient @_disfavoredOverload
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
          var next = try await source.state.iterator?.next(isolation: #isolation)
          if next == nil, Task.isCancelled, !steps.isAbandoned {
            // The sequence has cancelled this task, and its `nil` may be the answer of a cancelled
            // reader. In another task, only the end is `nil`.
            next = try await answerInAnotherTask(
              Owned({ () async throws(Failure) in
                try await source.state.iterator?.next(isolation: nil)
              }))
          }
          if let element = next {
            step = .element(element)
            source.state.failure = nil
          } else if let failure = source.state.failure {
            // Most iterators end when they throw. That is not the list's end.
            step = .nothing(.failedTransiently(failure))
          } else {
            step = .nothing(.end)
          }
        } catch {
          if retryingFailures { source.state.failure = error }
          step = .nothing(.fate(error, retryingFailures))
        }
        if steps.finish(consume step) { await steps.executor.park() }
      }
    })
  }
}

// Without a stated `Failure` it is `Never`: `LazyList(1...3)` needs no type arguments.
extension LazyList where Failure == Never {
  /// Creates a list that pulls the elements of a sequence one by one, on demand.
  @_alwaysEmitIntoClient
  public init<S: Sequence>(_ sequence: sending S) where S.Element == Element {
    self.init(pulling: sequence)
  }

  /// Returns the list of one element.
  @_alwaysEmitIntoClient
  public static func just(_ element: Element) -> LazyList { LazyList(single: element) }

  /// Returns an endless list that repeats one element.
  @_alwaysEmitIntoClient
  public static func repeating(_ element: Element) -> LazyList { LazyList(endless: element) }

  /// Returns a list that repeats one element a number of times; a negative count traps.
  @_alwaysEmitIntoClient
  public static func repeating(
    _ element: Element, count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList {
    LazyList(endless: element, count: count, file, line)
  }
}

extension Sequence where Self: Sendable, Element: Sendable {
  /// Returns the elements of this sequence, each pulled once, on demand.
  ///
  /// ```swift
  /// let squares = (1...3).lazy.map { $0 * $0 }.memoized()
  /// ```
  @_alwaysEmitIntoClient
  public consuming func memoized() -> LazyList<Element, Never> { LazyList(self) }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Returns the elements of this sequence, each pulled once, for any number of readers.
  ///
  /// ```swift
  /// let lines = socket.lines.memoized()
  /// async let count = lines.count()
  /// async let longest = lines.max { $0.count < $1.count }
  /// ```
  ///
  /// - Laziness: stepwise.
  /// - Failure: kept at its position. With `retryingFailures` the next request asks the
  ///   iterator again; an iterator that ended when it threw fails again.
  ///
  /// Replaces `-[RACSignal sequence]`.
  @_alwaysEmitIntoClient
  public consuming func memoized(retryingFailures: Bool = false) -> LazyList<Element, Failure> {
    LazyList(self, retryingFailures: retryingFailures)
  }
}

extension LazyList {
  /// Returns this list, which is memoized already.
  @_alwaysEmitIntoClient
  public consuming func memoized() -> LazyList { self }
}

/// The result of a closure that runs in a task of its own, which is not cancelled.
// Guard: the caller's wait. May touch the closure: that task, meanwhile.
@_alwaysEmitIntoClient
nonisolated(nonsending) func answerInAnotherTask<Value: Sendable, Failure: Error>(
  _ ask: Owned<() async throws(Failure) -> Value>
) async throws(Failure) -> Value {
  let answer = Task { () async -> Result<Value, Failure> in
    do throws(Failure) { return .success(try await ask.state()) } catch { return .failure(error) }
  }
  return try await answer.value.get()
}
