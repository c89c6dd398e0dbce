// Every list is a snapshot of its collection. Making one copies nothing, unless the elements are
// lists; the list shares the collection's storage until the collection changes.

extension Array where Element: Sendable {
  /// The elements as a list. Later changes of the array have no effect on it.
  ///
  /// ```swift
  /// let squares = [1, 2, 3].lazyList.map { $0 * $0 }
  /// ```
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `rac_sequence`, as do the properties of the other collections.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> { LazyList(sharing: self) }
}

extension ContiguousArray where Element: Sendable {
  /// The elements as a list. Later changes of the array have no effect.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> { LazyList(sharing: Array(self)) }
}

extension ArraySlice where Element: Sendable {
  /// The elements as a list. Later changes of the slice or its array have no effect.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> {
    #if canImport(ObjectiveC)
      // The slice may belong to an object of another language, which stores its elements
      // elsewhere.
      return LazyList(sharing: Array(self))
    #else
      return LazyList(sharing: self)
    #endif
  }
}
