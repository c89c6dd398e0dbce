extension LazyList {
  /// Returns the elements combined from the end on; folds the rest only if the closure awaits it.
  ///
  /// ```swift
  /// await LazyList(1...3).foldRight(0) { first, rest in first - (await rest.value()) }
  /// // 2
  /// await LazyList(1...).foldRight(false) { first, rest in
  ///   if first > 10 { true } else { await rest.value() }
  /// }   // true; of an infinite list
  /// ```
  ///
  /// - Laziness: stepwise, driven by the closure.
  /// - Complexity: a fold that awaits every rest keeps one frame per element, on the heap.
  ///
  /// Replaces `-foldRightWithStart:reduce:`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public consuming func foldRight<Result>(
    _ initial: Result,
    _ combine:
      nonisolated(nonsending) @escaping (Element, Rest<Result>) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    guard let (head, tail) = try await uncons() else { return initial }
    return try await combine(
      head,
      Rest { () async throws(Failure) in try await tail.foldRight(initial, combine) })
  }

  /// Returns the elements combined from the end on by a throwing closure; folds the rest only if
  /// the closure awaits it.
  @_alwaysEmitIntoClient @_disfavoredOverload
  nonisolated(nonsending) public consuming func foldRight<Result>(
    _ initial: Result,
    _ combine:
      nonisolated(nonsending) @escaping (
        Element, LazyList<Element, any Error>.Rest<Result>
      ) async throws -> Result
  ) async throws -> Result {
    guard let (head, tail) = try await uncons() else { return initial }
    return try await combine(head, .init { try await tail.foldRight(initial, combine) })
  }

  /// The fold of everything after an element: computed when it is first awaited, and kept,
  /// unless the closure has thrown.
  public final class Rest<Result> {
    @usableFromInline typealias Fold = nonisolated(nonsending) () async throws(Failure) -> Result

    /// Either is there. Not an enumeration: its code to be copied would be in every program.
    @usableFromInline var fold: Fold?
    @usableFromInline var result: Result?

    @_alwaysEmitIntoClient
    init(_ fold: @escaping Fold) { self.fold = fold }

    /// Returns the fold of the rest.
    @_alwaysEmitIntoClient
    nonisolated(nonsending) public func value() async throws(Failure) -> Result {
      guard let fold else {
        guard case .some(let result) = result else {
          preconditionFailure("a rest has neither its fold nor a result")
        }
        return result
      }
      let result = try await fold()
      self.result = .some(result)
      self.fold = nil
      return result
    }
  }
}
