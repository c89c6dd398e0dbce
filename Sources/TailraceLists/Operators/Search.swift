// Searches stop at the answer, and retain nothing that they have passed.
extension LazyList {
  /// Use ``head()`` to request the head.
  // Without this, `list.first` could only refer to the method that takes a predicate.
  @available(*, unavailable, message: "it takes a call to demand an element: 'await list.head()'")
  public var first: Element? { nil }

  /// Returns the first element that satisfies a predicate, `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(1...).first { $0 * $0 > 50 }   // 8
  /// ```
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-objectPassingTest:`.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Element? {
    try await reader().fold(nil) { Fold.finding(&$0, $1, predicate($1)) }
  }

  /// Returns the first element that satisfies a throwing predicate, `nil` if there is none.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) throws -> Bool
  ) async throws -> Element? {
    try await throwingReader().fold(nil) { Fold.finding(&$0, $1, try predicate($1)) }
  }

  /// Returns the first element that satisfies an asynchronous predicate, `nil` if there is none.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Element? {
    try await reader().foldWaiting(nil) { Fold.finding(&$0, $1, await predicate($1)) }
  }

  /// Returns the first element that satisfies an asynchronous throwing predicate, `nil` if there is
  /// none.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Element? {
    try await throwingReader().foldWaiting(nil) { Fold.finding(&$0, $1, try await predicate($1)) }
  }

  /// Returns whether an element satisfies a predicate.
  ///
  /// ```swift
  /// await LazyList(1...).contains { $0 > 2 }   // true; after three elements
  /// ```
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-any:`.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Bool {
    try await reader().fold(false) { Fold.untilTrue(&$0, predicate($1)) }
  }

  /// Returns whether an element satisfies a throwing predicate.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) throws -> Bool
  ) async throws -> Bool {
    try await throwingReader().fold(false) { Fold.untilTrue(&$0, try predicate($1)) }
  }

  /// Returns whether an element satisfies an asynchronous predicate.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Bool {
    try await reader().foldWaiting(false) { Fold.untilTrue(&$0, await predicate($1)) }
  }

  /// Returns whether an element satisfies an asynchronous throwing predicate.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Bool {
    try await throwingReader().foldWaiting(false) { Fold.untilTrue(&$0, try await predicate($1)) }
  }

  /// Returns whether all elements satisfy a predicate.
  ///
  /// ```swift
  /// await LazyList(1...).allSatisfy { $0 < 3 }   // false; after three elements
  /// ```
  ///
  /// - Laziness: searching, for one that does not.
  ///
  /// Replaces `-all:`.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) -> Bool
  ) async throws(Failure) -> Bool {
    try await reader().fold(true) { Fold.whileTrue(&$0, predicate($1)) }
  }

  /// Returns whether all elements satisfy a throwing predicate.
  @_alwaysEmitIntoClient @inline(__always) @_disfavoredOverload
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) throws -> Bool
  ) async throws -> Bool {
    try await throwingReader().fold(true) { Fold.whileTrue(&$0, try predicate($1)) }
  }

  /// Returns whether all elements satisfy an asynchronous predicate.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) async -> Bool
  ) async throws(Failure) -> Bool {
    try await reader().foldWaiting(true) { Fold.whileTrue(&$0, await predicate($1)) }
  }

  /// Returns whether all elements satisfy an asynchronous throwing predicate.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) async throws -> Bool
  ) async throws -> Bool {
    try await throwingReader().foldWaiting(true) { Fold.whileTrue(&$0, try await predicate($1)) }
  }

  /// Returns whether an element equals a value.
  ///
  /// ```swift
  /// await LazyList(1...).contains(3)   // true; after three elements
  /// ```
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func contains(
    _ element: Element
  ) async throws(Failure) -> Bool where Element: Equatable {
    try await reader().fold(false) { Fold.untilTrue(&$0, $1 == element) }
  }
}

extension Fold {
  /// The first element for which the closure returns true.
  @_alwaysEmitIntoClient
  static func finding<Element>(
    _ found: inout Element?, _ element: Element, _ isWanted: Bool
  ) -> Bool {
    if isWanted { found = .some(element) }
    return !isWanted
  }

  /// Whether the closure returns true for any element.
  @_alwaysEmitIntoClient
  static func untilTrue(_ isTrue: inout Bool, _ answer: Bool) -> Bool {
    isTrue = answer
    return !answer
  }

  /// Whether the closure returns true for every element.
  @_alwaysEmitIntoClient
  static func whileTrue(_ isTrue: inout Bool, _ answer: Bool) -> Bool {
    isTrue = answer
    return answer
  }
}

extension _ListLike {
  /// Use `count()` to request all elements.
  // Without this, the compiler would complain of the method's type. A list itself cannot have a
  // property beside a method of the same name that takes nothing.
  @available(*, unavailable, message: "it takes a call to count the elements: 'await list.count()'")
  public var count: Int { 0 }
}
