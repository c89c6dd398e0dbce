extension LazyList {
  /// Returns the least element by an order, the first of several; `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(["ada", "al", "bob"]).min { $0.count < $1.count }   // "al"
  /// ```
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if areInIncreasingOrder(element, result) { result = element }
    }
    return result
  }

  /// Returns the least element by a throwing order; `nil` if there is none.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) throws -> Bool
  ) async throws -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if try areInIncreasingOrder(element, result) { result = element }
    }
    return result
  }

  /// Returns the least element by an asynchronous order; `nil` if there is none.
  @inlinable
  nonisolated(nonsending) public consuming func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async -> Bool
  ) async throws(Failure) -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if await areInIncreasingOrder(element, result) { result = element }
    }
    return result
  }

  /// Returns the least element by an asynchronous throwing order; `nil` if there is none.
  @inlinable
  nonisolated(nonsending) public consuming func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async throws -> Bool
  ) async throws -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if try await areInIncreasingOrder(element, result) { result = element }
    }
    return result
  }

  /// Returns the least element, `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList([3, 1, 2]).min()   // 1
  /// ```
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func min() async throws(Failure) -> Element?
  where Element: Comparable {
    try await min { $0 < $1 }
  }

  /// Returns the greatest element by an order, the first of several; `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(["al", "ada", "bob"]).max { $0.count < $1.count }   // "ada"
  /// ```
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if areInIncreasingOrder(result, element) { result = element }
    }
    return result
  }

  /// Returns the greatest element by a throwing order; `nil` if there is none.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) throws -> Bool
  ) async throws -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if try areInIncreasingOrder(result, element) { result = element }
    }
    return result
  }

  /// Returns the greatest element by an asynchronous order; `nil` if there is none.
  @inlinable
  nonisolated(nonsending) public consuming func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async -> Bool
  ) async throws(Failure) -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if await areInIncreasingOrder(result, element) { result = element }
    }
    return result
  }

  /// Returns the greatest element by an asynchronous throwing order; `nil` if there is none.
  @inlinable
  nonisolated(nonsending) public consuming func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async throws -> Bool
  ) async throws -> Element? {
    var reader = Reader(self)
    guard var result = try await reader.next() else { return nil }
    while let element = try await reader.next() {
      if try await areInIncreasingOrder(result, element) { result = element }
    }
    return result
  }

  /// Returns the greatest element, `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList([3, 1, 2]).max()   // 3
  /// ```
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func max() async throws(Failure) -> Element?
  where Element: Comparable {
    try await max { $0 < $1 }
  }
}
