extension _FoldableSequence {
  /// Returns the first element that satisfies a predicate, `nil` if there is none.
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func first(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Element? {
    try await fold(nil) { Fold.finding(&$0, $1, predicate($1)) }
  }

  /// Returns the first element that satisfies a predicate, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func first(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Element? {
    try await foldWaiting(nil) { Fold.finding(&$0, $1, await predicate($1)) }
  }

  /// Returns the first element that satisfies a predicate, with a throwing closure, asynchronous or not.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func first(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Element? {
    try await foldWaiting(nil) { Fold.finding(&$0, $1, try await predicate($1)) }
  }

  /// Returns whether an element satisfies a predicate.
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func contains(
    @_CheckedAlone<Bool> where predicate: (Element) -> Bool
  ) async throws(Failure) -> Bool {
    try await fold(false) { Fold.untilTrue(&$0, predicate($1)) }
  }

  /// Returns whether an element satisfies a predicate, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func contains(
    @_CheckedAlone<Bool> where predicate: (Element) async -> Bool
  ) async throws(Failure) -> Bool {
    try await foldWaiting(false) { Fold.untilTrue(&$0, await predicate($1)) }
  }

  /// Returns whether an element satisfies a predicate, with a throwing closure, asynchronous or not.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func contains(
    @_CheckedAlone<Bool> where predicate: (Element) async throws -> Bool
  ) async throws -> Bool {
    try await foldWaiting(false) { Fold.untilTrue(&$0, try await predicate($1)) }
  }

  /// Returns whether all elements satisfy a predicate.
  ///
  /// - Laziness: searching, for one that does not.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) -> Bool
  ) async throws(Failure) -> Bool {
    try await fold(true) { Fold.whileTrue(&$0, predicate($1)) }
  }

  /// Returns whether all elements satisfy a predicate, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) async -> Bool
  ) async throws(Failure) -> Bool {
    try await foldWaiting(true) { Fold.whileTrue(&$0, await predicate($1)) }
  }

  /// Returns whether all elements satisfy a predicate, with a throwing closure, asynchronous or not.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func allSatisfy(
    @_CheckedAlone<Bool> _ predicate: (Element) async throws -> Bool
  ) async throws -> Bool {
    try await foldWaiting(true) { Fold.whileTrue(&$0, try await predicate($1)) }
  }

  /// Returns the least element by an order, the first of equals; `nil` if there is none.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> Element? {
    try await fold(nil) { (best: inout Element?, element) in
      if let kept = best, !(areInIncreasingOrder(element, kept)) { return true }
      best = .some(element)
      return true
    }
  }

  /// Returns the least element by an order, with a throwing or asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func min(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async throws -> Bool
  ) async throws -> Element? {
    try await foldWaiting(nil) { (best: inout Element?, element) in
      if let kept = best, !(try await areInIncreasingOrder(element, kept)) { return true }
      best = .some(element)
      return true
    }
  }

  /// Returns the greatest element by an order, the first of equals; `nil` if there is none.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) -> Bool
  ) async throws(Failure) -> Element? {
    try await fold(nil) { (best: inout Element?, element) in
      if let kept = best, !(areInIncreasingOrder(kept, element)) { return true }
      best = .some(element)
      return true
    }
  }

  /// Returns the greatest element by an order, with a throwing or asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func max(
    @_CheckedAlone<Bool> by areInIncreasingOrder: (Element, Element) async throws -> Bool
  ) async throws -> Element? {
    try await foldWaiting(nil) { (best: inout Element?, element) in
      if let kept = best, !(try await areInIncreasingOrder(kept, element)) { return true }
      best = .some(element)
      return true
    }
  }

  /// Returns whether an element equals a value.
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  nonisolated(nonsending) public func contains(
    _ element: Element
  ) async throws(Failure) -> Bool where Element: Equatable {
    try await fold(false) { Fold.untilTrue(&$0, $1 == element) }
  }

  /// Returns the least element, `nil` if there is none.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func min() async throws(Failure) -> Element?
  where Element: Comparable {
    try await min { $0 < $1 }
  }

  /// Returns the greatest element, `nil` if there is none.
  ///
  /// - Laziness: exhaustive.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func max() async throws(Failure) -> Element?
  where Element: Comparable {
    try await max { $0 < $1 }
  }
}
