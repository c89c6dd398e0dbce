extension EagerList {
  /// Returns the elements of the lists that a closure makes from each element, until it stops.
  ///
  /// Setting `stop` ends the result after the whole list that is returned with it. Returning `nil`
  /// ends it at once. The closure does not run again after either.
  ///
  /// ```swift
  /// let list = EagerList(1...9).bind { number, stop in
  ///   stop = number == 2
  ///   return .repeating(number, count: 2)
  /// }
  /// list   // [1, 1, 2, 2]
  /// ```
  ///
  /// Replaces `-bind:`.
  @inlinable
  public func bind<T, Failure: Error>(
    _ next: (Element, inout Bool) throws(Failure) -> EagerList<T>?
  ) throws(Failure) -> EagerList<T> {
    try binding(next)
  }

  /// Returns the elements of the lists that an asynchronous closure makes from each element, until
  /// it stops.
  @inlinable @_disfavoredOverload
  nonisolated(nonsending) public func bind<T, Failure: Error>(
    _ next: nonisolated(nonsending) (Element, inout Bool) async throws(Failure) -> EagerList<T>?
  ) async throws(Failure) -> EagerList<T> {
    try await bindingInTurn(next)
  }

  @inlinable
  func binding<T, Failure: Error>(
    _ next: (Element, inout Bool) throws(Failure) -> EagerList<T>?
  ) throws(Failure) -> EagerList<T> {
    var results: [T] = []
    var stop = false
    for element in self {
      guard let list = try next(element, &stop) else { break }
      results.append(contentsOf: list)
      if stop { break }
    }
    return EagerList<T>(results)
  }

  @inlinable
  nonisolated(nonsending) func bindingInTurn<T, Failure: Error>(
    _ next: nonisolated(nonsending) (Element, inout Bool) async throws(Failure) -> EagerList<T>?
  ) async throws(Failure) -> EagerList<T> {
    var results: [T] = []
    var stop = false
    for element in self {
      guard let list = try await next(element, &stop) else { break }
      results.append(contentsOf: list)
      if stop { break }
    }
    return EagerList<T>(results)
  }
}
