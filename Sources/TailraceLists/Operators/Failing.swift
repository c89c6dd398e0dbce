extension LazyList where Failure == Never {
  /// Returns this list as one that can fail, to combine it with lists that do.
  ///
  /// ```swift
  /// let header = ["name", "price"].lazyList
  /// let rows = header.setFailureType(to: ParseError.self) + parsed
  /// ```
  ///
  /// It shares the cells. Without an argument, the failure type is that of the other list:
  /// `header.setFailureType() + parsed`.
  ///
  /// - Laziness: deferred.
  /// - Failure: none of its own.
  /// - Complexity: O(1).
  @_alwaysEmitIntoClient
  public consuming func setFailureType<E: Error>(
    to type: E.Type = E.self
  ) -> LazyList<Element, E> {
    retyped()
  }

  /// Returns the pairs of the elements of this list and of one that can fail.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func zip<Other: Sendable, E: Error>(
    _ other: LazyList<Other, E>
  ) -> LazyList<(Element, Other), E> {
    setFailureType(to: E.self).zip(other)
  }

  /// Returns the elements of this list's lists, which can fail although this list cannot.
  @_alwaysEmitIntoClient
  public consuming func joined() -> LazyList<Element.Element, Element.Failure>
  where Element: _ListLike {
    flattened()
  }

  /// Returns the elements of this list's lists. None of them can fail.
  @_alwaysEmitIntoClient
  public consuming func joined() -> LazyList<Element.Element, Never>
  where Element: _ListLike, Element.Failure == Never {
    flattened()
  }

  /// Returns the elements of the lists, which can fail although this list cannot, that a closure
  /// makes from each element.
  ///
  /// ```swift
  /// let twice = LazyList(1...2).flatMap { _ in parsed }   // fails with a ParseError, as `parsed`
  /// ```
  ///
  /// - Laziness: searching, through empty lists.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) -> LazyList<T, InnerFailure>
  ) -> LazyList<T, InnerFailure> {
    map(transform).flattened()
  }

  /// Returns the elements of the lists, which can fail although this list cannot, that an
  /// asynchronous closure makes from each element.
  // None of the asynchronous kinds is disfavoured, for AsyncSequence has the same. So one that is
  // closer than each of the others stands below, for lists of which none can fail.
  @_alwaysEmitIntoClient
  public consuming func flatMap<T: Sendable, InnerFailure: Error>(
    @_CheckedAlone<LazyList<T, InnerFailure>> _ transform:
      @escaping @Sendable (Element) async -> LazyList<T, InnerFailure>
  ) -> LazyList<T, InnerFailure> {
    map(transform).flattened()
  }

  /// Returns the elements of the lists that an asynchronous closure makes from each element. None
  /// of them can fail.
  @_alwaysEmitIntoClient
  public consuming func flatMap<T: Sendable>(
    @_CheckedAlone<LazyList<T, Never>> _ transform:
      @escaping @Sendable (Element) async -> LazyList<T, Never>
  ) -> LazyList<T, Never> {
    map(transform).flattened()
  }
}

// If both fail with types of their own, the result may fail with any error.
extension LazyList {
  /// Returns this list as one that may fail with any error, to combine it with lists that do.
  ///
  /// ```swift
  /// let texts = LazyList<String, any Error>(["total"])
  /// let lines = parsed.setFailureType() + texts   // parsed is a LazyList<String, ParseError>
  /// ```
  ///
  /// It shares the cells.
  ///
  /// - Laziness: deferred.
  /// - Failure: the list's own.
  /// - Complexity: O(1).
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func setFailureType(
    to type: (any Error).Type = (any Error).self
  ) -> LazyList<Element, any Error> {
    retyped()
  }

  /// Returns the pairs of the elements of this list and of one that cannot fail.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func zip<Other: Sendable>(
    _ other: LazyList<Other, Never>
  ) -> LazyList<(Element, Other), Failure> {
    zip(other.setFailureType(to: Failure.self))
  }

  /// Returns the pairs of the elements of two lists that fail in different ways.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func zip<Other: Sendable, E: Error>(
    _ other: LazyList<Other, E>
  ) -> LazyList<(Element, Other), any Error> {
    widened().zip(other.widened())
  }

  /// Returns the elements of this list's lists, which cannot fail.
  @_alwaysEmitIntoClient
  public consuming func joined() -> LazyList<Element.Element, Failure>
  where Element: _ListLike, Element.Failure == Never {
    flattened()
  }

  /// Returns the elements of the lists, which cannot fail, that a closure makes from each element.
  @_alwaysEmitIntoClient @_disfavoredOverload
  public consuming func flatMap<T: Sendable>(
    @_CheckedAlone<LazyList<T, Never>> _ transform:
      @escaping @Sendable (Element) -> LazyList<T, Never>
  ) -> LazyList<T, Failure> {
    map(transform).flattened()
  }

  /// Returns the elements of the lists, which cannot fail, that an asynchronous closure makes from
  /// each element.
  @_alwaysEmitIntoClient
  public consuming func flatMap<T: Sendable>(
    @_CheckedAlone<LazyList<T, Never>> _ transform:
      @escaping @Sendable (Element) async -> LazyList<T, Never>
  ) -> LazyList<T, Failure> {
    map(transform).flattened()
  }

  /// Returns the elements of this list's lists, if both fail with types of their own.
  @_alwaysEmitIntoClient
  public consuming func joined() -> LazyList<Element.Element, any Error> where Element: _ListLike {
    flattened()
  }
}
