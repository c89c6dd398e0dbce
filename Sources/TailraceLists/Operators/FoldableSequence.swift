// The folds of a list for other sequences, as questions: none of them takes a cancellation for the end.
//
// Their closures have exactly the types that `AsyncSequence` gives them: with any other type, a closure
// literal would prefer the standard library's fold.

/// A sequence that is no list and has a list's folds: ``LockstepReader``, ``Signal``.
///
/// `AsyncSequence` has folds of the same names. They end where a cancelled `next()` gives `nil`, and
/// return a part as if it were everything. These throw the cancellation if `Failure` can say it, and
/// otherwise wait for the true answer, as `Task.value` does. See <doc:Cancellation>.
public protocol _FoldableSequence<Element, Failure>: AsyncSequence
where Element: Sendable, AsyncIterator: _FoldIteratorProtocol {}

/// An iterator that can also be read by a fold.
public protocol _FoldIteratorProtocol<Element, Failure>: AsyncIteratorProtocol {
  /// As `next(isolation:)`, but `nil` is always the end: if the failure cannot say that the task was
  /// cancelled, it waits for the next element.
  mutating func _nextForFold(
    isolation actor: isolated (any Actor)?
  ) async throws(Failure) -> Element?
}

extension _FoldableSequence {
  /// Returns the elements combined, from the first on.
  ///
  /// ```swift
  /// let reader = LazyList(1...4).lockstep(readers: 1, maxLead: 10)[0]
  /// await reader.reduce(0, +)   // 10
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func reduce<Result>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) -> Result
  ) async throws(Failure) -> Result {
    try await fold(initial) { Fold.replacing(&$0, combine($0, $1)) }
  }

  /// Returns the elements combined, from the first on, with a throwing closure.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public func reduce<Result>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) throws -> Result
  ) async throws -> Result {
    try await fold(initial) { Fold.replacing(&$0, try combine($0, $1)) }
  }

  /// Returns the elements combined, from the first on, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func reduce<Result: Sendable>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) async -> Result
  ) async throws(Failure) -> Result {
    try await foldWaiting(initial) { Fold.replacing(&$0, await combine($0, $1)) }
  }

  /// Returns the elements combined, from the first on, with an asynchronous throwing closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func reduce<Result: Sendable>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) async throws -> Result
  ) async throws -> Result {
    try await foldWaiting(initial) { Fold.replacing(&$0, try await combine($0, $1)) }
  }

  /// Returns a value updated with each element, from the first on.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func reduce<Result>(
    into initial: Result, _ update: (inout Result, Element) -> Void
  ) async throws(Failure) -> Result {
    try await fold(initial) { Fold.goingOn(update(&$0, $1)) }
  }

  /// Returns a value updated with each element, with a throwing closure.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public func reduce<Result>(
    into initial: Result, _ update: (inout Result, Element) throws -> Void
  ) async throws -> Result {
    try await fold(initial) { Fold.goingOn(try update(&$0, $1)) }
  }

  /// Returns a value updated with each element, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func reduce<Result: Sendable>(
    into initial: Result, _ update: (inout Result, Element) async -> Void
  ) async throws(Failure) -> Result {
    try await foldWaiting(initial) { Fold.goingOn(await update(&$0, $1)) }
  }

  /// Returns a value updated with each element, with an asynchronous throwing closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func reduce<Result: Sendable>(
    into initial: Result, _ update: (inout Result, Element) async throws -> Void
  ) async throws -> Result {
    try await foldWaiting(initial) { Fold.goingOn(try await update(&$0, $1)) }
  }

  /// Runs a closure for each element.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func forEach(
    _ body: (Element) -> Void
  ) async throws(Failure) {
    try await fold(()) { Fold.goingOn(body($1)) }
  }

  /// Runs a closure for each element, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func forEach(
    _ body: (Element) async -> Void
  ) async throws(Failure) {
    try await foldWaiting(()) { Fold.goingOn(await body($1)) }
  }

  /// Runs a closure for each element, with a throwing closure, asynchronous or not.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func forEach(
    _ body: (Element) async throws -> Void
  ) async throws {
    try await foldWaiting(()) { Fold.goingOn(try await body($1)) }
  }

  /// Returns the number of elements that satisfy a predicate.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func count(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Int {
    try await fold(0) { Fold.counting(&$0, predicate($1)) }
  }

  /// Returns the number of elements that satisfy a predicate, with a throwing or asynchronous
  /// closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func count(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Int {
    try await foldWaiting(0) { Fold.counting(&$0, try await predicate($1)) }
  }

  /// Returns all elements.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func array() async throws(Failure) -> [Element] {
    try await fold([]) { Fold.goingOn($0.append($1)) }
  }

  /// Returns the number of elements.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func count() async throws(Failure) -> Int {
    try await fold(0) { (count, _) in Fold.counting(&count, true) }
  }

  /// Returns the last element, `nil` if there is none.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func last() async throws(Failure) -> Element? {
    try await fold(nil) { Fold.replacing(&$0, .some($1)) }
  }

  /// Returns the sum of the elements, or zero if there are none.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func sum() async throws(Failure) -> Element
  where Element: AdditiveArithmetic {
    try await reduce(.zero) { $0 + $1 }
  }
}

// MARK: Bodies

extension _FoldableSequence {
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) func fold<State>(
    _ initial: consuming State,
    _ update: (inout State, Element) -> Bool
  ) async throws(Failure) -> State {
    var state = initial
    var iterator = makeAsyncIterator()
    while let element = try await iterator._nextForFold(isolation: #isolation) {
      if !update(&state, element) { break }
    }
    return state
  }

  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) func fold<State>(
    _ initial: consuming State,
    _ update: (inout State, Element) throws -> Bool
  ) async throws -> State {
    var state = initial
    var iterator = makeAsyncIterator()
    while let element = try await iterator._nextForFold(isolation: #isolation) {
      if !(try update(&state, element)) { break }
    }
    return state
  }

  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) func foldWaiting<State>(
    _ initial: consuming State,
    _ update: nonisolated(nonsending) (inout State, Element) async -> Bool
  ) async throws(Failure) -> State {
    var state = initial
    var iterator = makeAsyncIterator()
    while let element = try await iterator._nextForFold(isolation: #isolation) {
      if !(await update(&state, element)) { break }
    }
    return state
  }

  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) func foldWaiting<State>(
    _ initial: consuming State,
    _ update: nonisolated(nonsending) (inout State, Element) async throws -> Bool
  ) async throws -> State {
    var state = initial
    var iterator = makeAsyncIterator()
    while let element = try await iterator._nextForFold(isolation: #isolation) {
      if !(try await update(&state, element)) { break }
    }
    return state
  }
}
