public import Foundation
import TailraceLists

extension NSArray {
  /// Returns the elements as a list, checked for their type. Later changes have no effect.
  ///
  /// ```swift
  /// try await NSArray(array: [1, 2]).lazyList(of: Int.self).array()   // [1, 2]
  /// ```
  ///
  /// - Failure: ``ElementTypeError`` at the first element of another type.
  /// - Complexity: O(*n*): the elements are checked when the list is made.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: self, of: type)
  }

  /// Returns the elements as a list of optionals, checked for their type. Later changes have no
  /// effect.
  ///
  /// ```swift
  /// let names = NSArray(array: ["Ada", NSNull()])
  /// try await names.lazyList(of: String.self, convertingNulls: true).array()
  /// // [Optional("Ada"), nil]
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the elements other than `NSNull`.
  ///   - convertingNulls: whether an `NSNull` becomes `nil`; otherwise it counts as another type.
  /// - Failure: ``ElementTypeError`` at the first element of another type.
  /// - Complexity: O(*n*): the elements are checked when the list is made.
  public func lazyList<T: Sendable>(
    of type: T.Type, convertingNulls: Bool
  ) -> LazyList<T?, ElementTypeError> {
    LazyList(checking: self) { (position, element) throws(ElementTypeError) in
      if convertingNulls, element is NSNull { return nil }
      return try cast(element, to: type, at: position)
    }
  }

  /// The elements as a list, without their types. Later changes have no effect.
  public var lazyList: LazyList<Untyped, Never> { map(Untyped.init).lazyList }
}

extension NSSet {
  /// Returns the elements as a list, in the set's order, checked for their type. Later changes
  /// have no effect.
  ///
  /// - Failure: ``ElementTypeError`` at the first element of another type.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: self, of: type)
  }

  /// The elements as a list, in the set's order, without their types. Later changes have no
  /// effect.
  public var lazyList: LazyList<Untyped, Never> { map(Untyped.init).lazyList }
}

extension NSOrderedSet {
  /// Returns the elements as a list, in order, checked for their type. Later changes have no
  /// effect.
  ///
  /// - Failure: ``ElementTypeError`` at the first element of another type.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: self, of: type)
  }

  /// The elements as a list, in order, without their types. Later changes have no effect.
  public var lazyList: LazyList<Untyped, Never> { map(Untyped.init).lazyList }
}

extension NSDictionary {
  /// Returns the pairs as a list, in the dictionary's order, with keys and values checked for
  /// their types. Later changes have no effect.
  ///
  /// ```swift
  /// let ages = NSDictionary(dictionary: ["Ada": 36])
  /// try await ages.lazyList(ofKeys: String.self, values: Int.self).array()
  /// // [(key: "Ada", value: 36)]
  /// ```
  ///
  /// - Failure: ``ElementTypeError`` at the first pair with a key or value of another type.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<Key: Sendable, Value: Sendable>(
    ofKeys keyType: Key.Type, values valueType: Value.Type
  ) -> LazyList<(key: Key, value: Value), ElementTypeError> {
    LazyList(checking: pairs) { (position, pair) throws(ElementTypeError) in
      let (key, value) = try cast(pair, to: (key: Any, value: Any).self, at: position)
      return (
        key: try cast(key, to: keyType, at: position),
        value: try cast(value, to: valueType, at: position)
      )
    }
  }

  /// Returns the keys as a list, in the order of the pairs, checked for their type.
  ///
  /// Replaces `rac_keySequence`.
  public func lazyKeys<Key: Sendable>(of type: Key.Type) -> LazyList<Key, ElementTypeError> {
    LazyList(checking: pairs.map(\.key), of: type)
  }

  /// Returns the values as a list, in the order of the pairs, checked for their type.
  ///
  /// Replaces `rac_valueSequence`.
  public func lazyValues<Value: Sendable>(
    of type: Value.Type
  ) -> LazyList<Value, ElementTypeError> {
    LazyList(checking: pairs.map(\.value), of: type)
  }

  /// The pairs as a list, in the dictionary's order, without their types. Later changes have no
  /// effect.
  public var lazyList: LazyList<(key: Untyped, value: Untyped), Never> {
    pairs.map { (key: Untyped($0.key), value: Untyped($0.value)) }.lazyList
  }

  /// The keys as a list, in the order of the pairs, without their types.
  public var lazyKeys: LazyList<Untyped, Never> { pairs.map { Untyped($0.key) }.lazyList }

  /// The values as a list, in the order of the pairs, without their types.
  public var lazyValues: LazyList<Untyped, Never> { pairs.map { Untyped($0.value) }.lazyList }

  /// The same order for pairs, keys and values.
  private var pairs: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}

extension NSString {
  /// The characters (grapheme clusters) as a list. Later changes have no effect.
  ///
  /// ```swift
  /// await NSString("♥️♦️").lazyList.count()   // 2
  /// ```
  ///
  /// Replaces `rac_sequence`.
  public var lazyList: LazyList<Character, Never> { String(self).lazyList }
}
