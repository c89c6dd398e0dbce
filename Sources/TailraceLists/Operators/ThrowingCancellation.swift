extension LazyList {
  /// This list, for queries that end when their task is cancelled.
  ///
  /// A query of a list that cannot fail waits for the true answer, even in a cancelled task. With
  /// `throwingCancellation` it throws `CancellationError` instead, at the first element that is not computed:
  ///
  /// ```swift
  /// let prime = try await naturals.throwingCancellation.first { isMersennePrime($0) }
  /// ```
  ///
  /// It is the same list: elements computed through it are computed for every reader. A query
  /// retains no cells of its own; keeping the result of `throwingCancellation` to read it again does.
  ///
  /// - Laziness: deferred.
  /// - Failure: the list's own, if it has one.
  /// - Cancellation: throws `CancellationError`. See <doc:Cancellation>.
  @_alwaysEmitIntoClient
  public var throwingCancellation: LazyList<Element, any Error> {
    consuming get { widened() }
  }
}

extension Memo {
  /// This memo, for tasks that stop waiting when cancelled.
  ///
  /// ```swift
  /// let settings = try await settings.throwingCancellation.value()
  /// ```
  ///
  /// - Cancellation: `value()` throws `CancellationError`; the computation continues for other tasks.
  public var throwingCancellation: Memo<Value, any Error> {
    if let value = peek { return Memo<Value, any Error>(value) }
    return Memo<Value, any Error>(list: list.widened())
  }
}
