// Every list sees its collection as it was when the list was made: later changes are not seen.
// Making one copies nothing, unless the elements are lists; the list shares the collection's storage
// until the collection changes.

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

extension ContiguousArray where Element: Sendable {
  /// The elements as a list. Later changes of the array are not seen.
  @inlinable
  public var lazyList: LazyList<Element, Never> { LazyList(sharing: Array(self)) }
}

extension ArraySlice where Element: Sendable {
  /// The elements as a list. Later changes of the slice, and of its array, are not seen.
  @inlinable
  public var lazyList: LazyList<Element, Never> {
    #if canImport(ObjectiveC)
      // A slice may be one of an object of another language, which has its elements elsewhere.
      return LazyList(sharing: Array(self))
    #else
      return LazyList(sharing: self)
    #endif
  }
}
