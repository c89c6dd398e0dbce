extension LazyList {
  /// Returns the position, from 0, of the first element that satisfies a predicate, or `nil` if
  /// there is none.
  ///
  /// ```swift
  /// await LazyList(1...).firstIndex { $0 * $0 > 50 }   // 7
  /// ```
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func firstIndex(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Int? {
    try await reader().fold(Place()) { Fold.locating(&$0, predicate($1)) }.found
  }

  /// Returns the position of the first element that satisfies a throwing or asynchronous predicate,
  /// `nil` if there is none.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func firstIndex(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Int? {
    try await throwingReader().foldWaiting(Place()) { Fold.locating(&$0, try await predicate($1)) }
      .found
  }

  /// Returns the number of elements that satisfy a predicate.
  ///
  /// ```swift
  /// await LazyList(1...10).count { $0 % 3 == 0 }   // 3
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func count(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Int {
    try await reader(wants: .all).fold(0) { Fold.counting(&$0, predicate($1)) }
  }

  /// Returns the number of elements that satisfy a throwing or asynchronous predicate.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public consuming func count(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Int {
    try await throwingReader().foldWaiting(0) { Fold.counting(&$0, try await predicate($1)) }
  }
}

extension Fold {
  /// The number of elements before the first for which the closure returns true.
  @_alwaysEmitIntoClient
  static func locating(_ place: inout Place, _ isWanted: Bool) -> Bool {
    if isWanted { place.found = place.position }
    place.position += 1
    return !isWanted
  }

  /// How many elements satisfy the closure.
  @_alwaysEmitIntoClient
  static func counting(_ count: inout Int, _ isCounted: Bool) -> Bool {
    if isCounted { count += 1 }
    return true
  }
}

/// The state of a position search.
@usableFromInline
struct Place: Sendable {
  @usableFromInline var position = 0
  @usableFromInline var found: Int?

  @_alwaysEmitIntoClient
  init() {}
}
