// What is said where lists fail in different ways. An operator on both kinds would be tried in every
// expression, and cost the compiler several times as much; what is unavailable is tried last, and costs
// nothing where the code is right.

extension LazyList where Failure == Never {
  /// The way out where the right list can fail.
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
  /// The way out where only the left list can fail.
  @available(
    *, unavailable,
    message: """
      the right list cannot fail, and the left one can: write 'left + right.setFailureType()'
      """
  )
  public static func + (left: LazyList, right: LazyList<Element, Never>) -> LazyList {
    fatalError("a + of lists that fail in different ways was called")
  }

  /// The way out where both lists can fail.
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

  /// The way out where the list can fail already.
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
