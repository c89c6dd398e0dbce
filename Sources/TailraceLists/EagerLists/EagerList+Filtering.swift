extension EagerList {
  /// The elements that satisfy a predicate.
  ///
  /// ```swift
  /// EagerList(1...6).filter { $0 % 2 == 0 }   // [2, 4, 6]
  /// ```
  // Exactly as generic as the standard library's, which gives an array and would otherwise be
  // preferred.
  @inlinable
  public func filter(
    @_CheckedAlone<Bool> _ isIncluded: (Element) throws -> Bool
  ) rethrows -> EagerList {
    EagerList(try slice.filter(isIncluded))
  }

  /// Returns the elements that satisfy an asynchronous predicate.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func filter<Failure: Error>(
    @_CheckedAlone<Bool> _ isIncluded:
      nonisolated(nonsending) (Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
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

  /// Returns the elements that do not equal a value.
  ///
  /// ```swift
  /// EagerList([1, 0, 2]).ignoring(0)   // [1, 2]
  /// ```
  @inlinable
  public func ignoring(_ element: Element) -> EagerList where Element: Equatable {
    filter { $0 != element }
  }

  /// Returns the elements that do not equal the one before them.
  ///
  /// ```swift
  /// EagerList([1, 1, 2, 1]).removeDuplicates()   // [1, 2, 1]
  /// ```
  @inlinable
  public func removeDuplicates() -> EagerList where Element: Equatable {
    removeDuplicates { $0 == $1 }
  }

  /// Returns the elements that differ, by a predicate, from the last one kept.
  ///
  /// ```swift
  /// EagerList([1, 2, 11]).removeDuplicates { $0 / 10 == $1 / 10 }   // [1, 11]
  /// ```
  @inlinable
  public func removeDuplicates<Failure: Error>(
    @_CheckedAlone<Bool> by areSame: (Element, Element) throws(Failure) -> Bool
  ) throws(Failure) -> EagerList {
    try removingDuplicates(areSame)
  }

  /// Returns the elements that differ, by an asynchronous predicate, from the last one kept.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func removeDuplicates<Failure: Error>(
    @_CheckedAlone<Bool> by areSame:
      nonisolated(nonsending) (Element, Element) async throws(Failure) -> Bool
  ) async throws(Failure) -> EagerList {
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
