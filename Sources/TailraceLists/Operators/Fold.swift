// Folds consume the list that they are called on. A list without another owner is read in constant
// memory. Closures run in the caller's isolation.
//
// An asynchronous closure has exactly the type that `AsyncSequence` gives it. With any other type,
// a closure literal would prefer the standard library's fold, which ends early when cancelled.
extension LazyList {
  /// Returns the elements combined, from the head on.
  ///
  /// ```swift
  /// await LazyList(1...4).reduce(0, +)   // 10
  /// ```
  ///
  /// - Laziness: exhaustive.
  ///
  /// Replaces `-foldLeftWithStart:reduce:`.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func reduce<Result>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) -> Result
  ) async throws(Failure) -> Result {
    try await reader(wants: .all).fold(initial) { Fold.replacing(&$0, combine($0, $1)) }
  }

  /// Returns the elements combined, from the head on, by a throwing closure.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public consuming func reduce<Result>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) throws -> Result
  ) async throws -> Result {
    try await throwingReader().fold(initial) { Fold.replacing(&$0, try combine($0, $1)) }
  }

  /// Returns the elements combined, from the head on, by an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) async -> Result
  ) async throws(Failure) -> Result {
    try await reader().foldWaiting(initial) { Fold.replacing(&$0, await combine($0, $1)) }
  }

  /// Returns the elements combined, from the head on, by an asynchronous throwing closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) async throws -> Result
  ) async throws -> Result {
    try await throwingReader().foldWaiting(initial) {
      Fold.replacing(&$0, try await combine($0, $1))
    }
  }

  /// Returns the sum of the elements, or zero if there are none.
  ///
  /// ```swift
  /// await LazyList(1...4).sum()   // 10
  /// ```
  ///
  /// It is `reduce(.zero, +)`, but leaves the compiler no overloads to try, so it may stand
  /// anywhere in an expression.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func sum() async throws(Failure) -> Element
  where Element: AdditiveArithmetic {
    try await reduce(.zero) { $0 + $1 }
  }

  /// Returns a value updated with each element, from the head on.
  ///
  /// ```swift
  /// let counts = await LazyList("hello")
  ///   .reduce(into: [Character: Int]()) { $0[$1, default: 0] += 1 }
  /// counts["l"]   // 2
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func reduce<Result>(
    into initial: Result, _ update: (inout Result, Element) -> Void
  ) async throws(Failure) -> Result {
    try await reader(wants: .all).fold(initial) { Fold.goingOn(update(&$0, $1)) }
  }

  /// A dictionary, initially empty, updated with each element, from the head on.
  // For `reduce(into: [:])` after a closure: a literal `[:]` has `AnyHashable` keys, unless they
  // are known before the closure's result.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func reduce<Key: Hashable, Value>(
    into initial: _EmptyDictionaryLiteral,
    @_CheckedAlone<Void> _ update: (inout [Key: Value], Element) -> Void
  ) async throws(Failure) -> [Key: Value] {
    try await reduce(into: [Key: Value](), update)
  }

  /// Returns a value updated with each element, from the head on, by a throwing closure.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public consuming func reduce<Result>(
    into initial: Result, _ update: (inout Result, Element) throws -> Void
  ) async throws -> Result {
    try await throwingReader().fold(initial) { Fold.goingOn(try update(&$0, $1)) }
  }

  /// Returns a value updated with each element, from the head on, by an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    into initial: Result, _ update: (inout Result, Element) async -> Void
  ) async throws(Failure) -> Result {
    try await reader().foldWaiting(initial) { Fold.goingOn(await update(&$0, $1)) }
  }

  /// Returns a value updated with each element, from the head on, by an asynchronous throwing
  /// closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    into initial: Result,
    _ update: (inout Result, Element) async throws -> Void
  ) async throws -> Result {
    try await throwingReader().foldWaiting(initial) { Fold.goingOn(try await update(&$0, $1)) }
  }

  /// Runs a closure for each element.
  ///
  /// ```swift
  /// await LazyList(1...2).forEach { print($0) }
  /// // 1
  /// // 2
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) -> Void
  ) async throws(Failure) {
    try await reader().fold(()) { Fold.goingOn(body($1)) }
  }

  /// Runs a throwing closure for each element.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) throws -> Void
  ) async throws {
    try await throwingReader().fold(()) { Fold.goingOn(try body($1)) }
  }

  /// Runs an asynchronous closure for each element.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) async -> Void
  ) async throws(Failure) {
    try await reader().foldWaiting(()) { Fold.goingOn(await body($1)) }
  }

  /// Runs an asynchronous throwing closure for each element.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) async throws -> Void
  ) async throws {
    try await throwingReader().foldWaiting(()) { Fold.goingOn(try await body($1)) }
  }
}

// MARK: Bodies

extension LazyList {
  @_alwaysEmitIntoClient @inline(__always)
  consuming func reader(wants amount: Amount = .one) -> Reader<Element, Failure, Failure> {
    Reader(self, wants: amount)
  }

  /// A reader for closures that throw.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func throwingReader() -> Reader<Element, any Error, Failure> { Reader(self) }
}

extension Reader {
  /// Updates a value with each element, until the closure returns false.
  ///
  /// Inlined into the fold's caller, so that its closure is part of the sink ("Collecting").
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) consuming func fold<State>(
    _ initial: consuming State, _ update: (inout State, Element) throws(Failure) -> Bool
  ) async throws(Failure) -> State {
    var state = initial
    var isWanted = true
    while isWanted {
      if try push(to: &state, &isWanted, update) { continue }
      guard let element = try await nextWaiting() else { break }
      isWanted = try update(&state, element)
    }
    return state
  }

  /// Folds the elements that are there without waiting. True if there may be more.
  // A separate function: `ending` may have a missing cell, which retains its list. Only the cursor may
  // keep that, until it waits.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func push<State>(
    to state: inout State, _ isWanted: inout Bool,
    _ update: (inout State, Element) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    var count = pushedAtOnce
    var wants = true
    var failure: Failure?
    let ending: Ending<Element> = cursor.push(cursor.demand) { element in
      do throws(Failure) {
        wants = try update(&state, element)
      } catch {
        failure = error
        wants = false
      }
      count &-= 1
      return wants && count > 0
    }
    if let failure { throw failure }
    isWanted = wants
    return mayPushAgain(after: ending, remaining: count) || !wants
  }

  /// As `fold`, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) consuming func foldWaiting<State>(
    _ initial: consuming State,
    _ update: nonisolated(nonsending) (inout State, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> State {
    var state = initial
    while let element = try await next() {
      if !(try await update(&state, element)) { break }
    }
    return state
  }
}

/// The rules of folds: how the closure's answer changes a value, and whether to go on.
@usableFromInline
enum Fold {
  /// The answer is the value.
  @_alwaysEmitIntoClient @inline(__always)
  static func replacing<State>(_ state: inout State, _ answer: State) -> Bool {
    state = answer
    return true
  }

  /// The closure has done everything.
  @_alwaysEmitIntoClient @inline(__always)
  static func goingOn(_: Void) -> Bool { true }
}
