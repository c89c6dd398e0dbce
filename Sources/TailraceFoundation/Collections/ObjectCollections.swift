public import Foundation
public import Tailrace

extension NSArray {
  /// Returns the elements as a list, each of which must be of a type. Later changes are not seen.
  ///
  /// ```swift
  /// try await NSArray(array: [1, 2]).lazyList(of: Int.self).array()   // [1, 2]
  /// ```
  ///
  /// - Failure: ``ElementTypeError`` at the first element that is of another type.
  /// - Complexity: O(*n*): the elements are looked at when the list is made.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: self, of: type)
  }

  /// Returns the elements as a list of optionals, each of which must be of a type. Later changes
  /// are not seen.
  ///
  /// ```swift
  /// let names = NSArray(array: ["Ada", NSNull()])
  /// try await names.lazyList(of: String.self, convertingNulls: true).array()
  /// // [Optional("Ada"), nil]
  /// ```
  ///
  /// - Parameters:
  ///   - type: what the elements are, where they are no `NSNull`.
  ///   - convertingNulls: whether an `NSNull` is a `nil`; else it is an element of another type.
  /// - Failure: ``ElementTypeError`` at the first element that is of another type.
  /// - Complexity: O(*n*): the elements are looked at when the list is made.
  public func lazyList<T: Sendable>(
    of type: T.Type, convertingNulls: Bool
  ) -> LazyList<T?, ElementTypeError> {
    LazyList(checking: self) { (position, element) throws(ElementTypeError) in
      if convertingNulls, element is NSNull { return nil }
      return try cast(element, to: type, at: position)
    }
  }

  /// The elements as a list, without their types. Later changes are not seen.
  public var lazyList: LazyList<Untyped, Never> { map(Untyped.init).lazyList }
}

extension NSSet {
  /// Returns the elements as a list, in the set's order, each of which must be of a type. Later
  /// changes are not seen.
  ///
  /// - Failure: ``ElementTypeError`` at the first element that is of another type.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: self, of: type)
  }

  /// The elements as a list, in the set's order, without their types. Later changes are not seen.
  public var lazyList: LazyList<Untyped, Never> { map(Untyped.init).lazyList }
}

extension NSOrderedSet {
  /// Returns the elements as a list, in order, each of which must be of a type. Later changes are
  /// not seen.
  ///
  /// - Failure: ``ElementTypeError`` at the first element that is of another type.
  ///
  /// Replaces `rac_sequence`.
  public func lazyList<T: Sendable>(of type: T.Type) -> LazyList<T, ElementTypeError> {
    LazyList(checking: self, of: type)
  }

  /// The elements as a list, in order, without their types. Later changes are not seen.
  public var lazyList: LazyList<Untyped, Never> { map(Untyped.init).lazyList }
}

extension NSDictionary {
  /// Returns the pairs as a list, in the dictionary's order, each key and value of a type. Later
  /// changes are not seen.
  ///
  /// ```swift
  /// let ages = NSDictionary(dictionary: ["Ada": 36])
  /// try await ages.lazyList(ofKeys: String.self, values: Int.self).array()
  /// // [(key: "Ada", value: 36)]
  /// ```
  ///
  /// - Failure: ``ElementTypeError`` at the first pair whose key or value is of another type.
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

  /// Returns the keys as a list, in the order of the pairs, each of which must be of a type.
  ///
  /// Replaces `rac_keySequence`.
  public func lazyKeys<Key: Sendable>(of type: Key.Type) -> LazyList<Key, ElementTypeError> {
    LazyList(checking: pairs.map(\.key), of: type)
  }

  /// Returns the values as a list, in the order of the pairs, each of which must be of a type.
  ///
  /// Replaces `rac_valueSequence`.
  public func lazyValues<Value: Sendable>(
    of type: Value.Type
  ) -> LazyList<Value, ElementTypeError> {
    LazyList(checking: pairs.map(\.value), of: type)
  }

  /// The pairs as a list, in the dictionary's order, without their types. Later changes are not seen.
  public var lazyList: LazyList<(key: Untyped, value: Untyped), Never> {
    pairs.map { (key: Untyped($0.key), value: Untyped($0.value)) }.lazyList
  }

  /// The keys as a list, in the order of the pairs, without their types.
  public var lazyKeys: LazyList<Untyped, Never> { pairs.map { Untyped($0.key) }.lazyList }

  /// The values as a list, in the order of the pairs, without their types.
  public var lazyValues: LazyList<Untyped, Never> { pairs.map { Untyped($0.value) }.lazyList }

  /// One order for pairs, keys and values.
  private var pairs: [(key: Any, value: Any)] { map { ($0.key, $0.value) } }
}

extension NSString {
  /// The characters, as a reader sees them, as a list. Later changes are not seen.
  ///
  /// ```swift
  /// await NSString("♥️♦️").lazyList.count()   // 2
  /// ```
  ///
  /// Replaces `rac_sequence`.
  public var lazyList: LazyList<Character, Never> { String(self).lazyList }
}
