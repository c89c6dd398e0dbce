extension LazyList {
  /// Returns the elements that satisfy a predicate.
  ///
  /// ```swift
  /// await LazyList(1...6).filter { $0 % 2 == 0 }.array()   // [2, 4, 6]
  /// ```
  /// ![The even elements, when they are there.](marbles-filter)
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-filter:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) -> Bool
  ) -> LazyList {
    let source = Owned(Cursor(self))
    return LazyList(
      upstream: source,
      producer: { (demand, sink) in
        var patience = Patience()
        return source.state.push(demand) { isIncluded($0) ? sink($0) : patience.lasts() }
      })
  }

  /// Returns the elements that satisfy a throwing predicate.
  @_alwaysEmitIntoClient @_disfavoredOverload @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transform(()) { try isIncluded($1) ? .element($1) : .skip }
  }

  /// Returns the elements that satisfy an asynchronous predicate.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async -> Bool
  ) -> LazyList {
    transformInTask(()) { await isIncluded($1) ? .element($1) : .skip }
  }

  /// Returns the elements that satisfy an asynchronous throwing predicate.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(()) { try await isIncluded($1) ? .element($1) : .skip }
  }

  /// Returns the results of a closure that are not `nil`.
  ///
  /// ```swift
  /// await LazyList(["1", "x", "3"]).compactMap { Int($0) }.array()   // [1, 3]
  /// ```
  /// ![An element that becomes nil is left out.](marbles-compactMap)
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) -> T?
  ) -> LazyList<T, Failure> {
    self.transform(()) { Step(unlessNil: transform($1)) }
  }

  /// Returns the results of a throwing closure that are not `nil`.
  @_alwaysEmitIntoClient @_disfavoredOverload @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) throws -> T?
  ) -> LazyList<T, any Error> {
    widened().transform(()) { Step(unlessNil: try transform($1)) }
  }

  /// Returns the results of an asynchronous closure that are not `nil`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async -> T?
  ) -> LazyList<T, Failure> {
    transformInTask(()) { Step(unlessNil: await transform($1)) }
  }

  /// Returns the results of an asynchronous throwing closure that are not `nil`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async throws -> T?
  ) -> LazyList<T, any Error> {
    widened().transformInTask(()) { Step(unlessNil: try await transform($1)) }
  }

  /// Returns the elements that do not equal a value.
  ///
  /// ```swift
  /// await LazyList([1, 0, 2]).ignoring(0).array()   // [1, 2]
  /// ```
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-ignore:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func ignoring(_ element: Element) -> LazyList where Element: Equatable {
    filter { $0 != element }
  }

  /// Returns the elements that do not equal the one before them.
  ///
  /// ```swift
  /// await LazyList([1, 1, 2, 1]).removeDuplicates().array()   // [1, 2, 1]
  /// ```
  /// ![Of equal neighbours, the first.](marbles-removeDuplicates)
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-distinctUntilChanged`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func removeDuplicates() -> LazyList where Element: Equatable {
    removeDuplicates { $0 == $1 }
  }

  /// Returns the elements that differ, by a predicate, from the last one kept.
  ///
  /// ```swift
  /// await LazyList([1, 2, 11]).removeDuplicates { $0 / 10 == $1 / 10 }.array()
  /// // [1, 11]
  /// ```
  ///
  /// - Laziness: searching.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func removeDuplicates(
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) -> Bool
  ) -> LazyList {
    transform(nil) { .keeping(&$0, $1, $0.satisfies(areSame, with: $1)) }
  }

  /// Returns the elements that differ, by a throwing or asynchronous predicate, from the last one
  /// kept.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func removeDuplicates(
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(nil) { .keeping(&$0, $1, try await $0.satisfies(areSame, with: $1)) }
  }
}

// MARK: Rules

extension Step {
  /// Gives a value that is not `nil`.
  @_alwaysEmitIntoClient
  init(unlessNil output: Element?) {
    self = if let output { .element(output) } else { .skip }
  }

  /// The rule of `removeDuplicates`.
  @_alwaysEmitIntoClient
  static func keeping(_ kept: inout Element?, _ element: Element, _ isSame: Bool) -> Step {
    if isSame { return .skip }
    kept = .some(element)
    return .element(element)
  }
}

extension Optional {
  /// Whether there is a value that satisfies a predicate with another one.
  @_alwaysEmitIntoClient
  func satisfies<E: Error>(
    _ predicate: (Wrapped, Wrapped) throws(E) -> Bool, with other: Wrapped
  ) throws(E) -> Bool {
    if let self { try predicate(self, other) } else { false }
  }

  /// As above, with an asynchronous predicate.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func satisfies<E: Error>(
    _ predicate: @Sendable (Wrapped, Wrapped) async throws(E) -> Bool, with other: Wrapped
  ) async throws(E) -> Bool where Wrapped: Sendable {
    if let self { try await predicate(self, other) } else { false }
  }
}
