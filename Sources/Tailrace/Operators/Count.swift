extension LazyList {
  /// Returns the position of the first element that satisfies a predicate, counted from 0; `nil` if
  /// there is none.
  ///
  /// ```swift
  /// await LazyList(1...).firstIndex { $0 * $0 > 50 }   // 7
  /// ```
  ///
  /// - Laziness: searching.
  @inlinable
  nonisolated(nonsending) public consuming func firstIndex(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Int? {
    var reader = Reader(self)
    var (position, isFound) = (0, false)
    try await reader.drain {
      isFound = predicate($0)
      if !isFound { position += 1 }
      return !isFound
    }
    return isFound ? position : nil
  }

  /// Returns the position of the first element that satisfies a throwing predicate, `nil` if there
  /// is none.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func firstIndex(
    @_CheckedAlone<Bool> where predicate: (Element) throws -> Bool
  ) async throws -> Int? {
    var reader = Reader(self)
    var position = 0
    while let element = try await reader.next() {
      if try predicate(element) { return position }
      position += 1
    }
    return nil
  }

  /// Returns the position of the first element that satisfies an asynchronous predicate, `nil` if
  /// there is none.
  @inlinable
  nonisolated(nonsending) public consuming func firstIndex(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Int? {
    var reader = Reader(self)
    var position = 0
    while let element = try await reader.next() {
      if await predicate(element) { return position }
      position += 1
    }
    return nil
  }

  /// Returns the position of the first element that satisfies an asynchronous throwing predicate,
  /// `nil` if there is none.
  @inlinable
  nonisolated(nonsending) public consuming func firstIndex(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Int? {
    var reader = Reader(self)
    var position = 0
    while let element = try await reader.next() {
      if try await predicate(element) { return position }
      position += 1
    }
    return nil
  }

  /// Returns the number of elements that satisfy a predicate.
  ///
  /// ```swift
  /// await LazyList(1...10).count { $0 % 3 == 0 }   // 3
  /// ```
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func count(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Int {
    var reader = Reader(self, wantsAll: true)
    var count = 0
    try await reader.drain {
      if predicate($0) { count += 1 }
      return true
    }
    return count
  }

  /// Returns the number of elements that satisfy a throwing predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func count(
    @_CheckedAlone<Bool> where predicate: (Element) throws -> Bool
  ) async throws -> Int {
    var reader = Reader(self)
    var count = 0
    while let element = try await reader.next() { if try predicate(element) { count += 1 } }
    return count
  }

  /// Returns the number of elements that satisfy an asynchronous predicate.
  @inlinable
  nonisolated(nonsending) public consuming func count(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Int {
    var reader = Reader(self)
    var count = 0
    while let element = try await reader.next() { if await predicate(element) { count += 1 } }
    return count
  }

  /// Returns the number of elements that satisfy an asynchronous throwing predicate.
  @inlinable
  nonisolated(nonsending) public consuming func count(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Int {
    var reader = Reader(self)
    var count = 0
    while let element = try await reader.next() { if try await predicate(element) { count += 1 } }
    return count
  }
}
