// Folds consume the list that they are called on: a list that nobody else holds is read in constant
// memory. Closures run in the isolation of the caller.
//
// An asynchronous closure has the type that `AsyncSequence` gives it, to the word: were it any other,
// a closure's literal would prefer the standard library's fold, which ends early when cancelled.
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
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Result>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) -> Result
  ) async throws(Failure) -> Result {
    var reader = Reader(self, wantsAll: true)
    var result = initial
    try await reader.drain {
      result = combine(result, $0)
      return true
    }
    return result
  }

  /// Returns the elements combined, from the head on, by a throwing closure.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func reduce<Result>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) throws -> Result
  ) async throws -> Result {
    var reader = Reader(self)
    var result = initial
    while let element = try await reader.next() { result = try combine(result, element) }
    return result
  }

  /// Returns the elements combined, from the head on, by an asynchronous closure.
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) async -> Result
  ) async throws(Failure) -> Result {
    var reader = Reader(self)
    var result = initial
    while let element = try await reader.next() { result = await combine(result, element) }
    return result
  }

  /// Returns the elements combined, from the head on, by an asynchronous throwing closure.
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) async throws -> Result
  ) async throws -> Result {
    var reader = Reader(self)
    var result = initial
    while let element = try await reader.next() { result = try await combine(result, element) }
    return result
  }

  /// Returns the sum of the elements, zero where there are none.
  ///
  /// ```swift
  /// await LazyList(1...4).sum()   // 10
  /// ```
  ///
  /// It is `reduce(.zero, +)`, and the compiler has nothing to try: it may stand anywhere in an
  /// expression.
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func sum() async throws(Failure) -> Element
  where Element: AdditiveArithmetic {
    try await reduce(.zero) { $0 + $1 }
  }

  /// Returns a value updated with each element, from the head on.
  ///
  /// ```swift
  /// let counts = await LazyList("hello").reduce(into: [Character: Int]()) { $0[$1, default: 0] += 1 }
  /// counts["l"]   // 2
  /// ```
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Result>(
    into initial: Result, _ update: (inout Result, Element) -> Void
  ) async throws(Failure) -> Result {
    var reader = Reader(self, wantsAll: true)
    var result = initial
    try await reader.drain {
      update(&result, $0)
      return true
    }
    return result
  }

  /// A dictionary, empty at first, updated with each element, from the head on.
  // For `reduce(into: [:])` behind a closure: a dictionary literal without elements has `AnyHashable`
  // keys, unless they are known before the closure's result is.
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Key: Hashable, Value>(
    into initial: _EmptyDictionaryLiteral,
    @_CheckedAlone<Void> _ update: (inout [Key: Value], Element) -> Void
  ) async throws(Failure) -> [Key: Value] {
    try await reduce(into: [Key: Value](), update)
  }

  /// Returns a value updated with each element, from the head on, by a throwing closure.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func reduce<Result>(
    into initial: Result, _ update: (inout Result, Element) throws -> Void
  ) async throws -> Result {
    var reader = Reader(self)
    var result = initial
    while let element = try await reader.next() { try update(&result, element) }
    return result
  }

  /// Returns a value updated with each element, from the head on, by an asynchronous closure.
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    into initial: Result, _ update: (inout Result, Element) async -> Void
  ) async throws(Failure) -> Result {
    var reader = Reader(self)
    var result = initial
    while let element = try await reader.next() { await update(&result, element) }
    return result
  }

  /// Returns a value updated with each element, from the head on, by an asynchronous throwing
  /// closure.
  @inlinable
  nonisolated(nonsending) public consuming func reduce<Result: Sendable>(
    into initial: Result,
    _ update: (inout Result, Element) async throws -> Void
  ) async throws -> Result {
    var reader = Reader(self)
    var result = initial
    while let element = try await reader.next() { try await update(&result, element) }
    return result
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
  @inlinable
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) -> Void
  ) async throws(Failure) {
    var reader = Reader(self)
    try await reader.drain {
      body($0)
      return true
    }
  }

  /// Runs a throwing closure for each element.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) throws -> Void
  ) async throws {
    var reader = Reader(self)
    while let element = try await reader.next() { try body(element) }
  }

  /// Runs an asynchronous closure for each element.
  @inlinable
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) async -> Void
  ) async throws(Failure) {
    var reader = Reader(self)
    while let element = try await reader.next() { await body(element) }
  }

  /// Runs an asynchronous throwing closure for each element.
  @inlinable
  nonisolated(nonsending) public consuming func forEach(
    _ body: (Element) async throws -> Void
  ) async throws {
    var reader = Reader(self)
    while let element = try await reader.next() { try await body(element) }
  }
}

/// `[:]`, before anything is known about its keys and values.
public struct _EmptyDictionaryLiteral: ExpressibleByDictionaryLiteral, Sendable {
  /// `[:]`; a literal with elements is a `Dictionary`.
  @inlinable
  public init(dictionaryLiteral elements: (Never, Never)...) {}
}
