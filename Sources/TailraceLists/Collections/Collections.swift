// Every list is a snapshot of its collection. Making one copies nothing, unless the elements are
// lists; the list shares the collection's storage until the collection changes.

extension Collection where Self: Sendable, Element: Sendable {
  /// The elements as a list. Later changes of the collection have no effect on it.
  ///
  /// ```swift
  /// await "♥️♦️".lazyList.count()                  // 2
  /// await "♥️♦️".unicodeScalars.lazyList.count()   // 4
  /// await "♥️♦️".utf8.lazyList.count()             // 12
  /// await (1...3).lazyList.map { $0 * $0 }.array()   // [1, 4, 9]
  /// ```
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `rac_sequence`.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> {
    // An array is read in place. The compiler decides this for each type that it knows.
    if let array = self as? [Element] { return LazyList(sharing: array) }
    if let array = self as? ContiguousArray<Element> { return LazyList(sharing: Array(array)) }
    if let slice = self as? ArraySlice<Element> {
      #if canImport(ObjectiveC)
        // The slice may belong to an object of another language, which stores its elements
        // elsewhere.
        return LazyList(sharing: Array(slice))
      #else
        return LazyList(sharing: slice)
      #endif
    }
    return LazyList(self)
  }
}

// A range without an upper bound is no collection.
extension PartialRangeFrom where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from lower on, as an infinite list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension Dictionary where Key: Sendable, Value: Sendable {
  /// The keys as a list, in the order of `lazyList` and ``lazyValues``.
  ///
  /// Replaces `rac_keySequence`.
  @_alwaysEmitIntoClient
  public var lazyKeys: LazyList<Key, Never> { LazyList(keys) }

  /// The values as a list, in the order of `lazyList` and ``lazyKeys``.
  ///
  /// Replaces `rac_valueSequence`.
  @_alwaysEmitIntoClient
  public var lazyValues: LazyList<Value, Never> { LazyList(values) }
}
