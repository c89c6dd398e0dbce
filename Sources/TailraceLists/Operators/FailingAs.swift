// A map whose closure throws one error type, which the call names. The compiler would try an overload
// that infers it in every chain, in some for a fifth of its time. An unused label costs nothing.

extension LazyList where Failure == Never {
  /// The results of a closure for each element, in a list with the closure's failure type.
  ///
  /// ```swift
  /// let numbers = words.lazyList.map(failingAs: ParseError.self) {
  ///   word throws(ParseError) in
  ///   try parse(word)
  /// }   // a LazyList<Int, ParseError>
  /// ```
  ///
  /// Write `throws(ParseError)` in the closure; without it the compiler assumes that it throws any
  /// error. A function's name is enough: `words.lazyList.map(failingAs: ParseError.self, parse)`.
  /// To leave out elements, give `nil` for them: `map(failingAs: …) { … }.compacted()`.
  ///
  /// - Laziness: stepwise.
  /// - Failure: an error of the closure replaces its element and ends the list.
  @_alwaysEmitIntoClient
  public consuming func map<T: Sendable, E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws(E) -> T
  ) -> LazyList<T, E> {
    setFailureType(to: type).map(failingAs: type, transform)
  }

  /// The results of an asynchronous closure for each element, in a list with its failure type.
  @_alwaysEmitIntoClient
  public consuming func map<T: Sendable, E: Error>(
    failingAs type: E.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws(E) -> T
  ) -> LazyList<T, E> {
    setFailureType(to: type).map(failingAs: type, transform)
  }
}

// If the list itself has that failure type.
extension LazyList {
  /// The results for each element of a closure with the list's failure type.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    failingAs type: Failure.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws(Failure) -> T
  ) -> LazyList<T, Failure> {
    self.transform(()) { (_, element) throws(Failure) in
      .element(try transform(element))
    }
  }

  /// The results for each element of an asynchronous closure with the list's failure type.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    failingAs type: Failure.Type,
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws(Failure) -> T
  ) -> LazyList<T, Failure> {
    mapInTask(transform)
  }
}
