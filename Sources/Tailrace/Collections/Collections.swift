extension Array where Element: Sendable {
  /// The elements as a list. Later changes of the array are not seen.
  ///
  /// ```swift
  /// let squares = [1, 2, 3].lazyList.map { $0 * $0 }
  /// ```
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `rac_sequence`, as do its counterparts on the other collections.
  @inlinable
  public var lazyList: LazyList<Element, Never> { LazyList(sharing: self) }
}

extension Dictionary where Key: Sendable, Value: Sendable {
  /// The pairs as a list, in the dictionary's order. Later changes are not seen.
  @inlinable
  public var lazyList: LazyList<(key: Key, value: Value), Never> { LazyList(self) }

  /// The keys as a list, in the order of ``lazyList`` and ``lazyValues``.
  @inlinable
  public var lazyKeys: LazyList<Key, Never> { LazyList(keys) }

  /// The values as a list, in the order of ``lazyList`` and ``lazyKeys``.
  @inlinable
  public var lazyValues: LazyList<Value, Never> { LazyList(values) }
}

extension Set where Element: Sendable {
  /// The elements as a list, in the set's order. Later changes are not seen.
  @inlinable
  public var lazyList: LazyList<Element, Never> { LazyList(self) }
}

extension String {
  /// The characters, as a reader sees them, as a list.
  ///
  /// ```swift
  /// await "♥️♦️".lazyList.count()   // 2
  /// ```
  @inlinable
  public var lazyList: LazyList<Character, Never> { LazyList(self) }
}

extension Range where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from the lower to the one before the upper, as a list.
  @inlinable
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension ClosedRange where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from the lower to the upper, as a list.
  @inlinable
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension PartialRangeFrom where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from the lower on, as an infinite list.
  @inlinable
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}
