// Every kind joins a map to lists: the inner lists are pulled through, not memoized.
extension LazyList {
  /// Returns the elements of the lists that a closure makes from each element.
  ///
  /// ```swift
  /// await LazyList([1, 2]).flatMap { LazyList.repeating($0, count: $0) }.array()
  /// // [1, 2, 2]
  /// ```
  ///
  /// - Laziness: searching, through empty lists.
  /// - Failure: a failure of an inner list is one of this list, at its position.
  ///
  /// Replaces `-flattenMap:`.
  @_alwaysEmitIntoClient
  public consuming func flatMap<T: Sendable>(
    @_CheckedAlone<LazyList<T, Failure>> _ transform:
      @escaping @Sendable (Element) -> LazyList<T, Failure>
  ) -> LazyList<T, Failure> {
    map(transform).joined()
  }

  /// Returns the elements of the lists, which may fail with any error, that a closure, throwing or not,
  /// makes from each element.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) throws -> LazyList<T, InnerFailure>
  ) -> LazyList<T, any Error> {
    map(transform).flattened()
  }

  /// Returns the elements of the lists that an asynchronous closure makes from each element.
  @_alwaysEmitIntoClient
  public consuming func flatMap<T: Sendable>(
    @_CheckedAlone<LazyList<T, Failure>> _ transform:
      @escaping @Sendable (Element) async -> LazyList<T, Failure>
  ) -> LazyList<T, Failure> {
    map(transform).joined()
  }

  /// Returns the elements of the lists that an asynchronous throwing closure makes from each element.
  @_alwaysEmitIntoClient
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) async throws -> LazyList<T, InnerFailure>
  ) -> LazyList<T, any Error> {
    map(transform).flattened()
  }

  /// Returns the elements of the sequences that a closure makes from each element.
  ///
  /// ```swift
  /// await LazyList([1, 2]).flatMap { [$0, $0] }.array()   // [1, 1, 2, 2]
  /// ```
  /// ![Two elements for each one, at its instant.](marbles-flatMap)
  ///
  /// - Laziness: searching, through empty sequences.
  @_alwaysEmitIntoClient
  public consuming func flatMap<S: Sequence & Sendable>(
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) -> S
  ) -> LazyList<S.Element, Failure> {
    map(transform).joined()
  }

  /// Returns the elements of the sequences that a throwing closure makes from each element.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func flatMap<S: Sequence & Sendable>(
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) throws -> S
  ) -> LazyList<S.Element, any Error> {
    map(transform).joined()
  }

  /// Returns the elements of the sequences that an asynchronous closure makes from each element.
  @_alwaysEmitIntoClient
  public consuming func flatMap<S: Sequence & Sendable>(
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) async -> S
  ) -> LazyList<S.Element, Failure> {
    map(transform).joined()
  }

  /// Returns the elements of the sequences that an asynchronous throwing closure makes from each
  /// element.
  @_alwaysEmitIntoClient
  public consuming func flatMap<S: Sequence & Sendable>(
    @_CheckedAlone<S> _ transform: @escaping @Sendable (Element) async throws -> S
  ) -> LazyList<S.Element, any Error> {
    map(transform).joined()
  }

  /// Returns the elements of the lists that a closure makes from each element, until it stops.
  ///
  /// Setting `stop` ends the result after the whole list that is returned with it. Returning `nil`
  /// ends it at once.
  ///
  /// ```swift
  /// let list = LazyList(1...).bind { number, stop in
  ///   stop = number == 3
  ///   return .repeating(number, count: 2)
  /// }
  /// await list.array()   // [1, 1, 2, 2, 3, 3]
  /// ```
  ///
  /// The closure is `@Sendable`: a state that it captures, such as a counter, needs a `Mutex` or an
  /// `Atomic`. To pass a state from element to element, give it to `reductions(_:_:)` before. A closure
  /// that may fail returns `.failing(error)`.
  ///
  /// - Laziness: searching, through empty lists.
  ///
  /// Replaces `-bind:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func bind<T: Sendable>(
    _ next: @escaping @Sendable (Element, inout Bool) -> LazyList<T, Failure>?
  ) -> LazyList<T, Failure> {
    transform(false) { .binding(next($1, &$0), $0) }.joined()
  }

  /// Returns the elements of the lists that an asynchronous closure makes from each element, until
  /// it stops.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func bind<T: Sendable>(
    _ next: @escaping @Sendable (Element, inout Bool) async -> LazyList<T, Failure>?
  ) -> LazyList<T, Failure> {
    transformInTask(false) { .binding(await next($1, &$0), $0) }.joined()
  }
}

extension Step {
  /// The rule of `bind`: returning no list ends it; `stop` makes this list the last.
  @_alwaysEmitIntoClient @inline(__always)
  static func binding(_ list: Element?, _ stop: Bool) -> Step {
    guard let list else { return .nothing(.end) }
    return stop ? .last(list) : .element(list)
  }
}
