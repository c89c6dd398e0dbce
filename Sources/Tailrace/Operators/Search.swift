// Searches stop at the answer, and hold nothing of what they have passed.
extension LazyList {
  /// The head is demanded by a call of ``head()``.
  // Without this, `list.first` can only be a reference to the method that takes a predicate.
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
  @inlinable
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Element? {
    var reader = Reader(self)
    var found: Element?
    try await reader.drain {
      if predicate($0) { found = .some($0) }
      return found == nil
    }
    return found
  }

  /// Returns the first element that satisfies a throwing predicate, `nil` if there is none.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) throws -> Bool
  ) async throws -> Element? {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if try predicate(element) { return element }
    }
    return nil
  }

  /// Returns the first element that satisfies an asynchronous predicate, `nil` if there is none.
  @inlinable
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Element? {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if await predicate(element) { return element }
    }
    return nil
  }

  /// Returns the first element that satisfies an asynchronous throwing predicate, `nil` if there is
  /// none.
  @inlinable
  nonisolated(nonsending) public consuming func first(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Element? {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if try await predicate(element) { return element }
    }
    return nil
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
  @inlinable
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Bool {
    var reader = Reader(self)
    var isFound = false
    try await reader.drain {
      isFound = predicate($0)
      return !isFound
    }
    return isFound
  }

  /// Returns whether an element satisfies a throwing predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) throws -> Bool
  ) async throws -> Bool {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if try predicate(element) { return true }
    }
    return false
  }

  /// Returns whether an element satisfies an asynchronous predicate.
  @inlinable
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Bool {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if await predicate(element) { return true }
    }
    return false
  }

  /// Returns whether an element satisfies an asynchronous throwing predicate.
  @inlinable
  nonisolated(nonsending) public consuming func contains(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Bool {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if try await predicate(element) { return true }
    }
    return false
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
  @inlinable
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) -> Bool
  ) async throws(Failure) -> Bool {
    var reader = Reader(self)
    var holds = true
    try await reader.drain {
      holds = predicate($0)
      return holds
    }
    return holds
  }

  /// Returns whether all elements satisfy a throwing predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) throws -> Bool
  ) async throws -> Bool {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if !(try predicate(element)) { return false }
    }
    return true
  }

  /// Returns whether all elements satisfy an asynchronous predicate.
  @inlinable
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) async -> Bool
  ) async throws(Failure) -> Bool {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if !(await predicate(element)) { return false }
    }
    return true
  }

  /// Returns whether all elements satisfy an asynchronous throwing predicate.
  @inlinable
  nonisolated(nonsending) public consuming func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) async throws -> Bool
  ) async throws -> Bool {
    var reader = Reader(self)
    while let element = try await reader.next() {
      if !(try await predicate(element)) { return false }
    }
    return true
  }

  /// Returns whether an element equals a value.
  ///
  /// ```swift
  /// await LazyList(1...).contains(3)   // true; after three elements
  /// ```
  ///
  /// - Laziness: searching.
  @inlinable
  nonisolated(nonsending) public consuming func contains(
    _ element: Element
  ) async throws(Failure) -> Bool where Element: Equatable {
    var reader = Reader(self)
    while let next = try await reader.next() {
      if next == element { return true }
    }
    return false
  }
}
