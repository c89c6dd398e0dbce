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
  @inlinable @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) -> Bool
  ) -> LazyList {
    let source = Owned(Cursor(self))
    return LazyList(
      upstream: source,
      producer: { (demand, sink) in
        var patience = Patience()
        return source.state.drive(demand) { isIncluded($0) ? sink($0) : patience.lasts() }
      })
  }

  /// Returns the elements that satisfy a throwing predicate.
  @inlinable @_disfavoredOverload @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transform(()) { (_, element) in try isIncluded(element) ? .emit(element) : .skip }
  }

  /// Returns the elements that satisfy an asynchronous predicate.
  @inlinable @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async -> Bool
  ) -> LazyList {
    transformInTask(()) { (_, element) async throws(Failure) in
      await isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// Returns the elements that satisfy an asynchronous throwing predicate.
  @inlinable @inline(__always)
  public consuming func filter(
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(()) { (_, element) async throws in
      try await isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// Returns the results of a closure that are not `nil`.
  ///
  /// ```swift
  /// await LazyList(["1", "x", "3"]).compactMap { Int($0) }.array()   // [1, 3]
  /// ```
  /// ![An element that becomes nil is left out.](marbles-compactMap)
  ///
  /// - Laziness: searching.
  @inlinable @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) -> T?
  ) -> LazyList<T, Failure> {
    self.transform(()) { (_, element) throws(Failure) in Verdict(transform(element)) }
  }

  /// Returns the results of a throwing closure that are not `nil`.
  @inlinable @_disfavoredOverload @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) throws -> T?
  ) -> LazyList<T, any Error> {
    widened().transform(()) { (_, element) in Verdict(try transform(element)) }
  }

  /// Returns the results of an asynchronous closure that are not `nil`.
  @inlinable @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async -> T?
  ) -> LazyList<T, Failure> {
    transformInTask(()) { (_, element) async throws(Failure) in
      Verdict(await transform(element))
    }
  }

  /// Returns the results of an asynchronous throwing closure that are not `nil`.
  @inlinable @inline(__always)
  public consuming func compactMap<T: Sendable>(
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async throws -> T?
  ) -> LazyList<T, any Error> {
    widened().transformInTask(()) { (_, element) async throws in
      Verdict(try await transform(element))
    }
  }

  /// Returns the elements without one value.
  ///
  /// ```swift
  /// await LazyList([1, 0, 2]).ignoring(0).array()   // [1, 2]
  /// ```
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-ignore:`.
  @inlinable @inline(__always)
  public consuming func ignoring(_ element: Element) -> LazyList where Element: Equatable {
    filter { $0 != element }
  }

  /// Returns the elements without those that equal the one before them.
  ///
  /// ```swift
  /// await LazyList([1, 1, 2, 1]).removeDuplicates().array()   // [1, 2, 1]
  /// ```
  /// ![Of equal neighbours, the first.](marbles-removeDuplicates)
  ///
  /// - Laziness: searching.
  ///
  /// Replaces `-distinctUntilChanged`.
  @inlinable @inline(__always)
  public consuming func removeDuplicates() -> LazyList where Element: Equatable {
    removeDuplicates { $0 == $1 }
  }

  /// Returns the elements without those that a predicate calls the same as the last one kept.
  ///
  /// ```swift
  /// await LazyList([1, 2, 11]).removeDuplicates { $0 / 10 == $1 / 10 }.array()   // [1, 11]
  /// ```
  ///
  /// - Laziness: searching.
  @inlinable @inline(__always)
  public consuming func removeDuplicates(
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) -> Bool
  ) -> LazyList {
    transform(Element?.none) { (kept, element) throws(Failure) in
      if let last = kept, areSame(last, element) { return .skip }
      kept = .some(element)
      return .emit(element)
    }
  }

  /// Returns the elements without those that a throwing predicate calls the same as the last one
  /// kept.
  @inlinable @_disfavoredOverload @inline(__always)
  public consuming func removeDuplicates(
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transform(Element?.none) { (kept, element) in
      if let last = kept, try areSame(last, element) { return .skip }
      kept = .some(element)
      return .emit(element)
    }
  }

  /// Returns the elements without those that an asynchronous predicate calls the same as the last
  /// one kept.
  @inlinable @inline(__always)
  public consuming func removeDuplicates(
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) async -> Bool
  ) -> LazyList {
    transformInTask(Element?.none) { (kept, element) async throws(Failure) in
      if let last = kept, await areSame(last, element) { return .skip }
      kept = .some(element)
      return .emit(element)
    }
  }

  /// Returns the elements without those that an asynchronous throwing predicate calls the same as
  /// the last one kept.
  @inlinable @inline(__always)
  public consuming func removeDuplicates(
    @_CheckedAlone<Bool> by areSame: @escaping @Sendable (Element, Element) async throws -> Bool
  ) -> LazyList<Element, any Error> {
    widened().transformInTask(Element?.none) { (kept, element) async throws in
      if let last = kept, try await areSame(last, element) { return .skip }
      kept = .some(element)
      return .emit(element)
    }
  }
}

extension Verdict {
  /// Emits what there is.
  @inlinable
  init(_ output: Output?) {
    self = if let output { .emit(output) } else { .skip }
  }
}
