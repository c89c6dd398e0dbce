// Operators whose closures throw errors of one type, which the call says. An overload that found the
// type out would be tried in every chain, and cost the compiler a fifth of its time in some; a label
// costs nothing where it is not written.

extension LazyList where Failure == Never {
  /// The results of a closure for each element, in a list that fails as the closure does.
  ///
  /// ```swift
  /// let numbers = words.lazyList.map(failingAs: ParseError.self) { word throws(ParseError) in
  ///   try parse(word)
  /// }   // a LazyList<Int, ParseError>
  /// ```
  ///
  /// A closure says `throws(ParseError)` itself, or the compiler takes it for one that throws
  /// anything;
  /// the name of a function is enough: `words.lazyList.map(failingAs: ParseError.self, parse)`.
  ///
  /// - Laziness: stepwise.
  /// - Failure: an error of the closure is the fate of its element, and the end of the list.
  @inlinable
  public consuming func map<T: Sendable, E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws(E) -> T
  ) -> LazyList<T, E> {
    setFailureType(to: type).transform(()) { (_, element) throws(E) in .emit(try transform(element))
    }
  }

  /// The results of an asynchronous closure for each element, in a list that fails as it does.
  @inlinable
  public consuming func map<T: Sendable, E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws(E) -> T
  ) -> LazyList<T, E> {
    setFailureType(to: type).mapInTask(transform)
  }

  /// The elements that satisfy a predicate, in a list that fails as it does.
  @inlinable
  public consuming func filter<E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) throws(E) -> Bool
  ) -> LazyList<Element, E> {
    setFailureType(to: type).transform(()) { (_, element) throws(E) in
      try isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// The elements that satisfy an asynchronous predicate, in a list that fails as it does.
  @inlinable
  public consuming func filter<E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async throws(E) -> Bool
  ) -> LazyList<Element, E> {
    setFailureType(to: type).transformInTask(()) { (_, element) async throws(E) in
      try await isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// The results of a closure that are not `nil`, in a list that fails as it does.
  @inlinable
  public consuming func compactMap<T: Sendable, E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) throws(E) -> T?
  ) -> LazyList<T, E> {
    setFailureType(to: type).transform(()) { (_, element) throws(E) in
      Verdict(try transform(element))
    }
  }

  /// The results of an asynchronous closure that are not `nil`, in a list that fails as it does.
  @inlinable
  public consuming func compactMap<T: Sendable, E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async throws(E) -> T?
  ) -> LazyList<T, E> {
    setFailureType(to: type).transformInTask(()) { (_, element) async throws(E) in
      Verdict(try await transform(element))
    }
  }
}

// Where the list itself fails so.
extension LazyList {
  /// The results of a closure that fails as the list does for each element.
  @inlinable
  public consuming func map<T: Sendable>(
    failingAs type: Failure.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws(Failure) -> T
  ) -> LazyList<T, Failure> {
    self.transform(()) { (_, element) throws(Failure) in .emit(try transform(element)) }
  }

  /// The results of an asynchronous closure that fails as the list does for each element.
  @inlinable
  public consuming func map<T: Sendable>(
    failingAs type: Failure.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws(Failure) -> T
  ) -> LazyList<T, Failure> {
    mapInTask(transform)
  }

  /// The elements that satisfy a predicate that fails as the list does.
  @inlinable
  public consuming func filter(
    failingAs type: Failure.Type,
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) throws(Failure) -> Bool
  ) -> LazyList<Element, Failure> {
    self.transform(()) { (_, element) throws(Failure) in
      try isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// The elements that satisfy an asynchronous predicate that fails as the list does.
  @inlinable
  public consuming func filter(
    failingAs type: Failure.Type,
    @_CheckedAlone<Bool> _ isIncluded: @escaping @Sendable (Element) async throws(Failure) -> Bool
  ) -> LazyList<Element, Failure> {
    self.transformInTask(()) { (_, element) async throws(Failure) in
      try await isIncluded(element) ? .emit(element) : .skip
    }
  }

  /// The results of a closure that fails as the list does that are not `nil`.
  @inlinable
  public consuming func compactMap<T: Sendable>(
    failingAs type: Failure.Type,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) throws(Failure) -> T?
  ) -> LazyList<T, Failure> {
    self.transform(()) { (_, element) throws(Failure) in Verdict(try transform(element)) }
  }

  /// The results of an asynchronous closure that fails as the list does that are not `nil`.
  @inlinable
  public consuming func compactMap<T: Sendable>(
    failingAs type: Failure.Type,
    @_CheckedAlone<T?> _ transform: @escaping @Sendable (Element) async throws(Failure) -> T?
  ) -> LazyList<T, Failure> {
    self.transformInTask(()) { (_, element) async throws(Failure) in
      Verdict(try await transform(element))
    }
  }
}
