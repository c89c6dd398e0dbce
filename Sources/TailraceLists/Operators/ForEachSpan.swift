extension LazyList {
  /// Lends the elements to a closure in place, in runs of one element or more.
  ///
  /// ```swift
  /// var sum = 0
  /// await [1, 2, 3].lazyList.forEachSpan { span in
  ///   for index in span.indices { sum += span[index] }
  /// }
  /// sum   // 6
  /// ```
  ///
  /// Evaluated elements are lent as they lie in memory; the elements of an array are one run.
  /// Elements that are not computed yet are computed in runs of at most 128. The division into runs is not
  /// promised, and may change the next time.
  ///
  /// - Laziness: exhaustive.
  /// - Isolation: the closure runs in the caller's.
  /// - Failure: reported after the elements before it.
  /// - Cancellation: as every query, it throws `CancellationError` if `Failure` is `any Error`,
  ///   `Failure.cancelled` if it is a ``CancellableFailure``, and continues otherwise.
  /// - Complexity: a loop over the run costs what it does over an array. A list without another
  ///   owner is read in constant memory.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func forEachSpan(
    _ body: (Span<Element>) -> Void
  ) async throws(Failure) {
    var reader = Reader<Element, Failure, Failure>(cells: self)
    while true {
      while reader.cursor.withNextCells({ body($0.span) }) {}
      guard try await reader.waitForRun() else { return }
    }
  }

  /// Lends the elements to a throwing closure in place, in runs.
  ///
  /// The run in which the closure throws is the last; all its elements were computed.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func forEachSpan(
    _ body: (Span<Element>) throws -> Void
  ) async throws {
    var reader = Reader<Element, any Error, Failure>(cells: self)
    while true {
      while try reader.cursor.withNextCells({ try body($0.span) }) {}
      guard try await reader.waitForRun() else { return }
    }
  }
}

extension Reader {
  /// A reader of runs. It needs cells for all that it reads, so it takes over no producer. It steps
  /// back onto the element that it waited for.
  @_alwaysEmitIntoClient
  init(cells list: consuming LazyList<Element, Source>) {
    self.init(list, wants: .all)
    cursor.takesOver = false
    cursor.takesOut = false
  }

  /// Waits until there are more cells. False at the end.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) mutating func waitForRun() async throws(Failure) -> Bool {
    guard try await nextWaiting() != nil else { return false }
    // The run begins with the awaited element.
    cursor.index &-= 1
    return true
  }
}
