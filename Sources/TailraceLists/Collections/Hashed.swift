extension Dictionary where Key: Sendable, Value: Sendable {
  /// The pairs as a list, in the dictionary's order. Later changes have no effect.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<(key: Key, value: Value), Never> { LazyList(self) }

  /// The keys as a list, in the order of ``lazyList`` and ``lazyValues``.
  ///
  /// Replaces `rac_keySequence`.
  @_alwaysEmitIntoClient
  public var lazyKeys: LazyList<Key, Never> { LazyList(keys) }

  /// The values as a list, in the order of ``lazyList`` and ``lazyKeys``.
  ///
  /// Replaces `rac_valueSequence`.
  @_alwaysEmitIntoClient
  public var lazyValues: LazyList<Value, Never> { LazyList(values) }
}

extension Set where Element: Sendable {
  /// The elements as a list, in the set's order. Later changes have no effect.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Element, Never> { LazyList(self) }
}
