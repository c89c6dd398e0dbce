extension LazyList {
  /// Lends the elements to a closure where they are, in runs, each of one element or more.
  ///
  /// ```swift
  /// var sum = 0
  /// await [1, 2, 3].lazyList.forEachSpan { span in
  ///   for index in span.indices { sum += span[index] }
  /// }
  /// sum   // 6
  /// ```
  ///
  /// Evaluated elements are lent as they lie in memory; the elements of an array are one run. Where
  /// nothing is evaluated, a run is computed at once, of at most 128 elements. How a list is cut into
  /// runs is not promised, and may be different the next time.
  ///
  /// - Laziness: exhaustive.
  /// - Isolation: the closure runs in the caller's.
  /// - Failure: comes after the elements before it.
  /// - Cancellation: as every question, it throws `CancellationError` where `Failure` is `any Error`,
  ///   and goes on otherwise.
  /// - Complexity: a loop over the run costs what it does over an array. A list that nobody else holds
  ///   is read in constant memory.
  @inlinable
  nonisolated(nonsending) public consuming func forEachSpan(
    _ body: (Span<Element>) -> Void
  ) async throws(Failure) {
    var reader = Reader(cells: self)
    while true {
      while reader.cursor.withNextCells({ body($0.span) }) {}
      guard try await reader.waitForRun() else { return }
    }
  }

  /// Lends the elements to a throwing closure where they are, in runs.
  ///
  /// The run in which the closure throws is the last; its elements were all evaluated.
  @inlinable
  nonisolated(nonsending) public consuming func forEachSpan(
    _ body: (Span<Element>) throws -> Void
  ) async throws {
    var reader = Reader(cells: self)
    while true {
      while try reader.cursor.withNextCells({ try body($0.span) }) {}
      guard try await reader.waitForRun() else { return }
    }
  }
}

extension Reader {
  /// A reader of runs. It has cells for all that it reads, and so it takes no producer over; and it
  /// steps back onto the element that it has waited for.
  @inlinable
  init(cells list: consuming LazyList<Element, Failure>) {
    self.init(list, wantsAll: true)
    cursor.takesOver = false
    cursor.takesOut = false
  }

  /// Waits until there are cells again. False at the end.
  @inlinable
  nonisolated(nonsending) mutating func waitForRun() async throws(Failure) -> Bool {
    guard try await cursor.nextOrFailure(Failure.self) != nil else { return false }
    // The run begins with the element that was waited for.
    cursor.index &-= 1
    return true
  }
}
