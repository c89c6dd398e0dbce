extension LazyList {
  /// Returns the least element by an order, the first of equals; `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(["ada", "al", "bob"]).min { $0.count < $1.count }   // "al"
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> Element? {
    try await reader().best { areInIncreasingOrder($1, $0) }
  }

  /// Returns the least element by a throwing or asynchronous order; `nil` if there is none.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async throws -> Bool
  ) async throws -> Element? {
    try await throwingReader().bestWaiting { try await areInIncreasingOrder($1, $0) }
  }

  /// Returns the least element, `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList([3, 1, 2]).min()   // 1
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func min() async throws(Failure) -> Element?
  where Element: Comparable {
    try await min { $0 < $1 }
  }

  /// Returns the greatest element by an order, the first of equals; `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(["al", "ada", "bob"]).max { $0.count < $1.count }   // "ada"
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> Element? {
    try await reader().best { areInIncreasingOrder($0, $1) }
  }

  /// Returns the greatest element by a throwing or asynchronous order; `nil` if there is none.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async throws -> Bool
  ) async throws -> Element? {
    try await throwingReader().bestWaiting { try await areInIncreasingOrder($0, $1) }
  }

  /// Returns the greatest element, `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList([3, 1, 2]).max()   // 3
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func max() async throws(Failure) -> Element?
  where Element: Comparable {
    try await max { $0 < $1 }
  }
}

// MARK: Bodies

extension Reader {
  /// The best element, the first of equals.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) consuming func best(
    _ isBetter: (_ kept: inout Element, Element) throws(Failure) -> Bool
  ) async throws(Failure) -> Element? {
    guard let first = try await next() else { return nil }
    return try await fold(consume first) { (kept, element) throws(Failure) in
      if try isBetter(&kept, element) { kept = element }
      return true
    }
  }

  /// As `best`, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) consuming func bestWaiting(
    _ isBetter:
      nonisolated(nonsending) (_ kept: inout Element, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> Element? {
    guard let first = try await next() else { return nil }
    return try await foldWaiting(consume first) { (kept, element) async throws(Failure) in
      if try await isBetter(&kept, element) { kept = element }
      return true
    }
  }
}
