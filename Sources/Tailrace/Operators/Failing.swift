extension LazyList where Failure == Never {
  /// Returns this list as one that can fail, so that it stands beside lists that do.
  ///
  /// ```swift
  /// let header = ["name", "price"].lazyList
  /// let rows: LazyList<String, ParseError> = header.failing(as: ParseError.self) + parsed
  /// ```
  ///
  /// It has the same cells.
  ///
  /// - Laziness: deferred.
  /// - Failure: none of its own.
  /// - Complexity: O(1).
  @inlinable
  public consuming func failing<E: Error>(as type: E.Type = E.self) -> LazyList<Element, E> {
    retyped()
  }

  /// Returns the pairs of the elements of this list and of one that can fail.
  @inlinable @_disfavoredOverload
  public consuming func zip<Other: Sendable, E: Error>(
    _ other: LazyList<Other, E>
  ) -> LazyList<(Element, Other), E> {
    failing(as: E.self).zip(other)
  }

  /// Returns the elements of the lists, which can fail, that this list, which cannot, consists of.
  @inlinable @_disfavoredOverload
  public consuming func joined<Inner, E: Error>() -> LazyList<Inner, E>
  where Element == LazyList<Inner, E> {
    flattened()
  }
}

extension LazyList {
  /// Returns this list as one that may fail in any way, so that it stands beside lists that do.
  ///
  /// ```swift
  /// let texts = LazyList<String, any Error>(["total"])
  /// let lines = parsed.failing() + texts   // parsed is a LazyList<String, ParseError>
  /// ```
  ///
  /// It has the same cells.
  ///
  /// - Laziness: deferred.
  /// - Failure: the list's own.
  /// - Complexity: O(1).
  @inlinable @_disfavoredOverload
  public consuming func failing(
    as type: (any Error).Type = (any Error).self
  ) -> LazyList<Element, any Error> {
    retyped()
  }

  /// Returns the pairs of the elements of this list and of one that cannot fail.
  @inlinable @_disfavoredOverload
  public consuming func zip<Other: Sendable>(
    _ other: LazyList<Other, Never>
  ) -> LazyList<(Element, Other), Failure> {
    zip(other.failing(as: Failure.self))
  }

  /// Returns the elements of the lists that this list consists of, where both fail in ways of their
  /// own.
  @inlinable @_disfavoredOverload
  public consuming func joined() -> LazyList<Element.Element, any Error> where Element: ListLike {
    flattened()
  }

  /// Returns the elements of the lists, which cannot fail, that this list consists of.
  @inlinable @_disfavoredOverload
  public consuming func joined<Inner>() -> LazyList<Inner, Failure>
  where Element == LazyList<Inner, Never> {
    flattened()
  }
}
