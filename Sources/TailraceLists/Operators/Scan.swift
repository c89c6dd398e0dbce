import TailraceSupport

extension LazyList {
  /// Returns the results of combining the elements so far, without the start itself.
  ///
  /// ```swift
  /// await LazyList(1...4).reductions(0, +).array()   // [1, 3, 6, 10]
  /// ```
  /// ![The sum so far, with each element.](marbles-reductions)
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `-scanWithStart:reduce:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func reductions<Result: Sendable>(
    _ initial: Result,
    @_CheckedAlone<Result> _ combine: @escaping @Sendable (Result, Element) -> Result
  ) -> LazyList<Result, Failure> {
    transform(initial) { .scanning(&$0, combine($0, $1)) }
  }

  /// Returns the results of combining the elements so far with a throwing or asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func reductions<Result: Sendable>(
    _ initial: Result,
    @_CheckedAlone<Result> _ combine: @escaping @Sendable (Result, Element) async throws -> Result
  ) -> LazyList<Result, any Error> {
    widened().transformInTask(initial) { .scanning(&$0, try await combine($0, $1)) }
  }

  /// Returns the results of updating a value with the elements so far, without the start itself.
  ///
  /// ```swift
  /// await LazyList(1...3).reductions(into: []) { $0.append($1) }.array()
  /// // [[1], [1, 2], [1, 2, 3]]
  /// ```
  ///
  /// - Laziness: stepwise.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func reductions<Result: Sendable>(
    into initial: Result, _ update: @escaping @Sendable (inout Result, Element) -> Void
  ) -> LazyList<Result, Failure> {
    transform(initial) { (result, element) in
      update(&result, element)
      return .element(result)
    }
  }

  /// Returns the results of updating a value with the elements so far, by a throwing or
  /// asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func reductions<Result: Sendable>(
    into initial: Result,
    _ update: @escaping @Sendable (inout Result, Element) async throws -> Void
  ) -> LazyList<Result, any Error> {
    widened().transformInTask(initial) { (result, element) in
      try await update(&result, element)
      return .element(result)
    }
  }

  /// Returns the elements with their positions, counted from 0.
  ///
  /// ```swift
  /// await LazyList(["a", "b"]).enumerated().array()
  /// // [(offset: 0, element: "a"), (offset: 1, element: "b")]
  /// ```
  /// ![Each element with its number.](marbles-enumerated)
  ///
  /// - Laziness: stepwise.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func enumerated() -> LazyList<(offset: Int, element: Element), Failure> {
    transform(0) { (position, element) throws(Failure) in
      defer { position += 1 }
      return .element((offset: position, element: element))
    }
  }

  /// Returns the pairs of each element and the one after it.
  ///
  /// ```swift
  /// await LazyList(1...3).adjacentPairs().array()   // [(1, 2), (2, 3)]
  /// ```
  /// ![From the second element on, a pair with each.](marbles-adjacentPairs)
  ///
  /// - Laziness: stepwise, and one more for the first pair.
  ///
  /// Replaces `-combinePreviousWithStart:reduce:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func adjacentPairs() -> LazyList<(Element, Element), Failure> {
    transform(Element?.none) { (previous, element) throws(Failure) in
      defer { previous = .some(element) }
      guard let previous else { return .skip }
      return .element((previous, element))
    }
  }

  /// Returns the elements in arrays of a length; the last one may be shorter.
  ///
  /// ```swift
  /// await LazyList(1...5).chunks(ofCount: 2).array()   // [[1, 2], [3, 4], [5]]
  /// ```
  /// ![A chunk comes with its last element, the rest with the end.](marbles-chunks)
  ///
  /// - Laziness: stepwise, `count` elements for each array.
  /// - Parameter count: 1 or more; any other count is a programmer's error and traps.
  @_alwaysEmitIntoClient
  public consuming func chunks(ofCount count: Int) -> LazyList<[Element], Failure> {
    require(
      count > 0, "LazyList.chunks(ofCount:) takes a count of 1 or more, not \(count)")
    return stage([Element]()) { (chunk, source) in
      var patience = Patience()
      let ending: Ending<[Element]> = source.push(source.demand) {
        chunk.append($0)
        return chunk.count < count && patience.lasts()
      }
      if chunk.count == count {
        defer { chunk = [] }
        return .element(chunk)
      }
      switch ending {
      case .nothing(.end) where !chunk.isEmpty: return .last(chunk)
      case .nothing(let absence): return .nothing(absence)
      case .stopped, .become: return .skip
      }
    }
  }
}

extension Step {
  /// The rule of `reductions(_:_:)`.
  @_alwaysEmitIntoClient @inline(__always)
  static func scanning(_ result: inout Element, _ next: Element) -> Step {
    result = next
    return .element(next)
  }
}
