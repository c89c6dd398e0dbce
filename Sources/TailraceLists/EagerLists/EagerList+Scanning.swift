import TailraceSupport

extension EagerList {
  /// Returns the results of combining the elements so far, without the start itself.
  ///
  /// ```swift
  /// EagerList(1...4).reductions(0, +)   // [1, 3, 6, 10]
  /// ```
  @inlinable
  public func reductions<Result, Failure: Error>(
    _ initial: Result, @_CheckedAlone<Result> _ combine: (Result, Element) throws(Failure) -> Result
  ) throws(Failure) -> EagerList<Result> {
    try reductions(into: initial) { (result, element) throws(Failure) in
      result = try combine(result, element)
    }
  }

  /// Returns the results of combining the elements so far with an asynchronous closure.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func reductions<Result, Failure: Error>(
    _ initial: Result,
    @_CheckedAlone<Result> _ combine:
      nonisolated(nonsending) (Result, Element) async throws(Failure) -> Result
  ) async throws(Failure) -> EagerList<Result> {
    var result = initial
    return try await mapping { (element) async throws(Failure) in
      result = try await combine(result, element)
      return result
    }
  }

  /// Returns the results of updating a value with the elements so far, without the start itself.
  ///
  /// ```swift
  /// EagerList(1...3).reductions(into: []) { $0.append($1) }   // [[1], [1, 2], [1, 2, 3]]
  /// ```
  @inlinable
  public func reductions<Result, Failure: Error>(
    into initial: Result, _ update: (inout Result, Element) throws(Failure) -> Void
  ) throws(Failure) -> EagerList<Result> {
    var result = initial
    return try map { (element) throws(Failure) in
      try update(&result, element)
      return result
    }
  }

  /// Returns the results of updating a value with the elements so far, by an asynchronous closure.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func reductions<Result, Failure: Error>(
    into initial: Result,
    _ update: nonisolated(nonsending) (inout Result, Element) async throws(Failure) -> Void
  ) async throws(Failure) -> EagerList<Result> {
    var result = initial
    return try await mapping { (element) async throws(Failure) in
      try await update(&result, element)
      return result
    }
  }

  /// Returns the elements with their positions, counted from 0.
  ///
  /// ```swift
  /// EagerList(["a", "b"]).enumerated()   // [(offset: 0, element: "a"), (offset: 1, element: "b")]
  /// ```
  @inlinable
  public func enumerated() -> EagerList<(offset: Int, element: Element)> {
    EagerList<(offset: Int, element: Element)>(Array(slice.enumerated()))
  }

  /// Returns the pairs of each element and the one after it.
  ///
  /// ```swift
  /// EagerList(1...3).adjacentPairs()   // [(1, 2), (2, 3)]
  /// ```
  @inlinable
  public func adjacentPairs() -> EagerList<(Element, Element)> { zip(tail) }

  /// Returns eager lists of `count` elements, which share the storage; the last may be shorter.
  ///
  /// ```swift
  /// EagerList(1...5).chunks(ofCount: 2)   // [[1, 2], [3, 4], [5]]
  /// ```
  ///
  /// - Parameters:
  ///   - count: 1 or more; any other count is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @inlinable
  public func chunks(ofCount count: Int, file: StaticString = #fileID, line: UInt = #line)
    -> EagerList<EagerList>
  {
    require(
      count > 0, "EagerList.chunks(ofCount:) takes a count of 1 or more, not \(count)", file: file,
      line: line)
    var chunks: [EagerList] = []
    var rest = self
    while !rest.isEmpty {
      chunks.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return EagerList<EagerList>(chunks)
  }
}
