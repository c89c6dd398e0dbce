extension EagerList {
  /// The elements that satisfy a predicate.
  ///
  /// ```swift
  /// EagerList(1...6).filter { $0 % 2 == 0 }   // [2, 4, 6]
  /// ```
  @inlinable
  public func filter(_ isIncluded: (Element) -> Bool) -> EagerList {
    EagerList(slice.filter(isIncluded))
  }

  /// The elements that satisfy a throwing predicate.
  @inlinable
  public func filter(_ isIncluded: (Element) throws -> Bool) throws -> EagerList {
    EagerList(try slice.filter(isIncluded))
  }

  /// The elements that satisfy an asynchronous predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func filter(
    _ isIncluded: nonisolated(nonsending) (Element) async -> Bool
  ) async -> EagerList {
    await filtering(isIncluded)
  }

  /// The elements that satisfy an asynchronous throwing predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func filter(
    _ isIncluded: nonisolated(nonsending) (Element) async throws -> Bool
  ) async throws -> EagerList {
    try await filtering(isIncluded)
  }

  @inlinable
  nonisolated(nonsending) func filtering<Failure: Error>(
    _ isIncluded: nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
    var results: [Element] = []
    for element in self where try await isIncluded(element) { results.append(element) }
    return EagerList(results)
  }

  /// The elements without one value.
  ///
  /// ```swift
  /// EagerList([1, 0, 2]).ignoring(0)   // [1, 2]
  /// ```
  @inlinable
  public func ignoring(_ element: Element) -> EagerList where Element: Equatable {
    filter { $0 != element }
  }

  /// The elements without those that equal the one before them.
  ///
  /// ```swift
  /// EagerList([1, 1, 2, 1]).removeDuplicates()   // [1, 2, 1]
  /// ```
  @inlinable
  public func removeDuplicates() -> EagerList where Element: Equatable {
    removeDuplicates { $0 == $1 }
  }

  /// The elements without those that a predicate calls the same as the last one kept.
  ///
  /// ```swift
  /// EagerList([1, 2, 11]).removeDuplicates { $0 / 10 == $1 / 10 }   // [1, 11]
  /// ```
  @inlinable
  public func removeDuplicates(by areSame: (Element, Element) -> Bool) -> EagerList {
    removingDuplicates(areSame)
  }

  /// The elements without those that a throwing predicate calls the same as the last one kept.
  @inlinable
  public func removeDuplicates(
    by areSame: (Element, Element) throws -> Bool
  ) throws -> EagerList {
    try removingDuplicates(areSame)
  }

  /// The elements without those that an asynchronous predicate calls the same as the last one kept.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func removeDuplicates(
    by areSame: nonisolated(nonsending) (Element, Element) async -> Bool
  ) async -> EagerList {
    await removingDuplicatesInTurn(areSame)
  }

  /// The elements without those that an asynchronous throwing predicate calls the same as the last
  /// one kept.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func removeDuplicates(
    by areSame: nonisolated(nonsending) (Element, Element) async throws -> Bool
  ) async throws -> EagerList {
    try await removingDuplicatesInTurn(areSame)
  }

  @inlinable
  func removingDuplicates<Failure: Error>(
    _ areSame: (Element, Element) throws(Failure) -> Bool
  ) throws(Failure) -> EagerList {
    var results: [Element] = []
    for element in self {
      if let last = results.last, try areSame(last, element) { continue }
      results.append(element)
    }
    return EagerList(results)
  }

  @inlinable
  nonisolated(nonsending) func removingDuplicatesInTurn<Failure: Error>(
    _ areSame: nonisolated(nonsending) (Element, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
    var results: [Element] = []
    for element in self {
      if let last = results.last, try await areSame(last, element) { continue }
      results.append(element)
    }
    return EagerList(results)
  }
}
