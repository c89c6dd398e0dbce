extension LazyList {
  /// Returns all elements.
  ///
  /// ```swift
  /// await LazyList(1...3).array()   // [1, 2, 3]
  /// ```
  ///
  /// - Laziness: exhaustive.
  ///
  /// Replaces `array`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func array() async throws(Failure) -> [Element] {
    if let slice { return Array(slice) }
    var reader = reader(wants: .all)
    var elements: [Element] = []
    try await reader.append(to: &elements)
    return elements
  }

  /// Returns all elements as an eager list.
  ///
  /// ```swift
  /// await LazyList(1...3).eager().map { $0 * 2 }   // [2, 4, 6]; computed at once
  /// ```
  ///
  /// - Laziness: exhaustive.
  /// - Complexity: O(1) if the list is a part of an array; the storage is shared.
  ///
  /// Replaces `eagerSequence`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func eager() async throws(Failure) -> EagerList<Element>
  {
    if let slice { return EagerList(slice: slice) }
    return EagerList(try await array())
  }

  /// Returns the number of elements.
  ///
  /// ```swift
  /// await LazyList("hello").count()   // 5
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func count() async throws(Failure) -> Int {
    if let slice { return slice.count }
    var reader = reader(wants: .all)
    var count = 0
    try await reader.drain { _ in count += 1 }
    return count
  }

  /// Returns the last element, `nil` if there is none.
  ///
  /// ```swift
  /// await LazyList(1...3).last()   // 3
  /// ```
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func last() async throws(Failure) -> Element? {
    var reader = reader(wants: .all)
    var last: Element?
    try await reader.drain { last = .some($0) }
    return last
  }
}

// MARK: Bodies

extension Reader {
  /// Passes every element to a closure.
  // Not a fold: a closure that asks for no answer becomes part of the sink, which saves 2 ns an
  // element.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func drain(_ body: (Element) -> Void) async throws(Failure) {
    while true {
      if pass(to: body) { continue }
      guard let element = try await nextWaiting() else { return }
      body(element)
    }
  }

  /// Passes on the elements that are there without waiting. True if there may be more.
  // A separate function, as is `push(to:_:_:)`.
  @_alwaysEmitIntoClient @inline(__always)
  mutating func pass(to body: (Element) -> Void) -> Bool {
    var count = pushedAtOnce
    let ending: Ending<Element> = cursor.push(cursor.demand.gathering) { element in
      body(element)
      count &-= 1
      return count > 0
    }
    return mayPushAgain(after: ending, remaining: count)
  }
}
