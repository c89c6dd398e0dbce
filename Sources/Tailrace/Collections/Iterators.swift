extension LazyList where Failure == Never {
  /// Creates a list of what an iterator has left, pulled from it once, as it is demanded, for any
  /// number of readers.
  ///
  /// ```swift
  /// let numbers = LazyList(iterator: Countdown(from: 3))
  /// await numbers.array()   // [3, 2, 1]
  /// await numbers.array()   // [3, 2, 1]; and the iterator was asked once
  /// ```
  ///
  /// The iterator is handed over: one that is not `Sendable` can be used by nobody else afterwards.
  ///
  /// - Laziness: stepwise. After its first `nil` the iterator is released, and never asked again.
  ///
  /// Replaces `rac_sequence` on `NSEnumerator`.
  @inlinable
  public init<I: IteratorProtocol>(iterator: sending I) where I.Element == Element {
    self.init(pulling: IteratorSequence(iterator))
  }
}

extension IteratorProtocol where Self: Sendable, Element: Sendable {
  /// What this iterator has left, pulled from a copy of it once, as it is demanded.
  ///
  /// Of an iterator that is a class there is no copy: it is shared with the list.
  ///
  /// - Laziness: stepwise.
  @inlinable
  public var lazyList: LazyList<Element, Never> { LazyList(iterator: self) }
}
