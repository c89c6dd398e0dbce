extension LazyList {
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
  /// How many elements satisfy the closure.
  @_alwaysEmitIntoClient
  static func counting(_ count: inout Int, _ isCounted: Bool) -> Bool {
    if isCounted { count += 1 }
    return true
  }
}
