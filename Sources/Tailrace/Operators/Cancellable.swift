extension LazyList {
  /// This list, for questions that a cancelled task leaves.
  ///
  /// A question to a list that cannot fail waits for the true answer, also in a cancelled task. Asked
  /// like this it throws `CancellationError` instead, at the first element that is not evaluated:
  ///
  /// ```swift
  /// let prime = try await naturals.cancellable.first { isMersennePrime($0) }
  /// ```
  ///
  /// It is the list itself: what is evaluated on the way is evaluated for everybody. A question keeps
  /// no cells of its own; to keep the result of `cancellable` and read it again does.
  ///
  /// - Laziness: deferred.
  /// - Failure: the list's own, if it has one.
  /// - Cancellation: throws `CancellationError`. See <doc:Cancellation>.
  @inlinable
  public var cancellable: LazyList<Element, any Error> {
    consuming get { widened() }
  }
}

extension Memo {
  /// This memo, for tasks that leave when they are cancelled.
  ///
  /// ```swift
  /// let settings = try await settings.cancellable.value()
  /// ```
  ///
  /// - Cancellation: `value()` throws `CancellationError`, and the computation goes on for others.
  public var cancellable: Memo<Value, any Error> {
    if let value = peek { return Memo<Value, any Error>(value) }
    return Memo<Value, any Error>(list: list.widened())
  }
}
