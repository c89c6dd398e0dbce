extension LazyList where Failure == Never {
  /// Creates a list of an iterator's remaining elements, each pulled once, on demand, for any
  /// number of readers.
  ///
  /// ```swift
  /// let numbers = LazyList(iterator: Countdown(from: 3))
  /// await numbers.array()   // [3, 2, 1]
  /// await numbers.array()   // [3, 2, 1]; and the iterator was asked once
  /// ```
  ///
  /// The list takes over the iterator: one that is not `Sendable` cannot be used elsewhere
  /// afterwards.
  ///
  /// - Laziness: stepwise. After its first `nil` the iterator is released, and never called again.
  ///
  /// Replaces `rac_sequence` on `NSEnumerator`.
  @_alwaysEmitIntoClient
  public init<I: IteratorProtocol>(iterator: sending I) where I.Element == Element {
    self.init(pulling: IteratorSequence(iterator))
  }
}

extension IteratorProtocol where Self: Sendable, Element: Sendable {
  /// The remaining elements, each pulled once from a copy of this iterator, on demand.
  ///
  /// An iterator that is a class is not copied: the list shares it.
  ///
  /// - Laziness: stepwise.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> { LazyList(iterator: self) }
}
