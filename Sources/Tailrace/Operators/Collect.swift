extension LazyList {
  /// All elements.
  ///
  /// - Laziness: exhaustive.
  ///
  /// Replaces `array`.
  @inlinable
  nonisolated(nonsending) public consuming func array() async throws(Failure) -> [Element] {
    var reader = Reader(self)
    var elements: [Element] = []
    while let element = try await reader.next() { elements.append(element) }
    return elements
  }

  /// The number of elements.
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func count() async throws(Failure) -> Int {
    var reader = Reader(self)
    var count = 0
    while try await reader.next() != nil { count += 1 }
    return count
  }

  /// The last element, `nil` if there is none.
  ///
  /// - Laziness: exhaustive.
  @inlinable
  nonisolated(nonsending) public consuming func last() async throws(Failure) -> Element? {
    var reader = Reader(self)
    var last: Element?
    while let element = try await reader.next() { last = .some(element) }
    return last
  }
}
