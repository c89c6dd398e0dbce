// Messages for lists that fail in different ways. The compiler would try an operator on both kinds
// in every expression, at several times the cost. It tries unavailable ones last, so they cost
// nothing in correct code.

extension LazyList where Failure == Never {
  /// The message if the right list can fail.
  @available(
    *, unavailable,
    message: """
      the left list cannot fail, and the right one can: write 'left.setFailureType() + right'
      """
  )
  public static func + <E: Error>(
    left: LazyList, right: LazyList<Element, E>
  ) -> LazyList<Element, E> {
    fatalError("a + of lists that fail in different ways was called")
  }
}

extension LazyList {
  /// The message if only the left list can fail.
  @available(
    *, unavailable,
    message: """
      the right list cannot fail, and the left one can: write 'left + right.setFailureType()'
      """
  )
  public static func + (left: LazyList, right: LazyList<Element, Never>) -> LazyList {
    fatalError("a + of lists that fail in different ways was called")
  }

  /// The message if both lists can fail.
  @available(
    *, unavailable,
    message: """
      these lists fail in different ways: 'left.setFailureType() + right.setFailureType()' fails in \
      any way, and 'mapFailure(_:)' gives both the same failure
      """
  )
  public static func + <E: Error>(
    left: LazyList, right: LazyList<Element, E>
  ) -> LazyList<Element, any Error> {
    fatalError("a + of lists that fail in different ways was called")
  }

  /// The message if the list can fail already.
  @available(
    *, unavailable,
    message: """
      a list that can fail is no list that fails with another type: 'setFailureType()' lets it fail \
      in any way, and 'mapFailure(_:)' changes its failure
      """
  )
  public func setFailureType<E: Error>(to type: E.Type = E.self) -> LazyList<Element, E> {
    fatalError("setFailureType(to:) was called on a list that can fail")
  }
}

// The same for operators whose result fails in another way than is expected: without these, the
// compiler would offer operators of AsyncSequence. Each stands for all four kinds of closures.
extension LazyList {
  /// The message if the result has another failure than is expected.
  @available(
    *, unavailable,
    message: """
      the result has another failure than the expected type: 'map(failingAs:_:)' names the one of \
      the closure, and 'setFailureType(to:)' and 'mapFailure(_:)' change the one of a list
      """
  )
  public func map<T: Sendable, E: Error>(
    _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, E> {
    fatalError("a map whose result fails in another way was called")
  }

  /// The message if the result has another failure than is expected.
  @available(
    *, unavailable,
    message: """
      the result has another failure than the expected type: 'map(failingAs:_:)' with 'compacted()' \
      names the one of the closure, and 'setFailureType(to:)' and 'mapFailure(_:)' change the one of \
      a list
      """
  )
  public func compactMap<T: Sendable, E: Error>(
    _ transform: @escaping @Sendable (Element) async throws -> T?
  ) -> LazyList<T, E> {
    fatalError("a compactMap whose result fails in another way was called")
  }

  /// The message if the result has another failure than is expected.
  @available(
    *, unavailable,
    message: """
      the result has another failure than the expected type: 'map(failingAs:_:)' with 'compacted()' \
      names the one of the closure, and 'setFailureType(to:)' and 'mapFailure(_:)' change the one of \
      a list
      """
  )
  public func filter<E: Error>(
    _ isIncluded: @escaping @Sendable (Element) async throws -> Bool
  ) -> LazyList<Element, E> {
    fatalError("a filter whose result fails in another way was called")
  }
}
