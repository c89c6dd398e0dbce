// Lists are not Hashable, and have no `==`: both would need the end, and a list may have none.
extension LazyList where Element: Equatable {
  /// Returns whether another list has the same elements in the same order.
  ///
  /// ```swift
  /// let list = LazyList(1...)
  /// await list.elementsEqual([1, 2])
  /// // false; after three elements of `list`
  /// await list.tail.prepending(1).elementsEqual(list)
  /// // true; the rest is shared, though endless
  /// ```
  ///
  /// - Laziness: searching, for a difference. It stops there, or where the lists share cells,
  ///   without computing those.
  /// - Failure: a failure before a difference.
  ///
  /// Replaces `-isEqual:`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func elementsEqual(
    _ other: consuming LazyList
  ) async throws(Failure) -> Bool {
    var reader = reader()
    var otherReader = other.reader()
    while !reader.cursor.isAtSameCell(as: &otherReader.cursor) {
      guard let element = try await reader.next() else {
        return try await otherReader.next() == nil
      }
      // Not `!=`: the other list may have ended while this element is nil.
      guard let otherElement = try await otherReader.next(), element == otherElement else {
        return false
      }
    }
    return true
  }
}

// A predicate may not hold between an element and itself, so a shared rest proves nothing.
extension LazyList {
  /// Returns whether another list has as many elements, and a predicate holds for all pairs.
  ///
  /// ```swift
  /// let words = LazyList(["tea", "cup"])
  /// await words.elementsEqual(["TEA", "CUP"].lazyList) { $0 == $1.lowercased() }
  /// // true
  /// ```
  ///
  /// - Laziness: searching, for a pair that fails the predicate.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func elementsEqual<Other>(
    _ other: consuming LazyList<Other, Failure>,
    @_CheckedAlone<Bool> by areEquivalent: (Element, Other) -> Bool
  ) async throws(Failure) -> Bool {
    try await reader().matches(other.reader()) { areEquivalent($0, $1) }
  }
}

extension Reader {
  /// Whether a predicate holds for each pair of elements, and the lists end together.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) consuming func matches<Other>(
    _ other: consuming Reader<Other, Failure, Source>,
    _ areEquivalent: (Element, Other) throws(Failure) -> Bool
  ) async throws(Failure) -> Bool {
    while let element = try await next() {
      guard let otherElement = try await other.next(), try areEquivalent(element, otherElement)
      else { return false }
    }
    return try await other.next() == nil
  }
}

extension Cursor {
  /// Whether both cursors will read the same cells from here on, or are both at an end.
  ///
  /// A cursor that has taken over a producer reads cells that no other reader has.
  @_alwaysEmitIntoClient
  mutating func isAtSameCell(as other: inout Cursor) -> Bool {
    if producer != nil || other.producer != nil { return false }
    if segment === other.segment { return index == other.index }
    skipLinks()
    other.skipLinks()
    return segment === other.segment && index == other.index
  }
}
